#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the 82599 model for the installed Debian QEMU, without configuring or building QEMU, and prints the path of the
# shared object. Kept in $CACHE/nic-HASH; the hash covers QEMU's version, our sources and the compiler.
# Needs: gcc, python3, libglib2.0-dev, pkgconf, dpkg-dev.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}
read -ra compiler <<<"${CC:-gcc}"
cflags=(-m64 -mcx16 -O2 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare
	-Wno-missing-field-initializers -Werror -fPIC -fno-strict-aliasing -fno-common -fwrapv -pthread
	-fvisibility=hidden -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64)
read -r -a extra <<<"${NIC_CFLAGS:-}" # a test's

# Everything is said on stderr; stdout is the result.
main() {
	local version key out
	version=$(dpkg-query -W -f '${source:Version}' qemu-system-x86 2>/dev/null) || {
		echo "qemu-system-x86 is not installed from a Debian package" >&2
		return 1
	}
	key=$({
		echo "$version ${extra[*]}"
		"${compiler[@]}" --version | head -n 1
		cat "$here"/*.[ch] "$here/build.sh"
	} | sha256sum)
	out=$cache/nic-${key:0:16}
	if [ ! -f "$out/ixgbe82599.so" ]; then
		mkdir -p "$cache"
		work=$(mktemp -d "$cache/nic-work.XXXXXX")
		trap 'rm -rf "$work"' EXIT
		headers=$cache/qemu-headers-${version//[:\/]/_}
		[ -d "$headers" ] || headers_make "$version" "$headers"
		compile "$headers" "$work/nic"
		mv -T "$work/nic" "$out" 2>/dev/null || [ -f "$out/ixgbe82599.so" ]
	fi
	echo "$out/ixgbe82599.so"
}

# The headers of the very source version, patched: Debian's point updates change DeviceState and qemu_new_nic().
headers_make() {
	local patch rest src=$work/src name
	source_download "$1"
	mkdir "$src"
	tar xf "$work"/qemu_*.orig.tar.xz -C "$src" --strip-components=1
	tar xf "$work"/qemu_*.debian.tar.xz -C "$src"
	while read -r patch rest; do
		case $patch in
		'' | '#'*) ;;
		*) patch -s -d "$src" -p1 <"$src/debian/patches/$patch" >&2 ;;
		esac
	done <"$src/debian/patches/series"
	mkdir -p "$work/h/generated/qapi" "$work/h/tcg"
	python3 "$src/scripts/qapi-gen.py" -b -o "$work/h/generated/qapi" "$src/qapi/qapi-schema.json" >&2
	: >"$work/h/generated/config-poison.h"
	for name in CONFIG_POSIX CONFIG_LINUX CONFIG_MADVISE CONFIG_POSIX_MADVISE CONFIG_IOVEC CONFIG_CPUID_H \
		CONFIG_INT128 CONFIG_ATOMIC64 HAVE_STRUCT_STAT_ST_ATIM HAVE_STRCHRNUL HAVE_SYSTEM_FUNCTION \
		HAVE_IPPROTO_MPTCP HOST_X86_64; do
		echo "#define $name 1"
	done >"$work/h/generated/config-host.h"
	cp -r "$src/include" "$src/linux-headers" "$work/h/"
	cp -r "$src/tcg/i386" "$work/h/tcg/"
	mv -T "$work/h" "$2" 2>/dev/null || [ -d "$2" ]
}

# source_download VERSION: QEMU's source package by name, through the image's private apt configuration (and its lock)
source_download() {
	mkdir -p "$cache/src"
	(
		flock -w 1800 9
		conf=$("$here/../../../image/apt.sh" "$cache/apt")
		cd "$work"
		apt-get -q -c "$conf" source --download-only "qemu=$1" >&2 && exit
		apt-get -q -c "$conf" update >&2
		apt-get -q -c "$conf" source --download-only "qemu=$1" >&2
	) 9>"$cache/src/.lock" || {
		echo "the archive does not offer the source of qemu $1" >&2
		return 1
	}
}

# Lazy binding, so that another program that inherits LD_PRELOAD starts unharmed.
compile() {
	local h=$1 glib
	mkdir "$2"
	glib=$(pkg-config --cflags glib-2.0)
	# shellcheck disable=SC2086
	"${compiler[@]}" "${cflags[@]}" "${extra[@]}" -isystem "$h/linux-headers" -iquote "$here" -isystem "$h/generated" \
		-isystem "$h/generated/qapi" -isystem "$h/include" -isystem "$h/tcg/i386" $glib \
		-shared -Wl,-z,lazy -o "$2/ixgbe82599.so" "$here"/*.c >&2
}

main
