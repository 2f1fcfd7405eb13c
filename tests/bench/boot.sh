#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the image costs: its sizes, and on a node with one CPU under QEMU's instruction-count clock (so that this machine's
# load does not show) the time from kernel entry to the question for the first cell, and the memory in use then.
# usage: boot.sh       (root; after `make image lab`)
set -euo pipefail
cd "$(dirname "$0")/../.."
vlab=lab/virtual/lab.sh
dir=out/bench/boot
trap '[ -z "${serve:-}" ] || kill -KILL "$serve" 2>/dev/null; "$vlab" down "$dir" 2>/dev/null' EXIT

budget() # WHAT VALUE LIMIT UNIT
{
	printf '%-58s %10s %s (budget %s)%s\n' "$1" "$2" "$4" "$3" \
		"$(awk -v v="$2" -v l="$3" 'BEGIN { if (v > l) print "  OVER" }')"
}

boot() # NIC SYSTEM-DISK
{
	"$vlab" down "$dir" 2>/dev/null
	rm -rf "$dir"
	mkdir -p "$dir"
	"$vlab" up "$dir" --nodes 1 --cpus 1 --nic "$1" --accel tcg --system-disk "$2" 2>"$dir/up.log"
	# The clock charges a string instruction for each byte that it moves, which no real CPU does; without the feature bits the
	# kernel copies and clears in words.
	printf '%s\n' -icount shift=2,sleep=on -cpu max,-erms,-fsrm >>"$dir/n1.args"
	"$vlab" lab-file "$dir" >"$dir/lab.yaml"
	"$vlab" exec "$dir" out/assay serve "$dir/lab.yaml" --db "$dir/assay.db" --image out >"$dir/serve.log" 2>&1 &
	serve=$!
	"$vlab" start "$dir" n1
	local end=$((SECONDS + 240)) asked=''
	until [ -n "$asked" ]; do
		[ $SECONDS -lt $end ] || { echo "bench: n1 did not ask for a cell; see $dir" >&2; exit 1; }
		read -r -t 0.5 <> <(:) || :
		asked=$(sed -n 's/^assay *\([0-9.]*\): asks for its first cell.*/\1/p' "$dir/n1.serial" 2>/dev/null | head -n 1)
	done
	budget "kernel entry to first cell asked for: $1 ports, $2 disk" "$asked" 1.5 's of guest time'
	budget "memory in use when ready: $1 ports, $2 disk" \
		"$(sqlite3 "$dir/assay.db" "SELECT round(json_extract(inventory, '\$.memory_used_ready_bytes') / 1e6, 1) FROM boots WHERE inventory IS NOT NULL")" 64 'MB'
	kill -KILL "$serve"
	wait "$serve" 2>/dev/null || :
	serve=
	"$vlab" down "$dir"
}

budget 'kernel' "$(awk -v b="$(stat -c %s out/vmlinuz)" 'BEGIN { printf "%.2f", b / 1e6 }')" 4.5 MB
budget 'initramfs with every driver listed' "$(awk -v b="$(stat -c %s out/initramfs.cpio.*)" 'BEGIN { printf "%.2f", b / 1e6 }')" 6 MB
boot virtio virtio
boot ixgbe virtio
boot ixgbe sata
