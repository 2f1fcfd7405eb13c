# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The storage NICs: our 82599 model inside the installed QEMU, or virtio where that QEMU does not take it.

# nic_choose ixgbe|virtio: sets LAB_NIC, LAB_NIC_WHY and LAB_NIC_MODEL (the shared object, or nothing)
nic_choose() {
	local log
	LAB_NIC=virtio LAB_NIC_MODEL=
	if [ "$1" = virtio ]; then
		LAB_NIC_WHY="asked for"
		return
	fi
	mkdir -p "$LAB_CACHE"
	log=$LAB_CACHE/nic-build.log
	if ! LAB_NIC_MODEL=$(CACHE=$LAB_CACHE "$LAB_HOME/nic/build.sh" 2>"$log"); then
		LAB_NIC_MODEL=
		LAB_NIC_WHY="the 82599 model could not be built ($(tail -n 1 "$log"); all of it: $log)"
	elif ! LAB_NIC_WHY=$(nic_fits "$LAB_NIC_MODEL"); then
		LAB_NIC_MODEL=
	else
		LAB_NIC=ixgbe
		return
	fi
	say "WARNING: no ixgbe in this lab, its storage NICs are virtio: $LAB_NIC_WHY"
}

# nic_fits MODEL: asks the running QEMU itself; prints the reason for yes or no
nic_fits() {
	local answer
	if answer=$(LD_PRELOAD=$1 timeout 20 qemu-system-x86_64 -M none -device ixgbe82599,help 2>&1) &&
		[[ $answer == *netdev=* ]]; then
		echo "82599 model, $(basename "$(dirname "$1")")"
		return
	fi
	echo "the installed QEMU does not take the 82599 model ($(printf '%s' "$answer" | tail -n 1))"
	return 1
}

nic_of() {
	case $LAB_NIC in
	ixgbe) echo ixgbe82599 ;;
	*) echo virtio-net-pci,romfile= ;;
	esac
}

# A card's faults: property=value lines in NODE.leg1.faults, for every start of the node until `down`.
NIC_FAULTS_RUNNING='drop-every corrupt-every black-hole-over flap-every-ms tx-hang rx-stall'
NIC_FAULTS_AT_START='sfp link-width link-speed interrupts'

# nic_faults_of NODE LEG: as a tail for QEMU's -device
nic_faults_of() {
	local file=$LAB_DIR/$1.leg$2.faults
	[ ! -s "$file" ] || printf ',%s' "$(paste -sd, "$file")"
}

# nic_fault_check NAME=VALUE: QEMU would say it only at the next start
nic_fault_check() {
	local name=${1%%=*} value=${1#*=}
	case "$1" in
	*=*) ;;
	*) die "nic-fault: '$1' is not property=value" ;;
	esac
	case " $NIC_FAULTS_RUNNING " in
	*" $name "*)
		number "$name" "$value" 0 4294967295 >/dev/null
		return
		;;
	esac
	case $name in
	sfp) one_of sfp "$value" sr twinax rejected >/dev/null ;;
	link-width) one_of link-width "$value" 8 4 2 1 >/dev/null ;;
	link-speed) one_of link-speed "$value" 5 2.5 >/dev/null ;;
	interrupts) one_of interrupts "$value" msix msi intx >/dev/null ;;
	*) die "nic-fault: '$name' is none of: $NIC_FAULTS_RUNNING $NIC_FAULTS_AT_START" ;;
	esac
}

# What can change while the node runs changes at once; the rest at its next start.
cmd_nic_fault() {
	[ $# -ge 3 ] || die "nic-fault DIR NODE LEG PROPERTY=VALUE…|none"
	local node=$1 leg file fault
	[ "$LAB_NIC" = ixgbe ] || die "nic-fault: the storage NICs of this lab are $LAB_NIC"
	node_number "$node" >/dev/null
	leg=$(leg_number "$2")
	file=$LAB_DIR/$node.leg$leg.faults
	shift 2
	if [ "$*" = none ]; then
		rm -f "$file"
		for fault in $NIC_FAULTS_RUNNING; do
			node_off "$node" || nic_faults_set "$node" "$leg" "$fault=0"
		done
		return
	fi
	for fault; do
		nic_fault_check "$fault"
	done
	for fault; do
		touch "$file"
		sed -i "/^${fault%%=*}=/d" "$file"
		printf '%s\n' "$fault" >>"$file"
	done
	node_off "$node" || nic_faults_set "$node" "$leg" "$@"
}

nic_faults_set() {
	local node=$1 leg=$2 fault
	shift 2
	for fault; do
		case " $NIC_FAULTS_AT_START " in
		*" ${fault%%=*} "*)
			say "$node leg $leg: $fault from its next start on"
			continue
			;;
		esac
		qmp "$node" "{\"execute\":\"qom-set\",\"arguments\":{\"path\":\"/machine/peripheral/leg$leg\",\"property\":\"${fault%%=*}\",\"value\":${fault#*=}}}" >/dev/null ||
			die "$node leg $leg did not take $fault"
	done
}

# pause_wires NODES: a bridge never forwards pause frames, as no switch does. But a leg is a cable between the two nodes of
# a pair, and there they arrive: each tap hands them to its partner's directly.
pause_wires() {
	local n leg failed=
	for ((n = 1; n <= $1; n++)); do
		for ((leg = 1; leg <= LAB_LEGS; leg++)); do
			pause_wire "n$n-l$leg" join || failed=1
		done
	done
	[ -z "$failed" ] || say "WARNING: this kernel takes no tc filter: pause frames are lost on the legs"
}

# pause_wire TAP join|cut: to and from its partner, if it has one
pause_wire() {
	local n=${1%-*} leg=${1#*-} partner
	n=${n#n}
	partner=n$((((n - 1) ^ 1) + 1))-$leg
	ip -n "$LAB_NS" link show "$partner" >/dev/null 2>&1 || return 0
	pause_wire_end "$1" "$partner" "$2" && pause_wire_end "$partner" "$1" "$2"
}

pause_wire_end() {
	if [ "$3" = cut ]; then
		in_net tc filter del dev "$1" ingress || :
		return
	fi
	in_net tc qdisc replace dev "$1" clsact &&
		in_net tc filter replace dev "$1" ingress pref 1 handle 800::800 protocol 0x8808 u32 match u32 0 0 \
			action mirred egress redirect dev "$2"
} 2>/dev/null
