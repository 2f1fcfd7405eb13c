# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The lab file that describes this lab to `assay serve`.

cmd_lab_file() {
	local n leg nics group=0
	cat <<X
# The virtual lab in $LAB_DIR
schema_version: 1
server:
  interface: br-m
  address: $LAB_ADDRESS
  http_port: 8080
  dhcp_range: [10.77.0.20, 10.77.0.254]
groups:
X
	for ((n = 1; n <= LAB_NODES; n += 2)); do
		group=$((group + 1))
		cat <<X
  pair$group:
    nodes: [n$n$([ $n = "$LAB_NODES" ] || printf ', n%d' $((n + 1)))]
    storage_network: 10.99.$((group - 1)).0/24
X
	done
	echo nodes:
	for ((n = 1; n <= LAB_NODES; n++)); do
		nics=
		for ((leg = 1; leg <= LAB_LEGS; leg++)); do
			nics+="${nics:+, }\"$(mac_leg $n $leg)\""
		done
		cat <<X
  n$n:
    mac: "$(mac_management $n)"
    storage_nics: [$nics]
    console: [tty0, ttyS0]
    disk:
      serial: ASSAY-N$n-DATA
      min_bytes: $((LAB_DISK_BYTES * 3 / 4))
      max_bytes: $((LAB_DISK_BYTES * 9 / 8))
      consent: wipe
    power: {driver: qemu, socket: "$LAB_DIR/n$n.qmp"}
X
	done
}
