#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source-path=SCRIPTDIR
# The virtual lab: bare nodes (QEMU), their cables and the operator's network, all inside one network namespace.
# Everything about one lab lives in its folder DIR; several labs run side by side. `lab.sh help` lists the commands.
set -euo pipefail
trap '' PIPE

LAB_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_ROOT=$(cd "$LAB_HOME/../.." && pwd)
LAB_CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}

# shellcheck source=sh/common.sh
. "$LAB_HOME/sh/common.sh"
# shellcheck source=sh/net.sh
. "$LAB_HOME/sh/net.sh"
# shellcheck source=sh/disk.sh
. "$LAB_HOME/sh/disk.sh"
# shellcheck source=sh/qmp.sh
. "$LAB_HOME/sh/qmp.sh"
# shellcheck source=sh/accel.sh
. "$LAB_HOME/sh/accel.sh"
# shellcheck source=sh/nic.sh
. "$LAB_HOME/sh/nic.sh"
# shellcheck source=sh/node.sh
. "$LAB_HOME/sh/node.sh"
# shellcheck source=sh/labfile.sh
. "$LAB_HOME/sh/labfile.sh"

usage() {
	cat <<'X'
usage: lab.sh COMMAND DIR [ARGUMENT…]      (root; one lab per DIR)

  up DIR [--nodes N] [--nic ixgbe|virtio] [--accel auto|kvm|tcg] [--memory MiB] [--cpus N] [--disk-bytes N]
         [--system-disk sata|virtio] [--legs N] [--kernel FILE]
                              make namespace, bridges, taps and disks (default: 2 nodes, ixgbe, auto, 512, 2,
                              268435456, sata, 2; FILE, by default out/vmlinuz, is what KVM has to boot to be used)
  start DIR NODE…             power on
  stop DIR NODE…              cut the power (SIGKILL)
  powerdown DIR NODE…         press the power button (ACPI)
  reset DIR NODE…             press the reset button
  firmware DIR NODE bios|uefi|uefi-ipxe|uefi-http   what boots it, from its next start on: SeaBIOS with iPXE as the NIC's
                              ROM (the default); OVMF by its own PXE; OVMF with iPXE as the NIC's ROM; OVMF by HTTP
  link DIR NODE LEG on|off    the node's port loses or gets its carrier (LEG: 1, 2, …)
  nic-fault DIR NODE LEG PROPERTY=VALUE…|none   what is wrong with an ixgbe port: at once, and at every start
         numbers, 0 for not: drop-every corrupt-every black-hole-over (bytes) flap-every-ms tx-hang (after n) rx-stall (1)
         from the next start on: sfp=sr|twinax|rejected  link-width=8|4|2|1  link-speed=5|2.5  interrupts=msix|msi|intx
  leg-cut DIR LEG on|off [NODE]     the leg (or NODE's end of it) swallows every frame; carrier stays
  leg-mtu DIR LEG BYTES [NODE]      the leg (or its way to NODE) swallows IP packets over BYTES; carrier stays
  add-disk DIR NODE SERIAL [BYTES]  one more disk at the next start (also to have a serial twice)
  add-device DIR NODE DEVICE [FILE[,OPTION…]]   one more device of QEMU's at the next start, on a disk image in DIR
  sign-disk DIR NODE          put an ext4 on the node's disk under test, as if it held data
  check-system-disks DIR      prove that the nodes' system disks are bit-identical to those of `up`
  lab-file DIR                print the lab file for `assay serve`
  console DIR NODE            talk to the node's serial console (leave with Ctrl-])
  exec DIR COMMAND…           run a command where the lab's server lives (inside the namespace)
  status DIR                  what runs, on which accelerator and NIC
  down DIR                    end what was started and remove the namespace (idempotent)
X
}

# Commands that change a lab; each function gets its arguments after DIR.
main() {
	local command=${1:-help}
	case $command in
	help | -h | --help)
		usage
		return 0
		;;
	up | start | stop | powerdown | reset | firmware | link | nic-fault | leg-cut | leg-mtu | add-disk | add-device | \
		sign-disk | \
		check-system-disks | lab-file | console | exec | status | down) ;;
	*) die "unknown command '$command' (lab.sh help lists them)" ;;
	esac
	[ $# -ge 2 ] || die "$command: the lab's folder is missing (lab.sh help)"
	[ "$(id -u)" = 0 ] || die "a lab needs root: sudo $0 $*"
	lab_open "$2"
	shift 2
	case $command in
	up) lab_up "$@" ;;
	down) lab_down "$@" ;;
	*)
		lab_load
		"cmd_${command//-/_}" "$@"
		;;
	esac
}

lab_up() {
	local nodes=2 nic=ixgbe accel=auto memory=512 cpus=2 disk_bytes=268435456 system=sata kernel=$LAB_ROOT/out/vmlinuz
	while [ $# -gt 0 ]; do
		[ $# -ge 2 ] || die "up: $1 needs a value"
		case $1 in
		--nodes) nodes=$(number "$1" "$2" 1 200) ;;
		--nic) nic=$(one_of "$1" "$2" ixgbe virtio) ;;
		--accel) accel=$(one_of "$1" "$2" auto kvm tcg) ;;
		--memory) memory=$(number "$1" "$2" 64 1048576) ;;
		--cpus) cpus=$(number "$1" "$2" 1 64) ;;
		--disk-bytes) disk_bytes=$(number "$1" "$2" 1048576 $((1 << 50))) ;;
		--system-disk) system=$(one_of "$1" "$2" sata virtio) ;;
		--legs) LAB_LEGS=$(number "$1" "$2" 1 8) ;;
		--kernel) kernel=$2 ;;
		*) die "up: unknown option '$1' (lab.sh help)" ;;
		esac
		shift 2
	done
	net_exists && die "a lab in $LAB_DIR is up already (lab.sh down $LAB_DIR)"
	mkdir -p "$LAB_DIR"
	lab_sweep
	accel_choose "$accel" "$kernel"
	nic_choose "$nic"
	# A lab that is half there is worse than none.
	trap 'lab_down' EXIT
	net_up "$nodes"
	disks_make "$nodes" "$disk_bytes"
	lab_save "$nodes" "$memory" "$cpus" "$disk_bytes" "$system"
	trap - EXIT
	say "lab $LAB_DIR: namespace $LAB_NS, $nodes nodes, $cpus CPUs, $memory MiB each"
	say "lab $LAB_DIR: $LAB_ACCEL: $LAB_ACCEL_WHY"
	say "lab $LAB_DIR: storage NICs are $LAB_NIC: $LAB_NIC_WHY"
}

lab_down() {
	node_kill_all
	net_kill_rest
	net_down
	lab_sweep
}

main "$@"
