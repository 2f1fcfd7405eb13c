#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is taken from a program that only wants to compute, in the same VM under three systems: Assay; Debian's stock kernel
# with Assay's init; a minimal Debian with systemd, irqbalance and a plain server's daemons. With one CPU, under QEMU's
# instruction-count clock, which repeats to three digits: the share that detour misses, events a second, the longest. With two
# (which that clock cannot): what the osnoise tracer counts in 10 s on an isolated CPU. Budgets are printed beside the figures.
# usage: noise.sh DETOUR     (root; after `make image lab` and `make layers LAYERS=kernel-debian`)
set -euo pipefail
detour=$(readlink -f "$1")
cd "$(dirname "$0")/../.."
vlab=lab/virtual/lab.sh dir=out/bench/noise
qemu='' serve=''
# shellcheck disable=SC2317,SC2329
clean_up() {
	[ -z "$qemu" ] || kill -KILL "$qemu" 2>/dev/null || :
	[ -z "$serve" ] || kill -KILL "$serve" 2>/dev/null || :
	"$vlab" down "$dir" 2>/dev/null || :
}
trap clean_up EXIT

"$vlab" down "$dir" 2>/dev/null || :
rm -rf "$dir"
mkdir -p "$dir/overlay"
debian=$(tests/bench/noise-debian.sh "$detour")
install -m 755 tests/bench/noise.init "$dir/overlay/init"
install -m 755 out/init "$dir/overlay/init.assay"
install -m 755 "$detour" "$dir/overlay/detour"
(cd "$dir/overlay" && find . -mindepth 1 | sort | cpio --quiet -o -H newc) >"$dir/overlay.cpio"
cat out/initramfs.cpio.zst "$dir/overlay.cpio" >"$dir/ours"
cat out/initramfs.cpio.zst out/layers/kernel-debian.cpio.zst "$dir/overlay.cpio" >"$dir/stock"

# vm NAME WORD SECONDS OPTION…: runs a VM until it powers off; its line that begins with WORD
vm() {
	local name=$1 word=$2 seconds=$3 line
	shift 3
	timeout "$seconds" qemu-system-x86_64 -M q35,sata=off -accel tcg -m 1024 -display none -nodefaults -serial stdio -no-reboot \
		-net none "$@" </dev/null >"$dir/$name.serial" 2>&1 &
	qemu=$!
	wait "$qemu" || :
	qemu=''
	line=$(tr -d '\r' <"$dir/$name.serial" | grep -a "^$word " | head -n 1) || :
	[ -n "$line" ] || { echo "noise.sh: $name said nothing of $word; see $dir/$name.serial" >&2; exit 1; }
	echo "$line"
}

# one NAME KERNEL INITRD ARGUMENTS [OPTION…]: "share ppm, events a second, longest us" of detour on one CPU
one() {
	vm "$1" detour 1200 -smp 1 -cpu max -icount shift=2,sleep=off -kernel "$2" -initrd "$3" -append "console=ttyS0 panic=-1 quiet $4" \
		"${@:5}" | sed 's/[a-z_]*=//g; s/^detour //'
}

disk=(-drive "file=$debian/disk.raw,format=raw,if=virtio,snapshot=on")
ours=$(one ours out/vmlinuz "$dir/ours" 'assay.server=http://10.0.2.2:9 assay.token=none')
alone=$(one alone out/vmlinuz "$dir/ours" bench=alone)
stock=$(one stock out/layers/kernel-debian.vmlinuz "$dir/stock" 'assay.server=http://10.0.2.2:9 assay.token=none')
plain=$(one debian "$debian/vmlinuz" "$debian/initrd" 'root=/dev/vda rw' "${disk[@]}")

row() { printf '%-52s %12s %12s %12s\n' "$@"; }
echo 'one CPU, -icount shift=2,sleep=off, 5 s of detour'
row '' 'share, %' 'events/s' 'longest, us'
for system in "Assay:$ours" "Assay's kernel with detour alone: the tick itself:$alone" "stock Debian kernel, Assay's init:$stock" \
	"minimal Debian:$plain"; do
	read -r share events longest <<<"${system##*:}"
	row "${system%:*}" "$(awk -v s="$share" 'BEGIN { printf "%.4f", s / 1e4 }')" "$events" "$longest"
done
awk -v ours="${ours%% *}" -v alone="${alone%% *}" -v plain="${plain%% *}" 'BEGIN {
	printf "Assay has %.2f of the minimal Debian'"'"'s share (budget 0.10)%s\n", ours / plain, ours > plain / 10 ? "  OVER" : ""
	if (ours > plain / 10)
		printf "  the timer tick alone takes %.2f of it: a node'"'"'s only CPU cannot be without one, since nohz_full needs another to keep the time;\n" \
		       "  of what Assay can do without, %.4f %% is left\n", alone / plain, (ours > alone ? ours - alone : 0) / 1e4
}'

# Assay and the stock kernel as a plan's cells with boot.isolate and cpu.quiet.
"$vlab" up "$dir" --nodes 1 --cpus 2 --nic virtio --system-disk virtio --memory 1024 2>"$dir/up.log"
"$vlab" lab-file "$dir" >"$dir/lab.yaml"
"$vlab" exec "$dir" out/assay serve "$dir/lab.yaml" --db "$dir/assay.db" --image out >"$dir/serve.log" 2>&1 &
serve=$!
"$vlab" start "$dir" n1
timeout 1500 out/assay run tests/bench/noise.yaml --db "$dir/assay.db" --lab "$dir/lab.yaml" >"$dir/run.log" 2>&1 ||
	{ tail -n 20 "$dir/run.log" >&2; exit 1; }
kill -KILL "$serve"
wait "$serve" 2>/dev/null || :
serve=''
"$vlab" down "$dir"

# window ORDINAL: irq, softirq, thread of 10 s before the cell's sample
window() {
	sqlite3 -separator ' ' "$dir/assay.db" "SELECT w ->> 'irq', w ->> 'softirq', w ->> 'thread' FROM (SELECT CAST(body AS TEXT) ->
		'\$.evidence.noise.before[0]' AS w FROM results JOIN cells USING (run, cell_id) WHERE cells.ordinal = $1 AND verdict = 'valid')"
}
plain=$(vm debian-two osnoise 1200 -smp 2 -cpu max -kernel "$debian/vmlinuz" -initrd "$debian/initrd" "${disk[@]}" -append \
	'console=ttyS0 panic=-1 quiet root=/dev/vda rw nohz_full=1 rcu_nocbs=1 isolcpus=managed_irq,domain,1 irqaffinity=0')
echo
echo 'two CPUs, CPU 1 isolated, 10 s of the osnoise tracer on it: events/s'
row '' interrupts softirqs threads
while read -r name irq softirq thread; do
	row "${name//_/ }" "$(awk -v n="$irq" 'BEGIN { print n / 10 }')" "$(awk -v n="$softirq" 'BEGIN { print n / 10 }')" \
		"$(awk -v n="$thread" 'BEGIN { print n / 10 }')"
	[ "$name" != Assay ] || ours="$irq $thread"
done <<X
Assay $(window 1)
stock_Debian_kernel,_Assay's_init $(window 2)
minimal_Debian $(awk '{ print $7, $8, $9 }' <<<"$plain")
X
awk -v o="$ours" 'BEGIN { split(o, n, " "); printf "Assay: %.1f interrupts/s (budget 1 timer interrupt/s)%s, %d foreign threads (budget 0)%s\n",
	n[1] / 10, n[1] > 10 ? "  OVER" : "", n[2], n[2] > 0 ? "  OVER" : "" }'
