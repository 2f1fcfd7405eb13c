# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# A lab's folder, its names and its recorded state.

say() {
	printf '%s\n' "$*" >&2
}

die() {
	printf 'lab.sh: %s\n' "$*" >&2
	exit 1
}

# number NAME VALUE MIN MAX: print VALUE if it is a whole number in the range
number() {
	if ! [[ $2 =~ ^[0-9]{1,15}$ ]] || [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		die "$1: '$2' is not a whole number from $3 to $4"
	fi
	printf '%d' "$((10#$2))"
}

# one_of NAME VALUE CHOICE…: print VALUE if it is among the choices
one_of() {
	local name=$1 value=$2 choice
	shift 2
	for choice; do
		[ "$choice" = "$value" ] && printf '%s' "$value" && return
	done
	die "$name: '$value' is none of: $*"
}

# wait_until SECONDS COMMAND…: poll a command ten times a second; 1 if it never succeeded
wait_until() {
	local end=$((${EPOCHREALTIME//[!0-9]/} + $1 * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME//[!0-9]/}" -lt "$end" ] || return 1
		read -r -t 0.1 <> <(:) || :
	done
}

# lab_open DIR: names that follow from the folder alone, so that a lab whose driver was killed can still be found
lab_open() {
	LAB_DIR=$(realpath -m -- "$1")
	local sum
	sum=$(printf '%s' "$LAB_DIR" | sha256sum)
	LAB_NS=assay-${sum:0:10}
	LAB_STATE=$LAB_DIR/lab.state
}

lab_load() {
	[ -f "$LAB_STATE" ] || die "there is no lab in $LAB_DIR (lab.sh up $LAB_DIR)"
	# shellcheck source=/dev/null
	. "$LAB_STATE"
}

# lab_save NODES MEMORY CPUS DISK_BYTES SYSTEM_DISK: lab.state for these scripts, lab.json for whoever records results
lab_save() {
	LAB_NODES=$1 LAB_MEMORY=$2 LAB_CPUS=$3 LAB_DISK_BYTES=$4 LAB_SYSTEM_DISK=$5
	LAB_QEMU=$(qemu-system-x86_64 --version | sed -n '1s/^QEMU emulator version //p')
	local name
	for name in NODES LEGS MEMORY CPUS DISK_BYTES SYSTEM_DISK ACCEL ACCEL_WHY NIC NIC_WHY NIC_MODEL QEMU; do
		declare -n value=LAB_$name
		printf 'LAB_%s=%q\n' "$name" "$value"
	done >"$LAB_STATE.new"
	cat >"$LAB_DIR/lab.json" <<X
{
	"schema_version": 1,
	"qemu": "$(json_text "$LAB_QEMU")",
	"accelerator": "$LAB_ACCEL",
	"accelerator_reason": "$(json_text "$LAB_ACCEL_WHY")",
	"storage_nic": "$LAB_NIC",
	"storage_nic_reason": "$(json_text "$LAB_NIC_WHY")"
}
X
	mv "$LAB_STATE.new" "$LAB_STATE"
}

json_text() {
	local text=${1//\\/\\\\}
	text=${text//\"/\\\"}
	printf '%s' "${text//[[:cntrl:]]/ }"
}

# lab_sweep: forget what only a running lab has; disks, logs and results stay
lab_sweep() {
	rm -f "$LAB_DIR"/*.pid "$LAB_DIR"/*.qmp "$LAB_DIR"/*.console "$LAB_DIR"/*.args "$LAB_DIR"/*.faults "$LAB_DIR"/*.firmware \
		"$LAB_DIR"/*.vars "$LAB_STATE"
}

# node_number NODE: 1 for n1; refuses nodes that the lab does not have
node_number() {
	if ! [[ $1 =~ ^n[1-9][0-9]{0,2}$ ]] || [ "${1#n}" -gt "$LAB_NODES" ]; then
		die "there is no node '$1' in this lab (n1 to n$LAB_NODES)"
	fi
	printf '%d' "${1#n}"
}

leg_number() {
	number LEG "$1" 1 "$LAB_LEGS"
}

mac_management() {
	printf '52:54:00:77:%02x:00' "$1"
}

# mac_leg NODE_NUMBER LEG: Intel's own prefix, as on the real card
mac_leg() {
	printf '00:1b:21:77:%02x:%02x' "$1" "$2"
}
