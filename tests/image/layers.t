#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Layers: the same bytes again, nothing of it in the base image, each program starts from its own folder, and what cannot be
# built says what is missing.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
m=$OUT/manifest.json
layers() {
	"$ROOT/image/layers.sh" "$@" 2>&1
}
image() {
	"$ROOT/image/kernel.sh" && "$ROOT/image/userland.sh" && "$ROOT/image/initramfs.sh" "$WORK/init"
}

printf '#!/bin/busybox sh\n' >"$WORK/init"
chmod 755 "$WORK/init"
like "no image, no layers" "$(layers lvm2)" 'no image in .*make image. comes first'
ok "an image" image
is "it comes without layers" "$(jq -c .layers "$m"; find "$OUT/layers" 2>/dev/null | wc -l)" $'null\n0'
before=$(stat -c %s "$OUT/initramfs.cpio.zst") id=$(jq -r .image_id "$m")
ok "two layers" layers lvm2 filesystems
is "the manifest has them" "$(jq -c '.layers | keys' "$m")" '["filesystems","lvm2"]'
is "the image is the same" "$(stat -c %s "$OUT/initramfs.cpio.zst") $(jq -r .image_id "$m")" "$before $id"
for name in lvm2 filesystems; do
	is "$name: size and hash" "$(jq -r ".layers.$name | \"\(.bytes) \(.sha256)\"" "$m")" \
		"$(stat -c %s "$OUT/layers/$name.cpio.zst") $(sha256sum <"$OUT/layers/$name.cpio.zst" | cut -d' ' -f1)"
	is "$name: each package with version, hash and licence" "$(jq "[.layers.$name.packages[] | select((.version | length) > 0
		and (.sha256 | test(\"^[0-9a-f]{64}$\")) and (.licence | length) > 0)] | length" "$m")" \
		"$(jq ".layers.$name.packages | length" "$m")"
done
is "the C library is one of them" "$(jq -r '.layers.lvm2.packages[].name' "$m" | grep -x libc6)" libc6

# From scratch, in a cache of its own with the packages of the other.
cp "$OUT/layers/lvm2.cpio.zst" "$WORK/first"
mkdir "$WORK/cache"
ln -s "$CACHE/src" "$CACHE/apt" "$WORK/cache/"
ok "built once more from nothing" env CACHE="$WORK/cache" "$ROOT/image/layers.sh" lvm2
ok "the same bytes again" cmp "$WORK/first" "$OUT/layers/lvm2.cpio.zst"
ok "another image refreshes what is there" image
ok "without being told which" layers
is "the manifest has them again" "$(jq -c '.layers | keys' "$m")" '["filesystems","lvm2"]'

# As the kernel unpacks them: one archive after the other.
mkdir "$WORK/tree"
for name in lvm2 filesystems; do
	zstd -q -d -c "$OUT/layers/$name.cpio.zst" >"$WORK/$name.cpio"
	(cd "$WORK/tree" && while cpio -idm --quiet --no-absolute-filenames; do :; done <"$WORK/$name.cpio") 2>/dev/null
	ok "$name: no time but the epoch's" not grep -qv 'Jan  1  1970' \
		<(TZ=UTC cpio -itv --quiet <"$WORK/$name.cpio" 2>/dev/null)
	ok "$name: everything belongs to root" not grep -qv 'root     root' <(cpio -itv --quiet <"$WORK/$name.cpio" 2>/dev/null)
	ok "$name: says what it is" test "$(jq -r .name "$WORK/tree/layers/$name/layer.json")" = $name
	ok "$name: no path of this machine in it" not grep -qaF "$CACHE" "$WORK/$name.cpio"
	is "$name: every package's licence" "$(cd "$WORK/tree/layers/$name/usr/share/doc" && printf '%s\n' */copyright | cut -d/ -f1)" \
		"$(jq -r ".layers.$name.packages[].name" "$m" | LC_ALL=C sort)"
done
release=$(jq -r .kernel.release "$m")
ok "filesystems: the kernel's modules too" test -s "$WORK/tree/lib/modules/$release/kernel/fs/xfs/xfs.ko.zst"
if [ "$(id -u)" = 0 ]; then
	while read -r name program option said; do
		like "$name: $program starts" "$(chroot "$WORK/tree/layers/$name" "$program" "$option" 2>&1)" "$said"
	done <<-'X'
		lvm2 /sbin/lvm version LVM.version
		filesystems /sbin/mke2fs -V mke2fs.1
		filesystems /sbin/mkfs.xfs -V mkfs.xfs.version
	X
fi

# A program from its source: one static file, which needs no shared memory.
ok "fio from its source" layers fio
mkdir "$WORK/fio"
(cd "$WORK/fio" && zstd -q -d -c "$OUT/layers/fio.cpio.zst" | cpio -idm --quiet --no-absolute-filenames)
is "fio: the version that the manifest says" "$("$WORK/fio/layers/fio/usr/bin/fio" --version)" \
	"fio-$(jq -r '.layers.fio.packages[] | select(.name == "fio") | .version' "$m")"
ok "fio: static" not grep -q . <(readelf -d "$WORK/fio/layers/fio/usr/bin/fio" | grep NEEDED)
is "fio: the engines of the workload aio" "$("$WORK/fio/layers/fio/usr/bin/fio" --enghelp | grep -oxE '[[:space:]]*(libaio|io_uring)' | xargs)" 'io_uring libaio'
ok "fio: asks for no System V shared memory" not grep -q 'shmget' "$WORK/fio/layers/fio/usr/bin/fio"
ok "fio: its licence" test -s "$WORK/fio/layers/fio/usr/share/doc/fio/copyright"
ok "fio: no path of this machine in it" not grep -qaF "$CACHE" "$WORK/fio/layers/fio/usr/bin/fio"

# The operator's kernel: a package with one module that our kernel has, and one that it has not.
deb=$WORK/linux-image-9.9-own
module=$(find "$(readlink -f "$OUT/kernel")/" -name dm-mod.ko | head -n 1)
mkdir -p "$deb"/{DEBIAN,boot,usr/share/doc/linux-image-9.9-own,lib/modules/9.9-own/kernel}
printf 'Package: linux-image-9.9-own\nVersion: 9.9-3\nArchitecture: amd64\nMaintainer: x <x@example.org>\nDescription: x\n' >"$deb/DEBIAN/control"
echo 'not a kernel' >"$deb/boot/vmlinuz-9.9-own"
echo GPL >"$deb/usr/share/doc/linux-image-9.9-own/copyright"
cp "$module" "$deb/lib/modules/9.9-own/kernel/dm-mod.ko"
cp "$module" "$deb/lib/modules/9.9-own/kernel/not_ours.ko"
touch "$deb/lib/modules/9.9-own/modules."{order,builtin}
dpkg-deb --root-owner-group -b "$deb" "$WORK/own.deb" >/dev/null
like "the operator's kernel must be named" "$(layers kernel-operator)" 'KERNEL=FILE names a Debian package'
like "it must be one" "$(KERNEL=$(find "$CACHE/src/" -path '*/lvm2*' -name '*.deb' | head -n 1) layers kernel-operator)" 'has no boot/vmlinuz-RELEASE in it'
ok "it becomes a layer" env KERNEL="$WORK/own.deb" "$ROOT/image/layers.sh" kernel-operator
is "with its vmlinuz" "$(cat "$OUT/layers/kernel-operator.vmlinuz")" 'not a kernel'
is "and those of its modules that ours has" "$(zstd -q -d -c "$OUT/layers/kernel-operator.cpio.zst" | cpio -it --quiet 2>/dev/null | grep 'ko')" \
	lib/modules/9.9-own/kernel/dm-mod.ko.zst
is "the manifest says which" "$(jq -r '.layers."kernel-operator".packages[] | "\(.name) \(.version) \(.sha256)"' "$m")" \
	"linux-image-9.9-own 9.9-3 $(sha256sum <"$WORK/own.deb" | cut -d' ' -f1)"
is "and the node can read its release" "$(zstd -q -d -c "$OUT/layers/kernel-operator.cpio.zst" | cpio -i --quiet --to-stdout layers/kernel-operator/layer.json | jq -r .release)" 9.9-own
ok "the image is made once more" image
ok "it is kept without being named again" layers
is "the manifest has it again" "$(jq -c '.layers | keys' "$m")" '["filesystems","fio","kernel-operator","lvm2"]'
sed -i 's/^[^ ]*/another/' "$OUT/layers/kernel-operator.built"
like "but not for another image" "$(layers)" 'kernel-operator does not fit this image, and is removed'
ok "then it is gone" test ! -e "$OUT/layers/kernel-operator.cpio.zst"

like "a layer that is none" "$(layers lvm3)" 'no layer lvm3; there are: .*cryptsetup.* lvm2'
cp -r "$ROOT/image" "$WORK/image"
sed -i '/^deb libedit2 /d' "$WORK/image/layers.pins"
like "a library that no pinned package has" "$(CACHE=$WORK/cache "$WORK/image/layers.sh" lvm2 2>&1)" \
	'layer lvm2: lvm needs libedit.so.2, which no package'
done_testing
