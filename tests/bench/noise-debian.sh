#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# noise-debian.sh DETOUR: builds a minimal Debian with systemd, irqbalance and the daemons of a plain server in the cache,
# under the hash of its recipe and of the versions that the archive has, and prints its folder: disk.raw, vmlinuz, initrd.
# Needs root, as it makes device nodes.
set -euo pipefail
detour=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "$0")")/../.."
. image/lib.sh

packages=systemd-sysv,udev,dbus,irqbalance,cron,rsyslog,openssh-server,chrony,initramfs-tools,linux-image-amd64
conf=$(image/apt.sh "$CACHE/apt")
[ -e "$CACHE/apt/fresh" ] || { apt-get -qq -c "$conf" update >&2 && touch "$CACHE/apt/fresh"; }
built=$CACHE/bench-debian-$( (cat "$0" tests/bench/noise-debian.{service,measure}; sha256sum <"$detour"
	apt-cache -c "$conf" policy ${packages//,/ } | grep -E '^[a-z]|Candidate') | key)

build() {
	local lists stage=$built.part
	mapfile -t lists < <(find "$CACHE/apt/sources" -type f -size +0)
	rm -rf "$stage"
	mkdir -p "$stage"
	mmdebstrap --mode=root --variant=minbase --include="$packages" "$(. /etc/os-release && echo "$VERSION_CODENAME")" \
		"$stage/root" "${lists[@]}"
	echo '/dev/vda / ext4 defaults 0 1' >"$stage/root/etc/fstab"
	install -D -m 755 "$detour" "$stage/root/bench/detour"
	install -m 755 tests/bench/noise-debian.measure "$stage/root/bench/measure"
	install -m 644 tests/bench/noise-debian.service "$stage/root/etc/systemd/system/bench.service"
	ln -s ../bench.service "$stage/root/etc/systemd/system/multi-user.target.wants/bench.service"
	cp "$stage"/root/boot/vmlinuz-* "$stage/vmlinuz"
	cp "$stage"/root/boot/initrd.img-* "$stage/initrd"
	rm -rf "$stage"/root/var/{cache,lib}/apt "$stage"/root/usr/share/{doc,man,locale}
	truncate -s 1500M "$stage/disk.raw"
	mke2fs -q -t ext4 -d "$stage/root" "$stage/disk.raw"
	rm -rf "$stage/root"
	mv "$stage" "$built"
}

if ! [ -d "$built" ]; then
	command -v mmdebstrap >/dev/null || die "mmdebstrap is not installed"
	locked "${built##*/}"
	[ -d "$built" ] || step 'a minimal Debian to compare with' bench-debian build >&2
fi
echo "$built"
