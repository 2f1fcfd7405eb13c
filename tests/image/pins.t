#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pins: the same version with other bytes is refused, a version that is gone gives way, STRICT=1 does not let it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
. "$ROOT/tests/image/archive.sh"
fetch() {
	"$ROOT/image/fetch.sh" "$@" 2>&1
}

empty_archive
deb 1.0-1 first
source_package 2.5 1
source_package 2.5 2
publish
echo "deb [trusted=yes] copy:$WORK/repo $codename main" >"$WORK/etc/sources.list"

good=$(hash_of widget_1.0-1_all.deb)
tar=$(hash_of gadget_2.5.orig.tar.gz)
cat >"$PINS" <<EOF
# a comment
deb widget 1.0-1 $good MIT
source gadget 2.5 $tar GPL-2.0-only
EOF
said=$(fetch)
like "the binary package is fetched" "$said" "^deb widget 1.0-1 $good MIT pinned $CACHE/"
like "the upstream archive is fetched" "$said" "^source gadget 2.5 $tar GPL-2.0-only pinned .*gadget_2.5.orig.tar.gz$"
mv "$WORK/repo" "$WORK/away"
is "again, without the archive" "$(fetch)" "$(grep -v '^fetching' <<<"$said")"
is "the user's apt configuration stays" "$(ls -A "$WORK/etc/sources.list.d")" ""
mv "$WORK/away" "$WORK/repo"

wrong=$(sha256sum </dev/null | cut -d' ' -f1)
sed -i "s/$good/$wrong/" "$PINS"
ok "another hash is refused" not fetch widget
said=$(fetch widget)
like "both hashes are shown: the pinned one" "$said" "pinned +$wrong"
like "both hashes are shown: the found one" "$said" "found +$good"

sed -i "s/$wrong/$good/; s/^source/#source/" "$PINS"
rm -rf "$CACHE"
empty_archive
deb 1.0-2 second
deb 1.0-10 third
deb 0.9-1 old
publish
ok "STRICT=1 refuses a replacement" not env STRICT=1 "$ROOT/image/fetch.sh"
like "and says what there is" "$(STRICT=1 fetch)" 'widget 1.0-1 is no longer offered, only 1.0-10, and STRICT=1 refuses'
said=$(fetch)
like "the newest is used instead" "$said" "^deb widget 1.0-10 $(hash_of widget_1.0-10_all.deb) MIT replaces:1.0-1 "
like "with a warning" "$said" '^WARNING: widget 1.0-1 is no longer offered; using 1.0-10'
like "also the next time" "$(fetch)" '^WARNING: widget 1.0-1'

ok "make pins renews them" fetch --renew
is "the new pin" "$(grep ^deb "$PINS")" "deb widget 1.0-10 $(hash_of widget_1.0-10_all.deb) MIT"
like "comments stay" "$(cat "$PINS")" '^# a comment'
is "and is then simply pinned" "$(fetch | grep -c WARNING)" 0

echo "deb gizmo 1 $good MIT" >>"$PINS"
like "no such package at all" "$(fetch)" 'gizmo: the archive offers no version at all'
like "a name that is not pinned" "$(fetch nonsense)" 'no input named nonsense in '

rm "$WORK/etc/sources.list"
cat >"$WORK/etc/sources.list.d/debian.sources" <<EOF
Types: deb
URIs: copy:$WORK/repo
Suites: $codename $codename-updates
Components: main contrib
Trusted: yes

Types: deb
URIs: copy:$WORK/nowhere
Suites: somebody-elses
Components: main
EOF
said=$("$ROOT/image/apt.sh" "$WORK/apt" && cat "$WORK/apt/sources/debian.sources")
like "the other format: source packages too" "$said" '^Types: deb deb-src$'
ok "the other format: only Debian's own suites" not grep -q nowhere <<<"$said"
printf 'deb [arch=amd64] copy:/x %s main # why\ndeb copy:/y other main\n' "$codename" >"$WORK/etc/sources.list"
"$ROOT/image/apt.sh" "$WORK/apt" >/dev/null
is "one line each" "$(cat "$WORK/apt/sources/debian.list")" "deb [arch=amd64] copy:/x $codename main 
deb-src [arch=amd64] copy:/x $codename main "
rm -rf "${WORK:?}/etc"/*
like "no Debian at all: says what to add" "$("$ROOT/image/apt.sh" "$WORK/apt" 2>&1)" "no entry for Debian $codename main in"
done_testing
