#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# initramfs.sh INIT: puts OUT/vmlinuz, OUT/initramfs.cpio.zst, OUT/ipxe/ and OUT/manifest.json together from the built
# parts and the init program INIT. Environment: MODULES, folders of out-of-tree kernel modules to build and add;
# FIRMWARE, folders whose content goes to /lib/firmware. Modules that a layer has (image/layers/) are packed for
# layers.sh.
#
# The initramfs is two archives, one after the other, as the kernel allows: the base (modules, tools), which is cached
# under the hash of its content, and init with the image's id, so that a change of init costs a second.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
. "$here/manifest.sh"

init=$(readlink -f "$1")
[ -x "$init" ] || die "$1: no such program; build it, or give another as INIT="
kernel=$(readlink -f "$OUT/kernel")
tools=$(readlink -f "$OUT/sysroot")/tools
release=$(<"$kernel/release")
stage=$OUT/.stage
# Stored compressed, so that only what a node loads is unpacked, and the rest costs neither boot time nor memory:
# measured with the instruction-count clock, 29 MB of plain modules took 1.5 s of boot, these take 0.2 s.
# zstd, not xz: 12 % larger (5.6 MB against 5.0 MB for all modules), but unpacked with a tenth of the work.
squeeze=(zstd -q --ultra -22 --no-check)
# What every boot unpacks: long matches only. A tenth larger, but half the work (callgrind: programs and init 61 M
# instructions without, 41 M with), and kernel time that nothing else fills on one CPU.
squeeze_all=(zstd -q -19 --zstd=mml=6 --no-check)

# Each folder is copied, so that building leaves nothing in it.
build_extra_modules() {
	local dir name i=0
	linux_source
	for dir in ${MODULES:-}; do
		name=$(basename "$(readlink -f "$dir")")
		i=$((i + 1))
		rm -rf "${stage:?}/modules-build/$i"
		mkdir -p "$stage/modules-build/$i"
		cp -a "$(readlink -f "$dir")" "$stage/modules-build/$i/"
		make -C "$linux" O="$kernel/build" ARCH=x86 M="$stage/modules-build/$i/$name" modules
		find "$stage/modules-build/$i/$name" -name '*.ko' | sort >"$stage/modules-build/$i.ko"
		[ -s "$stage/modules-build/$i.ko" ] || die "MODULES: $dir built no module"
		while read -r ko; do
			install -D -m 644 "$ko" "$moddir/extra/$(basename "$ko")"
			echo "$(basename "$ko") $name" >>"$base/extra"
		done <"$stage/modules-build/$i.ko"
	done
	rm -rf "${stage:?}/modules-build"
}

# "NAME VERSION" of the modules that state one, so that a node can tell without unpacking them. Out-of-tree ones last:
# they win.
module_versions() {
	local ko version
	{ find "$moddir/kernel" -name '*.ko' | sort; find "$moddir" -path "$moddir/kernel" -prune -o -name '*.ko' -print | sort; } |
		while read -r ko; do
			version=$(modinfo -F version "$ko")
			[ -z "$version" ] || echo "$(basename "$ko" .ko | tr - _) $version"
		done
}

stage_modules() {
	rm -rf "$stage"
	mkdir -p "$moddir" "$base"
	: >"$base/extra"
	cp -a "$kernel/modules/lib/modules/$release/." "$moddir/"
	build_extra_modules
	module_versions >"$moddir/modules.version"
	find "$moddir" -name '*.ko' -print0 | sort -z | xargs -0 -n 8 -P "$jobs" "${squeeze[@]}" --rm
	# Out-of-tree modules win over in-tree ones of the same name.
	echo 'search extra updates built-in' >"$stage/depmod.conf"
	depmod -b "$stage" -C "$stage/depmod.conf" -e -F "$kernel/System.map" "$release" 2>&1 | tee "$stage/depmod.log"
	! grep -q 'needs unknown symbol' "$stage/depmod.log" || die "a module needs a symbol that nothing provides"
	# What libkmod does not read.
	rm -f "$moddir"/modules.{devname,order,symbols,alias,dep,builtin}
	(cd "$moddir" && find . -name '*.ko.zst' -printf '%f\n' | sed 's/\.ko\.zst$//' | sort) >"$base/modules"
}

# layer_modules: "LAYER MODULE" for each module that a layer has.
layer_modules() {
	(cd "$here/layers" && grep -H '^module ' -- *) | sed 's/:module / /'
}

# What the layers' recipes name leaves the base's tree for theirs.
split_layers() {
	local layer name file
	while read -r layer name; do
		file=$(find "$moddir" -name "$name.ko.zst")
		[ "$file" ] || die "layers/$layer: no module $name"
		mkdir -p "$stage/split/$layer/$(dirname "${file#"$stage"/lib/modules/}")"
		mv "$file" "$stage/split/$layer/${file#"$stage"/lib/modules/}"
	done < <(layer_modules)
	find "$stage/split" -exec touch -h -d @0 {} +
	for layer in "$stage"/split/*; do
		tree "$layer" /lib/modules >"$layer.list"
		"$kernel/bin/gen_init_cpio" -t 0 "$layer.list" | "${squeeze[@]}" -c >"$base/${layer##*/}.modules.cpio.zst"
	done
}

