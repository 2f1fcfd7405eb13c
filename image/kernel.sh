#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kernel.sh [DIR]: builds the kernel and its modules in the cache, under the hash of all that goes in, and points
# OUT/kernel at it: vmlinuz, config, release, System.map, modules/, build/ (enough to build out-of-tree modules
# against), bin/gen_init_cpio. With DIR, builds afresh there instead: for the reproducibility check.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"

fragments=("$here"/../kconfig/*.config)

# ARCH=x86, not x86_64: the latter makes allnoconfig answer 64-bit questions with no, such as virtually mapped stacks.
kmake() {
	make -C "$linux" O="$build" ARCH=x86 "$@"
}

configure_kernel() {
	rm -rf "$root"
	mkdir -p "$build"
	kmake -s allnoconfig
	(cd "$build" && "$linux/scripts/kconfig/merge_config.sh" -m .config "${fragments[@]}" >/dev/null)
	kmake -s olddefconfig
	"$here/../kconfig/check.sh" "$build/.config" "${fragments[@]}"
}

compile_kernel() {
	nice -n 5 make -C "$linux" O="$build" ARCH=x86 -j"$jobs" bzImage modules
}

install_kernel() {
	cp "$build/arch/x86/boot/bzImage" "$root/vmlinuz"
	cp "$build/.config" "$root/config"
	cp "$build/System.map" "$root/System.map"
	kmake -s kernelrelease | tail -n 1 >"$root/release"
	kmake -s modules_install INSTALL_MOD_PATH="$root/modules" DEPMOD=true
	rm -f "$root"/modules/lib/modules/*/{build,source}
	mkdir -p "$root/bin"
	gcc -O2 -o "$root/bin/gen_init_cpio" "$linux/usr/gen_init_cpio.c"
	# What out-of-tree modules need stays: headers, symbol versions, host tools. The objects do not: 1 GB.
	find "$build" -path "$build/scripts" -prune -o -path "$build/tools" -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name '*.ko' -o -name '*.mod*' -o -name '.*.cmd' -o -name 'vmlinux*' \
		   -o -name '*.order' \) ! -name Module.symvers -type f -print0 | xargs -0 rm -f
	rm -f "$build/source" "$build/arch/x86/boot/bzImage"
}

build_kernel() { # build_kernel DIR
	root=$1
	build=$1/build
	step 'kernel: configure' kernel-config configure_kernel
	expect=3270 step 'kernel: compile (about 10 minutes on 2 cores)' kernel-compile compile_kernel
	step 'kernel: install' kernel-install install_kernel
}

inputs linux-source-6.1 >"$OUT/.kernel-inputs"
linux_source
if [ $# = 1 ]; then
	build_kernel "$(readlink -f "$1")"
	exit
fi
# declare -f: the recipe as the shell understands it, so that a comment's change rebuilds nothing.
hash=$( (cat "$OUT/.kernel-inputs" "$here/reproducible.env"
	 grep -h '^CONFIG_' "${fragments[@]}" | sort
	 declare -f configure_kernel compile_kernel install_kernel; compilers) | key)
dir=$CACHE/kernel-$hash
if ! [ -d "$dir" ]; then
	locked "kernel-$hash"
	if ! [ -d "$dir" ]; then
		build_kernel "$dir.part"
		[ -d "$dir" ] || mv "$dir.part" "$dir"
	fi
fi
# The stamp's time is what make sees: it changes only when the build does.
[ "$(readlink "$OUT/kernel")" = "$dir" ] || ln -sfn "$dir" "$OUT/kernel"
[ "$(cat "$OUT/kernel.stamp" 2>/dev/null)" = "$hash" ] || echo "$hash" >"$OUT/kernel.stamp"
