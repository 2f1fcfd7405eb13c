#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The workload copy beside GNU dd: instructions for the same bytes, and time in pairs on the same target.
# usage: copy.sh PROGRAM [TARGET]    TARGET: a file or block device that may be overwritten (1 GiB)
set -euo pipefail
copy=$1
target=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"; [ -n "${2:-}" ] || rm -f out/bench-copy.img' EXIT
if [ -z "$target" ]; then
	target=out/bench-copy.img
	dd if=/dev/zero of="$target" bs=1M count=1024 conv=fsync status=none
fi

# User instructions of "$@".
instructions() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null | awk '/Collected/ { print $4 }'
}

# Both are run with two sizes: the difference is free of start and end. The budget is 1 % of a CPU second more than
# dd takes; a second is taken as 2e9 instructions, which is slow for any CPU of today.
echo "user instructions a record, and for 4 GiB (budget: dd's + 20000000):"
status=0
for bs in 32768 4194304; do
	small=$((bs * 8)) large=$((bs * 40))
	ours=$((($(instructions "$copy" /dev/null "$bs" "$large") - $(instructions "$copy" /dev/null "$bs" "$small")) / 32))
	dds=$((($(instructions dd if=/dev/zero of=/dev/null bs="$bs" count=40 status=none) - \
		$(instructions dd if=/dev/zero of=/dev/null bs="$bs" count=8 status=none)) / 32))
	records=$((4294967296 / bs))
	over=$(((ours - dds) * records))
	echo "  bs=$bs: copy $ours, dd $dds; for 4 GiB: copy $((ours * records)), dd $((dds * records)), difference $over"
	[ "$over" -le 20000000 ] || status=1
done

# dd says seconds with six digits at least.
dd_ns() {
	dd if=/dev/zero of="$target" conv=notrunc "$@" 2>&1 | awk '/copied/ { for (i = 1; i < NF; i++) if ($(i + 1) == "s,") printf "%d\n", $i * 1e9 }'
}

echo "time in pairs on $target (copy / dd, alternating who is first):"
for bs in 32768 4194304; do
	size=$((bs == 32768 ? 134217728 : 1073741824))
	: > "$work/ratios"
	for pair in $(seq 1 15); do
		if [ $((pair % 2)) = 1 ]; then
			read -r _ ours _ < <("$copy" "$target" "$bs" "$size" direct)
			dds=$(dd_ns bs="$bs" count=$((size / bs)) oflag=direct)
		else
			dds=$(dd_ns bs="$bs" count=$((size / bs)) oflag=direct)
			read -r _ ours _ < <("$copy" "$target" "$bs" "$size" direct)
		fi
		echo "$ours $dds" | awk '{ printf "%.5f\n", $1 / $2 }' >> "$work/ratios"
	done
	sort -n "$work/ratios" | awk -v bs="$bs" '{ r[NR] = $1 } END { printf "  bs=%d direct: median %.4f, quartiles %.4f %.4f, %d pairs\n", bs, r[int((NR + 1) / 2)], r[int((NR + 3) / 4)], r[int((3 * NR + 3) / 4)], NR }'
done
exit $status
