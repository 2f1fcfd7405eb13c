#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# TCP between two virtual nodes over leg 1: the 82599 model beside virtio, one after the other in the same run.
# usage: nic.sh [SECONDS]       (root; after `make image lab`; one connection and MTU 9000, then MTU 1500)
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../virtual/common.sh"
# shellcheck source=tests/virtual/node.sh
. "$(dirname "$0")/../virtual/node.sh"
# shellcheck source=tests/virtual/nodes.sh
. "$(dirname "$0")/../virtual/nodes.sh"
seconds=${1:-5}

# stream MTU: from n1 to n2
stream() {
	local n said
	for n in 1 2; do
		node n$n 30 "ip link set leg1 mtu $1" || return
	done
	for n in 1 2; do
		wait_for 30 "carrier" carriers n$n || return
	done
	wait_for 30 "a ping" node n1 20 'ping -c 1 -W 1 10.99.1.2' || return
	node n2 20 'nic_stream recv 5000 >/tmp/stream & true'
	node n1 $((seconds + 60)) "nic_stream send 10.99.1.2 5000 $seconds" || return
	said=$(node n2 30 'wait; cat /tmp/stream')
	printf '%-8s TCP, MTU %-5s %10s MB/s  %8s Gbit/s   (load of this machine: %s)\n' "$nic" "$1" \
		"$(awk '{ print $3 }' <<<"$said")" "$(awk '{ printf "%.2f", $3 * 8 / 1000 }' <<<"$said")" "$(cut -d' ' -f1 /proc/loadavg)"
}

for nic in ixgbe virtio; do
	lab=$WORK/$nic
	LABS+=("$lab")
	if ! { up "$lab" --nic "$nic" 2>/dev/null && rescue_pair && stream 9000 && stream 1500; }; then
		echo "nic.sh: no figure for $nic" >&2
		exit 1
	fi
	"$LAB" down "$lab"
done
