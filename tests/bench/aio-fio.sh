#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The workload aio beside fio in one VM, on null_blk (which completes at once: what is compared is the two programs'
# and the kernel's work), in interleaved pairs at queue depths 1, 32 and 256 with one and two jobs; and on a null_blk that
# takes a set time for each I/O, where both must see the same rate and latencies. The VM is our kernel with this machine's
# libc and the fio of the layer. Figures only: nothing here passes or fails by time. With one job the machine's own load
# changes nothing.
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

[ -e out/layers/fio.cpio.zst ] || { echo "aio-fio.sh: out/layers/fio.cpio.zst is missing: make layers LAYERS=fio" >&2; exit 1; }
root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,tmp}
cp -L out/sysroot/tools/bin/busybox "$root/bin/"
for tool in $("$root/bin/busybox" --list); do
	[ "$tool" = busybox ] || ln -sf busybox "$root/bin/$tool"
done
ln -sf kmod "$root/bin/insmod"
ln -sf kmod "$root/bin/rmmod"
# Programs and all that their loader wants, in its own place.
for binary in "$(command -v kmod)" "$program"; do
	cp -L "$binary" "$root/bin/"
	ldd "$binary" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$root$(dirname "$library")"
		cp -Lu "$library" "$root$library"
	done
done
for name in configfs null_blk; do
	module=$(find out/kernel/ -name "$name.ko" | head -n 1)
	cp "$module" "$root/$name.ko"
done
(cd "$root" && zstd -q -d -c "$OLDPWD/out/layers/fio.cpio.zst" | cpio --quiet -idm)
cp tests/bench/aio-fio.init "$root/init"
chmod 755 "$root/init"
(cd "$root" && find . | sort | cpio --quiet -o -H newc) | zstd -q1 >"$work/initramfs"

# vm JOBS PAIRS [OPTION of QEMU…]: the lines of its runs go to $work/log
vm() {
	timeout 1500 qemu-system-x86_64 -M q35,sata=off "${@:3}" -smp "$1" -m 1024 -nographic -no-reboot -net none \
		-kernel out/vmlinuz -initrd "$work/initramfs" -append "console=ttyS0 quiet pairs=$2 jobs=$1 panic=-1" \
		</dev/null >"$work/serial" 2>&1 &
	qemu=$!
	wait "$qemu" || :
	qemu=
	tr -d '\r' <"$work/serial" >>"$work/log"
	grep -q '^END' "$work/serial" && return
	tail -n 20 "$work/serial" >&2
	echo "aio-fio.sh: the VM did not come to the end" >&2
	exit 1
}

accel_choose auto out/vmlinuz
echo "aio beside $("$root/layers/fio/usr/bin/fio" --version) on null_blk; one job: one CPU whose clock counts instructions (icount); two jobs: ${LAB_ACCEL^^}, two CPUs"
vm 1 2 -accel tcg -cpu max -icount shift=2,sleep=off
vm 2 "$pairs" -accel "$LAB_ACCEL" -cpu max
tests/bench/aio-fio.py <"$work/log"
