#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# layers.sh [NAME...]: builds the layers named (none: those that are in OUT/layers already, so that they fit the kernel)
# from their recipes in image/layers/ to OUT/layers/NAME.cpio.zst, and says in OUT/manifest.json what is in them.
# A recipe's lines:
#   deb PACKAGE FILE...   files of a Debian package; the libraries that they need follow by themselves
#   source PACKAGE FILE OPTION...   a program of Debian's source package: ./configure with these, make FILE; to /usr/bin
#   module NAME           a module of our kernel, which initramfs.sh has packed
#   kernel PACKAGE        a kernel of Debian, to OUT/layers/NAME.vmlinuz, and those of its modules that ours has too
# The layer kernel-operator has no recipe: it is made of the Debian package in the file KERNEL, as `make bindeb-pkg` makes
# one of any kernel.
# A layer unpacks to /layers/NAME, where its programs run by chroot. Needs what initramfs.sh leaves in OUT.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"

export PINS=$here/layers.pins
kernel=$(readlink -f "$OUT/kernel")
base=$(readlink -f "$OUT/base")

recipe() { # recipe NAME KIND: what its lines of that kind say
	if [ "$1" != kernel-operator ]; then
		sed -n "s/^$2 //p" "$here/layers/$1"
	elif [ "$2" = kernel ]; then
		dpkg-deb -f "$KERNEL" Package
	fi
}

# packages NAME: the lines of what it is made of, as inputs gives them
packages() {
	if [ "$1" = kernel-operator ]; then
		echo "deb $(dpkg-deb -f "$KERNEL" Package) $(dpkg-deb -f "$KERNEL" Version) $(sha256sum <"$KERNEL" | cut -d' ' -f1) GPL-2.0-only pinned"
	else
		# shellcheck disable=SC2046
		inputs $(closure $(recipe "$1" deb | cut -d' ' -f1) $(recipe "$1" kernel)) $(recipe "$1" source | cut -d' ' -f1)
	fi
}

# builders NAME: what a layer from source depends on beside its inputs
builders() {
	[ -z "$(recipe "$1" source)" ] || { compilers; dpkg-query -W libc6-dev libaio-dev; }
}

# package_file PACKAGE
package_file() {
	if [ "$name" = kernel-operator ]; then
		echo "$KERNEL"
	else
		input_file "$1"
	fi
}

# closure PACKAGE...: these and what they depend on, as far as it is pinned, one a line, sorted.
closure() {
	local known=" " name dep next="$*" now
	while [ "$next" ]; do
		now=$next
		next=
		for name in $now; do
			[[ $known != *" $name "* ]] || continue
			grep -q "^deb $name " "$PINS" || continue
			known+="$name "
			for dep in $(dpkg-deb -f "$(input_file "$name")" Pre-Depends Depends |
				     sed 's/^[A-Za-z-]*: //; s/([^)]*)//g; s/:any//g; s/[|,]/ /g'); do
				next+="$dep "
			done
		done
	done
	tr ' ' '\n' <<<"$known" | sed '/^$/d' | sort
}

# needed FILE: the libraries that it asks for, its loader among them.
needed() {
	readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
	readelf -l "$1" 2>/dev/null | sed -n 's,.*program interpreter: /[^]]*/\([^]/]*\)].*,\1,p'
}

# place PACKAGE FILE: copies it into the layer's tree, with the package's licence; the package counts as used.
place() {
	local doc
	doc=$(readlink "$stage/deb/$1/usr/share/doc/$1" || echo "$1") # may be a link into another package
	install -D -m "$(stat -L -c %a "$stage/deb/$1/$2")" "$stage/deb/$1/$2" "$tree/$2"
	install -D -m 644 "$(find "$stage/deb" -path "*/usr/share/doc/$doc/copyright" -print -quit)" \
		"$tree/usr/share/doc/$1/copyright"
	echo "$1" >>"$stage/used"
}

# libraries FILE: places what FILE needs and is not there yet, and what that needs.
libraries() {
	local so found package path
	for so in $(needed "$1"); do
		found=$(cd "$stage/deb" && find . -name "$so" \( -path '*/lib/x86_64-linux-gnu/*' -o -path '*/lib64/*' \) | sort | head -n 1)
		[ "$found" ] || die "layer $name: ${1##*/} needs $so, which no package of $PINS has that $name depends on; add it there"
		package=$(cut -d/ -f2 <<<"$found")
		path=${found#./"$package"}
		[ ! -e "$tree/$path" ] || continue
		place "$package" "$path"
		libraries "$tree/$path"
	done
}

# list: the layer's tree as gen_init_cpio takes it.
list() {
	echo "dir /layers 0755 0 0"
	echo "dir /layers/$name 0755 0 0"
	list_tree "$tree" "/layers/$name"
	[ ! -d "$stage/kernel/lib/modules" ] || list_tree "$stage/kernel/lib/modules" /lib/modules
}

# list_tree FOLDER PLACE
list_tree() {
	(cd "$1" && find . -mindepth 1 -printf '%y %P %m\n' | sort -k2) | while read -r type path mode; do
		case $type in
		d) echo "dir $2/$path 0755 0 0" ;;
		f) echo "file $2/$path $1/$path 0$mode 0 0" ;;
		*) die "$1/$path: neither a file nor a folder" ;;
		esac
	done
}

