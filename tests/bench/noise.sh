#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is taken from a program that only wants to compute, in the same VM under three systems: Assay; Debian's stock kernel
# with Assay's init; a minimal Debian with systemd, irqbalance and a plain server's daemons. With one CPU, under QEMU's
# instruction-count clock, which repeats to three digits: the share that detour misses, events a second, the longest. With two
# (which that clock cannot): interrupts and foreign threads in 10 s on an isolated CPU, as the kernel counts them, since Debian's
# has no osnoise tracer. Budgets are printed beside the figures.
# usage: noise.sh DETOUR     (root; after `make image lab` and `make layers LAYERS=kernel-debian`)
set -euo pipefail
detour=$(readlink -f "$1")
cd "$(dirname "$0")/../.."
dir=out/bench/noise
qemu=''
# shellcheck disable=SC2317,SC2329
clean_up() {
	[ -z "$qemu" ] || kill -KILL "$qemu" 2>/dev/null || :
}
trap clean_up EXIT

rm -rf "$dir"
mkdir -p "$dir/overlay"
debian=$(tests/bench/noise-debian.sh "$detour")
install -m 755 tests/bench/noise.init "$dir/overlay/init"
install -m 755 out/init "$dir/overlay/init.assay"
install -m 755 "$detour" "$dir/overlay/detour"
(cd "$dir/overlay" && find . -mindepth 1 | sort | cpio --quiet -o -H newc) >"$dir/overlay.cpio"
cat out/initramfs.cpio.zst "$dir/overlay.cpio" >"$dir/ours"
cat out/initramfs.cpio.zst out/layers/kernel-debian.cpio.zst "$dir/overlay.cpio" >"$dir/stock"

# vm NAME KERNEL INITRD ARGUMENTS OPTION…: runs a VM until it powers off, and sets $said to the values of detour's line: share
# in ppm, events a second, longest in us, timer interrupts, interrupts, foreign threads
vm() {
	local name=$1 line
	timeout 1200 qemu-system-x86_64 -M q35,sata=off -accel tcg -cpu max -m 1024 -display none -nodefaults -serial stdio \
		-no-reboot -net none -kernel "$2" -initrd "$3" -append "console=ttyS0 panic=-1 quiet $4" "${@:5}" \
		</dev/null >"$dir/$name.serial" 2>&1 &
	qemu=$!
	wait "$qemu" || :
	qemu=''
	line=$(tr -d '\r' <"$dir/$name.serial" | grep -a -o 'detour share=.*' | head -n 1) || :
	[ -n "$line" ] || { echo "noise.sh: $name said nothing; see $dir/$name.serial" >&2; exit 1; }
	said=$(sed 's/[a-z_]*=//g; s/^detour //' <<<"$line")
}

one() { vm "one-$1" "$2" "$3" "$4" -smp 1 -icount shift=2,sleep=off "${@:5}"; }
two() { vm "two-$1" "$2" "$3" "$4 nohz_full=1 rcu_nocbs=1 isolcpus=managed_irq,domain,1 irqaffinity=0" -smp 2 "${@:5}"; }

ours_arguments='assay.server=http://10.0.2.2:9 assay.token=none'
disk=(-drive "file=$debian/disk.raw,format=raw,if=virtio,snapshot=on")
one ours out/vmlinuz "$dir/ours" "$ours_arguments"
ours=$said
one alone out/vmlinuz "$dir/ours" bench=alone
alone=$said
one stock out/layers/kernel-debian.vmlinuz "$dir/stock" "$ours_arguments"
stock=$said
one debian "$debian/vmlinuz" "$debian/initrd" 'root=/dev/vda rw' "${disk[@]}"
plain=$said

row() { printf '%-52s %12s %12s %12s\n' "$@"; }
echo 'one CPU, -icount shift=2,sleep=off, 5 s of detour'
row '' 'share, %' 'events/s' 'longest, us'
for system in "Assay:$ours" "Assay's kernel with detour alone: the tick itself:$alone" "stock Debian kernel, Assay's init:$stock" \
	"minimal Debian:$plain"; do
	read -r share events longest _ <<<"${system##*:}"
	row "${system%:*}" "$(awk -v s="$share" 'BEGIN { printf "%.4f", s / 1e4 }')" "$events" "$longest"
done
awk -v ours="${ours%% *}" -v alone="${alone%% *}" -v plain="${plain%% *}" 'BEGIN {
	printf "Assay has %.2f of the minimal Debian'"'"'s share (budget 0.10)%s\n", ours / plain, ours > plain / 10 ? "  OVER" : ""
	if (ours > plain / 10)
		printf "  the timer tick alone takes %.2f of it: a node'"'"'s only CPU cannot be without one, since nohz_full needs another to keep the time;\n" \
		       "  of what Assay can do without, %.4f %% is left\n", alone / plain, (ours > alone ? ours - alone : 0) / 1e4
}'

echo
echo 'two CPUs, CPU 1 isolated as boot.isolate does it, 10 s of detour on it: counts a second'
row '' timer interrupts threads
# count WHAT: the row of what was said last
count() {
	# shellcheck disable=SC2046
	row "$1" $(awk '{ print $4 / 10, $5 / 10, $6 / 10 }' <<<"$said")
}
two ours out/vmlinuz "$dir/ours" "$ours_arguments"
ours=$said
count Assay
two stock out/layers/kernel-debian.vmlinuz "$dir/stock" "$ours_arguments"
count "stock Debian kernel, Assay's init"
two debian "$debian/vmlinuz" "$debian/initrd" 'root=/dev/vda rw' "${disk[@]}"
count 'minimal Debian'
awk '{ printf "Assay: %.1f timer interrupts/s (budget 1)%s, %d times a foreign thread (budget 0)%s\n",
	$4 / 10, $4 > 10 ? "  OVER" : "", $6, $6 > 0 ? "  OVER" : "" }' <<<"$ours"
