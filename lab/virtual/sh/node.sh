# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Nodes: their power, their parts, what they look like.

node_pid() {
	local pid
	[ -s "$LAB_DIR/$1.pid" ] || return 1
	pid=$(<"$LAB_DIR/$1.pid")
	# A pid is ours only while it lives in our namespace: numbers are used again.
	[ "$(ip netns identify "$pid" 2>/dev/null)" = "$LAB_NS" ] || return 1
	echo "$pid"
}

node_running() {
	node_pid "$1" >/dev/null
}

node_off() {
	! node_running "$1"
}

node_must_run() {
	node_number "$1" >/dev/null
	node_running "$1" || die "$1 is powered off"
}

cmd_start() {
	[ $# -gt 0 ] || die "start DIR NODE…"
	local node
	for node; do
		node_number "$node" >/dev/null
		node_running "$node" && die "$node is powered on already"
		node_start "$node"
	done
}

cmd_stop() {
	local node
	for node; do
		node_number "$node" >/dev/null
		node_kill "$node"
	done
}

node_kill() {
	local pid
	pid=$(node_pid "$1") || return 0
	kill -KILL "$pid" 2>/dev/null || :
	wait_until 10 node_off "$1" || die "$1 (pid $pid) does not die"
	rm -f "$LAB_DIR/$1.pid"
}

node_kill_all() {
	local file
	for file in "$LAB_DIR"/*.pid; do
		[ -e "$file" ] || continue
		node_kill "$(basename "$file" .pid)"
	done
}

# args PART…: append to the command line that node_start builds
args() {
	QEMU_ARGS+=("$@")
}

node_start() {
	local node=$1 n line
	local -a QEMU_ARGS=()
	n=$(node_number "$node")
	args_machine "$node" "$n"
	args_firmware "$node"
	args_network "$node" "$n"
	args_disks "$node" "$n"
	if [ -f "$LAB_DIR/$node.args" ]; then
		while IFS= read -r line; do
			args "$line"
		done <"$LAB_DIR/$node.args"
	fi
	# QEMU goes to the background once everything is set up, and says on stderr if it is not.
	(
		cd "$LAB_DIR"
		rm -f "$node.pid" "$node.qmp" "$node.console"
		in_net env ${LAB_NIC_MODEL:+LD_PRELOAD="$LAB_NIC_MODEL"} qemu-system-x86_64 "${QEMU_ARGS[@]}"
	) || die "$node did not start"
}

args_machine() {
	local node=$1 uuid
	uuid=$(printf '5a55a700-0000-4000-8000-%012x' "$2")
	args -name "$node" -daemonize -pidfile "$node.pid" -D "$node.qemu.log" -nodefaults -no-user-config
	# An AHCI port without a disk costs a node 0.3 s at boot.
	args -M "q35,sata=$([ "$LAB_SYSTEM_DISK" = sata ] && echo on || echo off)" -accel "$(accel_of)" -cpu max -smp "$LAB_CPUS" -m "$LAB_MEMORY"
	args -smbios "type=1,manufacturer=Assay,product=virtual node ($LAB_ACCEL; $LAB_NIC),serial=ASSAY-N$2,uuid=$uuid"
	args -display none -device VGA
	args -chardev "socket,id=serial,path=$node.console,server=on,wait=off,logfile=$node.serial,logappend=on"
	args -serial chardev:serial
	args -qmp "unix:$node.qmp,server=on,wait=off"
	args -device i6300esb -action watchdog=reset
	# Like a server whose boot order is network only: it tries until someone answers.
	args -boot strict=on,menu=off,reboot-timeout=1000
}

firmware_of() {
	cat "$LAB_DIR/$1.firmware" 2>/dev/null || echo bios
}

# cmd_firmware NODE KIND: what boots it from its next start on; UEFI starts with no memory of earlier boots
cmd_firmware() {
	[ $# = 2 ] || die "firmware DIR NODE bios|uefi|uefi-ipxe|uefi-http"
	node_number "$1" >/dev/null
	one_of firmware "$2" bios uefi uefi-ipxe uefi-http >"$LAB_DIR/$1.firmware"
	rm -f "$LAB_DIR/$1.vars"
}

args_firmware() {
	local firmware of_ovmf=/usr/share/OVMF
	firmware=$(firmware_of "$1")
	[ "$firmware" != bios ] || return 0
	[ -f "$of_ovmf/OVMF_CODE_4M.fd" ] || die "$of_ovmf/OVMF_CODE_4M.fd is missing (Debian: ovmf)"
	[ -f "$LAB_DIR/$1.vars" ] || cp "$of_ovmf/OVMF_VARS_4M.fd" "$LAB_DIR/$1.vars"
	args -drive "if=pflash,unit=0,format=raw,readonly=on,file=$of_ovmf/OVMF_CODE_4M.fd"
	args -drive "if=pflash,unit=1,format=raw,file=$1.vars"
	# OVMF tries HTTP where PXE is switched off.
	[ "$firmware" != uefi-http ] || args -fw_cfg name=opt/org.tianocore/IPv4PXESupport,string=n \
		-fw_cfg name=opt/org.tianocore/IPv6PXESupport,string=n
}

args_network() {
	local node=$1 n=$2 leg rom=
	# The card's own ROM is iPXE, for BIOS and for UEFI.
	case $(firmware_of "$node") in uefi | uefi-http) rom=,romfile= ;; esac
	args -netdev "tap,id=management,ifname=$node-m,script=no,downscript=no"
	args -device "virtio-net-pci,netdev=management,mac=$(mac_management "$n"),bootindex=1$rom"
	for ((leg = 1; leg <= LAB_LEGS; leg++)); do
		# Without vnet_hdr what crosses a leg is frames as on a wire, not segments of 64 KiB.
		args -netdev "tap,id=tap$leg,ifname=$node-l$leg,script=no,downscript=no,vnet_hdr=off"
		args -device "pcie-root-port,id=slot$leg,chassis=$leg,slot=$leg"
		args -device "$(nic_of),bus=slot$leg,id=leg$leg,netdev=tap$leg,mac=$(mac_leg "$n" "$leg")$(nic_faults_of "$node" $leg)"
	done
}

args_disks() {
	args -drive "$(drive_of "$1.data" data)" -device "virtio-blk-pci,drive=data,serial=ASSAY-N$2-DATA"
	args -drive "$(drive_of "$1.system" system)"
	case $LAB_SYSTEM_DISK in
	sata) args -device "ide-hd,drive=system,bus=ide.0,serial=ASSAY-N$2-SYSTEM" ;;
	virtio) args -device "virtio-blk-pci,drive=system,serial=ASSAY-N$2-SYSTEM" ;;
	esac
}

cmd_console() {
	[ $# = 1 ] || die "console DIR NODE"
	node_must_run "$1"
	cd "$LAB_DIR" || die "$LAB_DIR is gone"
	exec socat -,raw,echo=0,escape=0x1d "UNIX-CONNECT:$1.console"
}

cmd_status() {
	local n node state
	printf 'lab %s, namespace %s\naccelerator %s: %s\nstorage NICs %s: %s\n' "$LAB_DIR" "$LAB_NS" \
		"$LAB_ACCEL" "$LAB_ACCEL_WHY" "$LAB_NIC" "$LAB_NIC_WHY"
	printf '%-6s %-12s %-18s %s\n' node power management 'last console line'
	for ((n = 1; n <= LAB_NODES; n++)); do
		node=n$n
		state=off
		node_running "$node" && state="on ($(node_pid "$node"))"
		printf '%-6s %-12s %-18s %s\n' "$node" "$state" "$(mac_management "$n")" \
			"$(tail -c 2000 "$LAB_DIR/$node.serial" 2>/dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g' | grep -a . | tail -n 1 | cut -c1-100)"
	done
}