# modules_like_ours FOLDER: keeps of the modules under it those that our kernel has, and what they need; indexes them.
modules_like_ours() {
	local keep
	depmod -b "$1" "$release"
	(
		export LC_ALL=C
		cd "$1/lib/modules/$release"
		keep=$(awk -F'[: ]+' 'function name(path) { sub(/.*\//, "", path); sub(/\.ko$/, "", path); gsub("_", "-", path); return path }
			FNR == NR { gsub("_", "-"); ours[$1]; next }
			name($1) in ours { for (i = 1; i <= NF; i++) if ($i != "") print $i }' "$base/modules" modules.dep | sort -u)
		find kernel -name '*.ko' | sort | comm -23 - <(echo "$keep") | xargs rm
		find kernel -depth -type d -empty -delete
	)
	find "$1/lib/modules" -name '*.ko' -print0 | sort -z | xargs -0 -n 8 -P "$jobs" zstd -q -19 --no-check --rm
	depmod -b "$1" "$release"
	rm -f "$1/lib/modules/$release"/modules.{devname,order,symbols,alias,dep,builtin}
}

# build_kernel PACKAGE: its modules go to /lib/modules, not below the layer.
build_kernel() {
	local dir=$stage/deb/$1
	release=$(cd "$dir/lib/modules" && echo *)
	cp "$dir/boot/vmlinuz-$release" "$built/vmlinuz"
	mkdir -p "$stage/kernel"
	mv "$dir/lib" "$stage/kernel/"
	modules_like_ours "$stage/kernel"
	install -D -m 644 "$dir/usr/share/doc/$1/copyright" "$tree/usr/share/doc/$1/copyright"
	echo "$1" >>"$stage/used"
}

# build_source PACKAGE FILE OPTION...: for any x86-64, with nothing of this machine in it.
build_source() {
	local dir=$stage/source/$1 file=$2
	mkdir -p "$dir"
	tar -x -f "$(input_file "$1")" -C "$dir" --strip-components=1
	(cd "$dir" && ./configure --extra-cflags="-g0 -ffile-prefix-map=$dir=." "${@:3}" && make -j "$jobs" "$file")
	install -D -m 755 "$dir/$file" "$tree/usr/bin/$file"
	strip --strip-all "$tree/usr/bin/$file"
	install -D -m 644 "$dir/COPYING" "$tree/usr/share/doc/$1/copyright"
	echo "$1" >>"$stage/used"
}

# What init reports of the layer beside each result that used it.
describe() {
	grep -xFf <(sort -u "$stage/used") <(cut -d' ' -f2 "$stage/inputs") |
		while read -r package; do
			grep "^[a-z]* $package " "$stage/inputs"
		done | jq -R -S -s --arg name "$name" --arg release "$release" '
		(if $release == "" then {} else {release: $release} end) + {name: $name, packages: (split("\n") | map(select(. != "") | split(" ")
		| {name: .[1], version: .[2], sha256: .[3], licence: .[4]}
		  + (if .[5] == "pinned" then {} else {replaces: (.[5] | ltrimstr("replaces:"))} end)))}'
}

build_layer() {
	local kind package files file release=
	rm -rf "$stage" "$built"
	mkdir -p "$tree" "$built"
	cp "$inputs" "$stage/inputs"
	while read -r kind package _; do
		[ "$kind" = deb ] || continue
		mkdir -p "$stage/deb/$package"
		dpkg-deb --fsys-tarfile "$(package_file "$package")" | tar -x -C "$stage/deb/$package" --no-same-owner
	done <"$inputs"
	while read -r package files; do
		for file in $files; do
			[ -e "$stage/deb/$package/$file" ] || die "layers/$name: $package has no $file"
			place "$package" "$file"
			libraries "$tree/$file"
		done
	done < <(recipe "$name" deb)
	while read -r package file files; do
		# shellcheck disable=SC2086
		build_source "$package" "$file" $files
	done < <(recipe "$name" source)
	for package in $(recipe "$name" kernel); do
		build_kernel "$package"
	done
	if [ -e "$tree/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" ]; then
		install -D -m 755 "$tree/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" "$tree/lib64/ld-linux-x86-64.so.2"
		rm "$tree/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
	fi
	describe >"$tree/layer.json"
	mkdir -p "$tree"/{dev,proc,sys,run,tmp,etc,var}
	find "$tree" -exec touch -h -d @0 {} +
	[ ! -d "$stage/kernel" ] || find "$stage/kernel" -exec touch -h -d @0 {} +
	list >"$stage/list"
	[ ! -e "$modules" ] || cat "$modules" >"$built/cpio.zst.new"
	"$kernel/bin/gen_init_cpio" -t 0 "$stage/list" | zstd -q -19 --no-check -c >>"$built/cpio.zst.new"
	cp "$tree/layer.json" "$built/json"
	mv "$built/cpio.zst.new" "$built/cpio.zst"
	rm -rf "$stage"
}

# find_built: sets $built to the cached layer of the resolved packages, which need not be there yet.
find_built() {
	packages "$name" >"$inputs"
	built=$CACHE/layer-$name-$( (cat "$inputs" "$recipe_file" "$here/layers.sh"; [ ! -e "$modules" ] || cat "$modules"
		[ -z "$(recipe "$name" kernel)" ] || cat "$base/modules"
		builders "$name"
		zstd --version) | key)
}

# build NAME: sets $built to the layer's folder in the cache, where it is built if it is not there yet.
build() {
	local quick recipe_file=$here/layers/$1
	if [ "$name" = kernel-operator ]; then
		dpkg-deb --fsys-tarfile "$KERNEL" | tar -t | grep '^\./boot/vmlinuz-' >/dev/null || die "KERNEL: $KERNEL has no boot/vmlinuz-RELEASE in it"
		recipe_file=$KERNEL
	fi
	[ -e "$recipe_file" ] || die "no layer $name; there are: $(cd "$here/layers" && echo *)"
	# Resolving takes a second, and leads to the same as long as nothing of this changes.
	quick=$CACHE/layer-$name.$( (cat "$recipe_file" "$here/layers.sh" "$PINS"; basename "$base"; builders "$name"; zstd --version) | key)
	built=$(readlink -f "$quick")
	if ! [ -e "$built/cpio.zst" ]; then
		find_built
		if ! [ -e "$built/cpio.zst" ]; then
			locked "${built##*/}"
			[ -e "$built/cpio.zst" ] || step "layer $name" "layer-$name" build_layer
		fi
		ln -sfn "${built##*/}" "$quick"
	fi
}

one() {
	local name=$1 stage=$OUT/.layer tree=$OUT/.layer/tree inputs=$OUT/.layer-inputs modules=$base/$1.modules.cpio.zst built
	if [ "$name" != kernel-operator ] || [ -n "${KERNEL:-}" ]; then
		build "$name"
	else
		# Which package it was is known as long as it fits the image.
		[ -e "$OUT/layers/$name.cpio.zst" ] || die "kernel-operator: which one? KERNEL=FILE names a Debian package of it (make bindeb-pkg)"
		built=$CACHE/$(sed -n "s/^$(basename "$base") //p" "$OUT/layers/$name.built")
		[ -e "$built/cpio.zst" ] || {
			echo "layers.sh: the layer kernel-operator does not fit this image, and is removed: make layers KERNEL=FILE makes it anew" >&2
			rm -f "$OUT/layers/$name".*
			return
		}
	fi
	mkdir -p "$OUT/layers"
	[ "$name" != kernel-operator ] || echo "$(basename "$base") ${built##*/}" >"$OUT/layers/$name.built"
	cp "$built/cpio.zst" "$OUT/layers/$name.cpio.zst.new"
	mv "$OUT/layers/$name.cpio.zst.new" "$OUT/layers/$name.cpio.zst"
	if [ -e "$built/vmlinuz" ]; then
		cp "$built/vmlinuz" "$OUT/layers/$name.vmlinuz.new"
		mv "$OUT/layers/$name.vmlinuz.new" "$OUT/layers/$name.vmlinuz"
	fi
	jq -S --arg name "$name" --argjson bytes "$(stat -c %s "$OUT/layers/$name.cpio.zst")" \
		--arg sha256 "$(sha256sum <"$OUT/layers/$name.cpio.zst" | cut -d' ' -f1)" --slurpfile layer "$built/json" \
		'.layers[$name] = {bytes: $bytes, sha256: $sha256, packages: $layer[0].packages}' \
		"$OUT/manifest.json" >"$OUT/manifest.json.new"
	mv "$OUT/manifest.json.new" "$OUT/manifest.json"
	rm -f "$inputs"
}

[ -e "$OUT/manifest.json" ] || die "no image in $OUT; \`make image\` comes first"
if [ $# = 0 ]; then
	for file in "$OUT"/layers/*.cpio.zst; do
		name=$(basename "$file" .cpio.zst)
		[ "$name" = kernel-operator ] || [ -e "$here/layers/$name" ] || continue
		set -- "$@" "$name"
	done
fi
for layer; do
	one "$layer"
done
