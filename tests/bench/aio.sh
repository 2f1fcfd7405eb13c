#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# User instructions for each 4 KiB I/O, random, direct, depth 32, one thread, its latency recorded: what callgrind
# counts for 24,000 minus for 4,000 I/Os. Budget: 600. Beside it fio's, where fio is installed.
# usage: aio.sh PROGRAM
set -euo pipefail
program=$1
budget=600
target=out/bench-aio.img
trap 'rm -f "$target"' EXIT
mkdir -p out
dd if=/dev/urandom of="$target" bs=1M count=64 conv=fsync status=none

# Functions are called by name, which shellcheck cannot see.
# shellcheck disable=SC2317
# User instructions of "$@".
instructions() {
	local log
	log=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null) || { echo "$log" >&2; return 1; }
	awk '/Collected/ { print $4 }' <<< "$log"
}

# shellcheck disable=SC2317
ours() { # ENGINE OP IOS
	instructions "$program" "$1" "$target" "$2" "$3" 32 1
}

# shellcheck disable=SC2317
fios() { # ENGINE OP IOS
	instructions fio --name=bench --filename="$target" --ioengine="$1" --rw="rand$2" --direct=1 --bs=4k --iodepth=32 \
		--thread --size=64m --io_size=$(($3 * 4096)) --norandommap --refill_buffers=0
}

each() { # WHO ENGINE OP
	local many few
	many=$("$1" "$2" "$3" 24000)
	few=$("$1" "$2" "$3" 4000)
	echo $(((many - few) / 20000))
}

status=0
for engine in libaio io_uring; do
	for op in read write; do
		if ! mine=$(each ours "$engine" "$op"); then
			echo "$engine $op: cannot be run here"
			status=1
			continue
		fi
		line="$engine $op: $mine instructions an I/O (budget $budget)"
		[ "$mine" -le "$budget" ] || status=1
		if command -v fio >/dev/null && [ "$engine" = libaio ]; then
			line+=", fio $(fio --version | sed 's/^fio-//'): $(each fios "$engine" "$op")"
		fi
		echo "$line"
	done
done
exit $status
