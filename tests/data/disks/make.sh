#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make.sh [UTIL-LINUX SOURCE]: makes the images beside it anew, with the tools themselves; those that need hardware or a
# kernel that this machine lacks come from util-linux's own test suite (tests/ts/blkid; `image/fetch.sh util-linux`).
# The images are committed, since the tools would put many packages, and a kernel with loop devices, on every machine that
# runs the checks. Needs: btrfs-progs cryptsetup-bin dosfstools drbd-utils e2fsprogs fdisk gdisk lvm2 util-linux xfsprogs xz-utils.
# Each is cut behind its metadata; what stands at a disk's end has its whole length. md-1.x and bitlocker are written by
# bytes.py: mdadm writes superblocks only through a kernel with md, and BitLocker has no free tool that makes it.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
source=${1:-}
work=$(mktemp -d)
loop=
trap '[ -z "$loop" ] || losetup -d "$loop"; rm -rf "$work"' EXIT
cd "$work"

# keep NAME [BYTES]: its first BYTES, or all of it
keep() {
	[ -z "${2:-}" ] || truncate -s "$2" "$1"
	xz -9e -c "$1" >"$here/$1.xz"
	rm "$1"
}

# drbd NAME BYTES PLACE…: metadata that `drbdmeta` makes
drbd() {
	truncate -s "$2" "$1"
	# It remembers a minor's device, and looks for metadata where that ended.
	rm -f /var/lib/drbd/drbd-minor-999.lkbd
	drbdmeta --force 999 v08 "$1" "${@:3}" create-md </dev/null >/dev/null
	rm -f /var/lib/drbd/drbd-minor-999.lkbd
	keep "$1"
}

truncate -s 320M xfs && mkfs.xfs -q -L precious xfs && keep xfs 4096
truncate -s 64M ext4 && mke2fs -q -t ext4 -L precious ext4 && keep ext4 65536
truncate -s 64M ext2 && mke2fs -q -t ext2 -L precious ext2 && keep ext2 65536
truncate -s 128M btrfs && mkfs.btrfs -q -L precious btrfs >/dev/null && keep btrfs 131072
truncate -s 64M fat && mkfs.vfat -n PRECIOUS fat >/dev/null && keep fat 65536
truncate -s 64M swap && mkswap -q -L precious swap && keep swap 65536
for version in 1 2; do
	truncate -s 64M luks$version
	printf secret | cryptsetup -q luksFormat --type luks$version --pbkdf pbkdf2 --pbkdf-force-iterations 1000 luks$version -
	keep luks$version $((version * 16384 - 12288))
done
truncate -s 64M lvm
loop=$(losetup -f --show lvm)
pvcreate -q --devices "$loop" "$loop" && vgcreate -q --devices "$loop" precious "$loop"
losetup -d "$loop"
loop=
keep lvm 65536

truncate -s 4M gpt && sgdisk -n 1:2048:4096 -c 1:precious gpt >/dev/null
cp gpt gpt-backup && dd if=/dev/zero of=gpt-backup bs=512 count=34 conv=notrunc status=none
keep gpt && keep gpt-backup
truncate -s 4M gpt-4k && loop=$(losetup -f --show -b 4096 gpt-4k) && sgdisk -n 1:256:512 -c 1:precious "$loop" >/dev/null
losetup -d "$loop"
loop=
keep gpt-4k
truncate -s 4M mbr && printf 'label: dos\nsize=1MiB, type=83\n' | sfdisk -q mbr && keep mbr 512

drbd drbd-internal 8M internal
drbd drbd-odd-size $(((8 << 20) - 512)) internal
drbd drbd-flex-external 8M flex-external

for name in zfs bcache-B bcache-C ddf-raid isw-raid exfat mdraid; do
	[ -z "$source" ] || cp "$source/tests/ts/blkid/images-fs/$name.img.xz" "$here/${name/mdraid/md-0.90}.xz"
done
"$here/bytes.py"
for name in md-1.0 md-1.1 md-1.2 bitlocker; do
	keep $name
done
