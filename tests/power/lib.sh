# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# For tests of `assay power`: a folder with a lab file whose node n1 has the given `power`, and an end that cleans up.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/tap.sh

ASSAY=$PWD/out/assay
DIR=$(mktemp -d)
PIDS=()
trap power_end EXIT
trap 'exit 1' INT TERM HUP

power_end()
{
	local pid
	for pid in "${PIDS[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$DIR"
}

# lab POWER: POWER is in YAML's flow style
lab()
{
	cat >"$DIR/lab.yaml" <<X
schema_version: 1
server: {interface: lo, address: 127.0.0.1/8, dhcp: none}
groups:
  g: {nodes: [n1], storage_network: 10.99.0.0/24}
nodes:
  n1:
    mac: "52:54:00:00:00:01"
    storage_nics: []
    disk: {serial: A1, consent: none, min_bytes: 1, max_bytes: 2}
    power: $1
X
}

# says RC PATTERN ARGUMENT…: `assay power LAB n1 ARGUMENT…` ends with RC and prints a line like PATTERN; all it printed is
# in SAID.
says()
{
	local rc=0
	SAID=$(timeout 60 "$ASSAY" power "$DIR/lab.yaml" n1 "${@:3}" 2>&1) || rc=$?
	is "${*:3}: exit code" "$rc" "$1"
	like "${*:3}: says" "$SAID" "$2"
}

# free_port tcp|udp: one of loopback that nobody has now
free_port()
{
	python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if sys.argv[1] == "udp" else socket.SOCK_STREAM)
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])' "$1"
}
