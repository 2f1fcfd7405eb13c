#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check.sh CONFIG FRAGMENT...: names every requested symbol that did not survive into CONFIG; fails if any.
# A symbol vanishes without a word when a parent is missing, or changes value when something selects it.
set -eu

config=$1
shift

awk '
function value(line) { return substr(line, index(line, "=") + 1) }
FILENAME == config {
	if ($0 ~ /^CONFIG_[A-Z0-9a-z_]+=/)
		have[substr($0, 1, index($0, "=") - 1)] = value($0)
	next
}
/^CONFIG_/ {
	name = substr($0, 1, index($0, "=") - 1)
	want = value($0)
	got = name in have ? have[name] : "n"
	requested++
	if (got != want) {
		printf "%s:%d: %s: wanted %s, got %s%s\n", FILENAME, FNR, name, want, got,
		       got == "n" ? " (a parent is missing, or this kernel has no such symbol)" : ""
		lost++
	}
	if (name in seen && seen[name] != want) {
		printf "%s:%d: %s: wanted %s here but %s elsewhere\n", FILENAME, FNR, name, want, seen[name]
		lost++
	}
	seen[name] = want
}
/^[^#]/ && !/^CONFIG_[A-Z0-9a-z_]+=./ {
	printf "%s:%d: neither a comment nor CONFIG_NAME=value: %s\n", FILENAME, FNR, $0
	lost++
}
END {
	if (!requested) {
		print "no symbol requested"
		exit 1
	}
	if (lost) {
		printf "%d of %d requested symbols are not in force\n", lost, requested
		exit 1
	}
}
' config="$config" "$config" "$@" >&2
