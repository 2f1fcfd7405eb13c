#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The workload aio beside fio in one VM, on null_blk (which completes at once: what is compared is the two programs'
# and the kernel's work), in interleaved pairs at queue depths 1, 32 and 256 with one and two jobs; then on a null_blk that
# takes a set time for each I/O, where both must see the same rate and latencies. The VM is our kernel with this machine's
# fio and libc. Figures only: nothing here passes or fails by time.
# usage: aio-fio.sh PROGRAM [PAIRS]      (PROGRAM: out/tests/aio_run; PAIRS: 5)
set -euo pipefail
# shellcheck source=lab/virtual/sh/accel.sh
. lab/virtual/sh/accel.sh
program=$1 pairs=${2:-5}
work=$(mktemp -d)
qemu=
trap '[ -z "$qemu" ] || kill "$qemu" 2>/dev/null || :; rm -rf "$work"' EXIT
LAB_CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}
export LAB_CACHE

command -v fio >/dev/null || { echo "aio-fio.sh: fio is not installed" >&2; exit 1; }
root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,tmp}
cp -L out/sysroot/tools/bin/busybox "$root/bin/busybox"
# Programs and all that their loader wants, in its own place.
for binary in "$(command -v fio)" "$program"; do
	cp -L "$binary" "$root/bin/"
	ldd "$binary" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$root$(dirname "$library")"
		cp -Lu "$library" "$root$library"
	done
done
module=$(find out/kernel/ -name 'null_blk.ko*' | head -n 1)
case $module in
*.zst) zstd -qdc "$module" >"$root/null_blk.ko" ;;
*) cp "$module" "$root/null_blk.ko" ;;
esac
cp tests/bench/aio-fio.init "$root/init"
chmod 755 "$root/init"
(cd "$root" && find . | sort | cpio --quiet -o -H newc) | zstd -q1 >"$work/initramfs"

accel_choose auto out/vmlinuz
echo "aio beside $(fio --version) on null_blk, ${LAB_ACCEL^^}, 2 CPUs, $pairs pairs each"
timeout 1500 qemu-system-x86_64 -M q35,sata=off,accel="$LAB_ACCEL" -cpu max -smp 2 -m 1024 -nographic -no-reboot -net none \
	-kernel out/vmlinuz -initrd "$work/initramfs" -append "console=ttyS0 quiet pairs=$pairs panic=-1" \
	</dev/null >"$work/serial" 2>&1 &
qemu=$!
wait "$qemu" || :
qemu=
tr -d '\r' <"$work/serial" >"$work/log"
grep -q '^END' "$work/log" || { tail -n 20 "$work/log" >&2; echo "aio-fio.sh: the VM did not come to the end" >&2; exit 1; }
python3 tests/bench/aio-fio.py <"$work/log"