stage_firmware() {
	local dir
	mkdir -p "$stage/firmware"
	for dir in ${FIRMWARE:-}; do
		cp -rL "$dir/." "$stage/firmware/"
	done
	(cd "$stage/firmware" && find . -type f -printf '%P\0' | sort -z | xargs -0r sha256sum) >"$base/firmware"
}

# tree FOLDER PLACE: list lines for a folder's content, sorted.
tree() {
	(cd "$1" && find . -mindepth 1 -printf '%y %P\n' | sort -k2) | while read -r type path; do
		case $type in
		d) echo "dir $2/$path 0755 0 0" ;;
		f) echo "file $2/$path $1/$path 0644 0 0" ;;
		*) die "$1/$path: neither a file nor a folder" ;;
		esac
	done
}

pack_base() {
	cp -r "$tools" "$stage/tools"
	cp "$here/udhcpc.script" "$stage/"
	# gen_init_cpio's -t is for all but files, whose own time it takes.
	find "$stage" -exec touch -h -d @0 {} +
	{
		cat "$here/initramfs.list"
		tree "$stage/lib/modules" /lib/modules
		tree "$stage/firmware" /lib/firmware
		sed '/^busybox$/d; s,.*,slink /bin/& /bin/busybox 0777 0 0,' "$tools/busybox.links"
	} >"$stage/list"
	RECIPES=$stage TOOLS=$stage/tools "$kernel/bin/gen_init_cpio" -t 0 "$stage/list" |
		"${squeeze_all[@]}" -c >"$base/base.cpio.zst"
}

build_base() {
	moddir=$stage/lib/modules/$release
	stage_modules
	split_layers
	stage_firmware
	pack_base
	rm -rf "$stage"
}

# folder_sum FOLDER: the hash of its files' names and bytes.
folder_sum() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0r sha256sum) | sha256sum | cut -d' ' -f1
}

folder_sums() {
	local dir
	for dir; do
		[ -d "$dir" ] || die "$dir: no such folder"
		echo "$(basename "$(readlink -f "$dir")") $(folder_sum "$dir")"
	done
}

pack_init() {
	cp "$init" "$OUT/.init"
	touch -d @0 "$OUT/.init" "$OUT/.image-id"
	printf '%s\n' \
		'dir /etc 0755 0 0' 'dir /etc/assay 0755 0 0' \
		"file /init $OUT/.init 0755 0 0" \
		"file /etc/assay/image-id $OUT/.image-id 0644 0 0" >"$OUT/.init.list"
	"$kernel/bin/gen_init_cpio" -t 0 "$OUT/.init.list" | "${squeeze_all[@]}" -c >"$OUT/.init.cpio.zst"
	cat "$base/base.cpio.zst" "$OUT/.init.cpio.zst" >"$OUT/initramfs.cpio.zst.new"
	mv "$OUT/initramfs.cpio.zst.new" "$OUT/initramfs.cpio.zst"
	rm -f "$OUT"/.init "$OUT"/.init.*
}

for dir in ${MODULES:-}; do
	[ -e "$dir/Kbuild" ] || [ -e "$dir/Makefile" ] || die "MODULES: $dir: no such folder, or neither Kbuild nor Makefile in it"
done
# shellcheck disable=SC2086
folder_sums ${MODULES:-} >"$OUT/.modules-sums"
# shellcheck disable=SC2086
firmware=$(folder_sums ${FIRMWARE:-})
hash=$( (basename "$kernel" "$(dirname "$tools")"; cat "$OUT/.modules-sums" "$here/initramfs.list" "$here/udhcpc.script"
	 layer_modules; echo "$firmware ${squeeze[*]} ${squeeze_all[*]}"; zstd --version
	 declare -f build_extra_modules stage_modules split_layers stage_firmware tree pack_base build_base) | key)
base=$CACHE/base-$hash
if ! [ -e "$base/base.cpio.zst" ]; then
	locked "base-$hash"
	if ! [ -e "$base/base.cpio.zst" ]; then
		step 'initramfs: modules and tools' initramfs-base build_base
	fi
fi

cp "$kernel/vmlinuz" "$OUT/vmlinuz.new"
mv "$OUT/vmlinuz.new" "$OUT/vmlinuz"
ln -sfn "$base" "$OUT/base"
extract_ipxe
manifest_body >"$OUT/.manifest.body"
sha256sum <"$OUT/.manifest.body" | cut -c1-32 >"$OUT/.image-id"
pack_init
write_manifest
rm -f "$OUT"/.manifest.body
echo "image $(<"$OUT/.image-id"): kernel $release $(stat -c %s "$OUT/vmlinuz") bytes," \
     "initramfs $(stat -c %s "$OUT/initramfs.cpio.zst") bytes" >&2
