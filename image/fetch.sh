#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh [NAME...]: gets the pinned inputs (all, or those named) by package name through apt, checks them, and prints
# one line each: kind name version sha256 licence state path. State is "pinned" or "replaces:VERSION".
# fetch.sh --renew: rewrites the pins with the newest versions that the archive offers.
# Environment: CACHE (required), PINS, STRICT=1.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
pins=${PINS:-$here/pins}
src=${CACHE:?the cache directory}/src
apt=

die() {
	echo "image/fetch.sh: $*" >&2
	exit 1
}

# Downloads are serialised: several makes may share one cache.
mkdir -p "$src"
exec 9>"$src/.lock"
flock -w 1800 9 || die "another build has held $src/.lock for 30 minutes"

# apt_lists [fresh]: makes the private package lists exist; with "fresh", renews them, once a run.
refreshed=
apt_lists() {
	local dir=$CACHE/apt
	apt=$("$here/apt.sh" "$dir")
	if ! [ -e "$dir/fresh" ] || { [ "${1:-}" = fresh ] && ! [ "$refreshed" ]; }; then
		apt-get -qq -c "$apt" update >&2 || die "apt-get update failed (above); is the Debian mirror reachable?"
		touch "$dir/fresh"
		refreshed=1
	fi
}

# offered KIND NAME: every version the archive has, newest first, as the pins write versions.
offered() {
	if [ "$1" = deb ]; then
		apt-cache -c "$apt" show "$2" 2>/dev/null
	else
		apt-cache -c "$apt" showsrc --only-source "$2" 2>/dev/null
	fi | sed -n 's/^Version: //p' | sort -Vru | upstream "$1" | awk '!seen[$0]++'
}

# Debian's 1:1.35.0-4+deb12u1 is upstream's 1.35.0.
upstream() {
	if [ "$1" = deb ]; then cat; else sed 's/^[0-9]*://; s/-[^-]*$//'; fi
}

# slot KIND NAME VERSION: the folder that holds that version, and nothing else.
slot() {
	echo "$src/$2/$(tr ':~' '__' <<<"$3").$1"
}

# file_in SLOT: the one input file in it, if any.
file_in() {
	[ ! -d "$1" ] || find "$1" -maxdepth 1 -type f ! -name '.*' | head -n 1
}

# sha256 FILE: remembers the result beside it, for as long as size and time stay the same.
sha256() {
	local note="${1%/*}/.sha256" now sum
	now=$(stat -c '%s %Y' "$1")
	if [ -e "$note" ] && [ "$(cut -d' ' -f2- "$note")" = "$now" ]; then
		cut -d' ' -f1 "$note"
		return
	fi
	sum=$(sha256sum "$1" | cut -d' ' -f1)
	echo "$sum $now" >"$note"
	echo "$sum"
}

