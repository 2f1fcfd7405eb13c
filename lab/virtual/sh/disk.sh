# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Disk images: per node NODE.data.raw (the disk under test) and NODE.system.raw, which looks like somebody's system disk
# and must never change. system.raw is what the latter was copied from, to say where a difference is.

SYSTEM_DISK_BYTES=$((48 << 20))

disks_make() {
	local n
	system_disk_make "$LAB_DIR/system.raw"
	for ((n = 1; n <= $1; n++)); do
		rm -f "$LAB_DIR/n$n".*.raw
		truncate -s "$2" "$LAB_DIR/n$n.data.raw"
		cp --sparse=always "$LAB_DIR/system.raw" "$LAB_DIR/n$n.system.raw"
		(cd "$LAB_DIR" && sha256sum "n$n.system.raw" >"n$n.system.sha256")
	done
}

# A GPT with one ext4 that holds files; no loop mount needed.
system_disk_make() {
	local tree=$LAB_DIR/system.tree
	rm -rf "$tree" "$1"
	mkdir -p "$tree/etc" "$tree/home/anna" "$tree/var/lib/shop"
	echo shop-db-1 >"$tree/etc/hostname"
	echo 'UUID=0e7a5f6e-3a4c-4d55-9b0d-5a55a7000001 / ext4 defaults 0 1' >"$tree/etc/fstab"
	echo 'Do not lose this.' >"$tree/home/anna/letter.txt"
	seq -f 'order %.0f' 1000000 2>/dev/null | head -c 4194304 >"$tree/var/lib/shop/orders.db" || :
	truncate -s $SYSTEM_DISK_BYTES "$1"
	sgdisk --disk-guid=5A55A700-0000-4000-8000-000000000001 --new=1:2048:0 --typecode=1:8300 --change-name=1:root \
		--partition-guid=1:5A55A700-0000-4000-8000-000000000002 "$1" >/dev/null
	mke2fs -q -t ext4 -U 0e7a5f6e-3a4c-4d55-9b0d-5a55a7000001 -L root -d "$tree" -E offset=1048576 "$1" \
		$(((SYSTEM_DISK_BYTES - (2 << 20)) / 1024))k
	rm -rf "$tree"
}

cmd_check_system_disks() {
	local n bad=0 where
	for ((n = 1; n <= LAB_NODES; n++)); do
		if (cd "$LAB_DIR" && sha256sum --status -c "n$n.system.sha256"); then
			echo "n$n: system disk unchanged"
		else
			where=$(cmp "$LAB_DIR/system.raw" "$LAB_DIR/n$n.system.raw" 2>&1) || :
			echo "n$n: SYSTEM DISK CHANGED: ${where:-checksum differs}"
			bad=1
		fi
	done
	return $bad
}

cmd_add_disk() {
	[ $# = 2 ] || [ $# = 3 ] || die "add-disk DIR NODE SERIAL [BYTES]"
	local n bytes k=1
	n=$(node_number "$1")
	[[ $2 =~ ^[A-Za-z0-9_-]{1,20}$ ]] || die "add-disk: '$2' cannot be a serial (letters, digits, - and _; at most 20)"
	bytes=$(number BYTES "${3:-$LAB_DISK_BYTES}" 1048576 $((1 << 50)))
	while [ -e "$LAB_DIR/n$n.extra$k.raw" ]; do
		k=$((k + 1))
	done
	truncate -s "$bytes" "$LAB_DIR/n$n.extra$k.raw"
	printf '%s\n' -drive "$(drive_of "n$n.extra$k" "extra$k")" -device "virtio-blk-pci,drive=extra$k,serial=$2" \
		>>"$LAB_DIR/n$n.args"
}

# As QEMU's -device has it: a controller, a disk of another kind.
cmd_add_device() {
	[ $# = 2 ] || [ $# = 3 ] || die "add-device DIR NODE DEVICE [FILE[,DRIVE OPTION…]]"
	local n k=1
	n=$(node_number "$1")
	if [ $# = 2 ]; then
		printf '%s\n' -device "$2" >>"$LAB_DIR/n$n.args"
		return
	fi
	[ -f "$LAB_DIR/${3%%,*}" ] || die "add-device: there is no $LAB_DIR/${3%%,*}"
	while grep -qs "id=device$k," "$LAB_DIR/n$n.args"; do
		k=$((k + 1))
	done
	printf '%s\n' -drive "if=none,id=device$k,format=raw,cache=unsafe,file=${LAB_DIR//,/,,}/$3" -device "$2,drive=device$k" \
		>>"$LAB_DIR/n$n.args"
}

cmd_sign_disk() {
	[ $# = 1 ] || die "sign-disk DIR NODE"
	local n
	n=$(node_number "$1")
	node_running "n$n" && die "sign-disk: n$n is powered on"
	mke2fs -q -F -t ext4 -L precious "$LAB_DIR/n$n.data.raw"
}

# drive_of IMAGE ID: QEMU's -drive. cache=unsafe: a guest's flush then costs no fsync on this machine, whose disk is not
# what anybody measures here; and a SIGKILLed node loses no acknowledged write, since those sit in the host's page cache.
# The guest sees a volatile write cache and sends its flushes all the same.
drive_of() {
	printf 'file=%s,format=raw,if=none,id=%s,cache=unsafe,discard=unmap' "${LAB_DIR//,/,,}/$1.raw" "$2"
}
