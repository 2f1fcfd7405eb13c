#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# foreign-ixgbe.sh IMAGE: from out/, an image whose initramfs has an out-of-tree ixgbe that says it was built for another
# kernel: what an operator has who forgot to build it again. It goes in a small archive before the other.
set -euo pipefail
image=$1
release=$(cat out/kernel/release)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$image"
mkdir -p "$image"
sed "s/vermagic=$release /vermagic=${release/6.1./6.0.} /" \
	"out/kernel/modules/lib/modules/$release/kernel/drivers/net/ethernet/intel/ixgbe/ixgbe.ko" >"$work/ixgbe.ko"
cmp -s "$work/ixgbe.ko" "out/kernel/modules/lib/modules/$release/kernel/drivers/net/ethernet/intel/ixgbe/ixgbe.ko" && {
	echo "foreign-ixgbe.sh: ixgbe.ko does not say what it was built for" >&2
	exit 1
}
for folder in /lib /lib/modules "/lib/modules/$release" "/lib/modules/$release/extra"; do
	echo "dir $folder 0755 0 0"
done >"$work/list"
echo "file /lib/modules/$release/extra/ixgbe.ko $work/ixgbe.ko 0644 0 0" >>"$work/list"
out/kernel/bin/gen_init_cpio "$work/list" >"$work/extra.cpio"
truncate -s %512 "$work/extra.cpio"
cat "$work/extra.cpio" out/initramfs.cpio.zst >"$image/initramfs.cpio.zst"
cp -r out/vmlinuz out/manifest.json out/ipxe "$image/"
