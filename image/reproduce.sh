#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# reproduce.sh userland|kernel: builds it once more, elsewhere, and compares with the cached build, byte by byte.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"

what=${1:?userland or kernel}
case $what in
userland) first=$(readlink -f "$OUT/sysroot") ;;
kernel) first=$(readlink -f "$OUT/kernel") ;;
*) die "$what: neither userland nor kernel" ;;
esac
[ -d "$first" ] || die "nothing built yet to compare with: make $what"
# A longer path than the first build's, so that a path that leaks shows.
second=$(mktemp -d "$CACHE/reproduce-$what.with-a-longer-path.XXXXXX")
trap 'rm -rf "$second" "$second.work"' EXIT
"$here/$what.sh" "$second"

# Not compared: the kernel's build tree (only for out-of-tree modules) and the host's gen_init_cpio.
list() {
	(cd "$1" && find . \( -path ./build -o -path ./bin/gen_init_cpio \) -prune -o -type f -print0 |
		sort -z | xargs -0 sha256sum)
}
list "$first" >"$OUT/log/reproduce-$what.first"
list "$second" >"$OUT/log/reproduce-$what.second"
files=$(wc -l <"$OUT/log/reproduce-$what.first")
[ "$files" -gt 20 ] || die "only $files files to compare in $first: not a build"
if ! diff -u "$OUT/log/reproduce-$what.first" "$OUT/log/reproduce-$what.second"; then
	die "$what: two builds differ in the files above ($first, and once more)"
fi
echo "$what: two builds, $files files, the same bytes" >&2
