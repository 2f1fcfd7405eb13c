#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# TCP between two virtual nodes over leg 1: the 82599 model beside virtio, one after the other in the same run.
# usage: nic.sh [SECONDS]       (root; after `make image lab`; MTU 9000 with one connection and with four, then 1500)
# The processor time of both QEMUs for a GB is told too: on a busy machine it says more than the rate.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../virtual/common.sh"
# shellcheck source=tests/virtual/node.sh
. "$(dirname "$0")/../virtual/node.sh"
# shellcheck source=tests/virtual/nodes.sh
. "$(dirname "$0")/../virtual/nodes.sh"
seconds=${1:-5}

# cpu_ticks: what both nodes' QEMUs have used so far, in 1/100 s
cpu_ticks() {
	cat "/proc/$(cat "$lab/n1.pid")/stat" "/proc/$(cat "$lab/n2.pid")/stat" | sed 's/^.*) //' | awk '{ n += $12 + $13 } END { print n }'
}

# stream MTU CONNECTIONS: from n1 to n2
stream() {
	local n said before
	for n in 1 2; do
		node n$n 30 "ip link set leg1 mtu $1" || return
	done
	for n in 1 2; do
		wait_for 30 "carrier" carriers n$n || return
	done
	wait_for 30 "a ping" node n1 20 'ping -c 1 -W 1 10.99.1.2' || return
	node n2 20 "nic_stream recv 5000 $2 >/tmp/stream & true"
	before=$(cpu_ticks)
	node n1 $((seconds + 60)) "nic_stream send 10.99.1.2 5000 $seconds $2" || return
	said=$(node n2 30 'wait; cat /tmp/stream')
	awk -v nic="$nic" -v mtu="$1" -v connections="$2" -v ticks="$(($(cpu_ticks) - before))" -v load="$(cut -d' ' -f1 /proc/loadavg)" '{
		printf "%-7s TCP, MTU %-5s connections %d %8.1f MB/s  %5.2f Gbit/s  %6.1f CPU s per GB  (load of this machine: %s)\n",
			nic, mtu, connections, $3, $3 * 8 / 1000, ticks / 100 / ($1 / 1e9), load
	}' <<<"$said"
}

for nic in ixgbe virtio; do
	lab=$WORK/$nic
	LABS+=("$lab")
	if ! { up "$lab" --nic "$nic" 2>/dev/null && rescue_pair && stream 9000 1 && stream 9000 4 && stream 1500 1; }; then
		echo "nic.sh: no figure for $nic" >&2
		exit 1
	fi
	"$LAB" down "$lab"
done