# download KIND NAME VERSION: into its slot.
download() {
	local to tmp debian
	rm -f "$src/.part.err"
	to=$(slot "$@")
	tmp=$src/.part
	rm -rf "$tmp"
	mkdir -p "$tmp"
	echo "fetching $2 $3" >&2
	if [ "$1" = deb ]; then
		(cd "$tmp" && apt-get -qq -c "$apt" download "$2=$3" </dev/null >&2) || die "$2 $3: download failed"
	else
		# Several Debian revisions share one upstream archive; a mirror may lack it beside the newest.
		for debian in $(apt-cache -c "$apt" showsrc --only-source "$2" | sed -n 's/^Version: //p' | sort -Vru); do
			if [ "$(upstream source <<<"$debian")" = "$3" ] &&
			   (cd "$tmp" && apt-get -qq -c "$apt" source --tar-only --only-source "$2=$debian" \
				</dev/null >/dev/null 2>"$tmp.err"); then
				break
			fi
		done
		rm -f "$tmp"/*.asc
	fi
	[ "$(find "$tmp" -type f | wc -l)" = 1 ] ||
		die "$2 $3: download failed, or gave not one file: $(ls "$tmp"; cat "$tmp.err" 2>/dev/null)"
	mkdir -p "${to%/*}"
	rm -rf "$to"
	mv "$tmp" "$to"
}

# replacement KIND NAME VERSION: what is used instead of a version that is gone; decided once, then remembered.
replacement() {
	local note newest
	note=$(slot "$@").replaced
	if ! [ -e "$note" ]; then
		apt_lists fresh
		newest=$(offered "$1" "$2" | head -n 1)
		[ "$newest" ] || die "$2: the archive offers no version at all of this $1 package"
		if offered "$1" "$2" | grep -qxF "$3"; then
			echo "$3"
			return
		fi
		mkdir -p "${note%/*}"
		echo "$newest" >"$note"
	fi
	cat "$note"
}

# one KIND NAME VERSION SHA256 LICENCE: gets and checks one input, prints its line.
one() {
	local version=$3 state=pinned file sum
	file=$(file_in "$(slot "$1" "$2" "$3")")
	if ! [ "$file" ]; then
		apt_lists
		if ! offered "$1" "$2" | grep -qxF "$3"; then
			version=$(replacement "$1" "$2" "$3")
		fi
		if [ "$version" != "$3" ]; then
			state=replaces:$3
			[ "${STRICT:-0}" != 1 ] ||
				die "$2 $3 is no longer offered, only $version, and STRICT=1 refuses that; \`make pins\` renews the pins"
			echo "WARNING: $2 $3 is no longer offered; using $version instead, whose hash nobody has pinned." \
			     "The manifest says so; \`make pins\` makes it the pinned one." >&2
		fi
		file=$(file_in "$(slot "$1" "$2" "$version")")
		if ! [ "$file" ]; then
			download "$1" "$2" "$version"
			file=$(file_in "$(slot "$1" "$2" "$version")")
		fi
	fi
	sum=$(sha256 "$file")
	if [ "$state" = pinned ] && [ "$sum" != "$4" ]; then
		die "$2 $3 has another hash than pinned
  pinned  $4  in $pins
  found   $sum  of $file
Same version, other bytes: find out why before you trust it. Remove the file to fetch it again."
	fi
	echo "$1 $2 $version $sum $5 $state $file"
}

renew() {
	local kind name version licence _ file tmp
	tmp=$(mktemp "$pins.XXXXXX")
	apt_lists fresh
	while read -r kind name version _ licence; do
		if [ "${kind:-#}" = "#" ] || [[ $kind == \#* ]]; then
			continue
		fi
		version=$(offered "$kind" "$name" | head -n 1)
		[ "$version" ] || die "$name: the archive offers no version at all of this $kind package"
		file=$(file_in "$(slot "$kind" "$name" "$version")")
		if ! [ "$file" ]; then
			download "$kind" "$name" "$version"
			file=$(file_in "$(slot "$kind" "$name" "$version")")
		fi
		printf '%s %s %s %s %s\n' "$kind" "$name" "$version" "$(sha256 "$file")" "$licence"
	done <"$pins" >"$tmp"
	{ grep '^#' "$pins"; cat "$tmp"; } >"$tmp.new"
	rm -f "$tmp"
	diff -u "$pins" "$tmp.new" >&2 || true
	chmod 644 "$tmp.new"
	mv "$tmp.new" "$pins"
}

if [ "${1:-}" = --renew ]; then
	renew
	exit
fi
for name; do
	awk -v n="$name" '$2 == n { found = 1 } END { exit !found }' "$pins" || die "no input named $name in $pins"
done
while read -r kind name version sum licence; do
	if [ "${kind:-#}" = "#" ] || [[ $kind == \#* ]] || { [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; }; then
		continue
	fi
	one "$kind" "$name" "$version" "$sum" "$licence"
done <"$pins"
