# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh: what the recipes share. Sourced by bash; expects CACHE and OUT, absolute.
# shellcheck shell=bash

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
: "${CACHE:?the cache directory}" "${OUT:?the output directory}"
mkdir -p "$CACHE" "$OUT/log"

. "$here/reproducible.env"

# shellcheck disable=SC2034
jobs=${JOBS:-$(nproc)}

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

elapsed() {
	printf '%d:%02d' $((SECONDS / 60)) $((SECONDS % 60))
}

# ticker LABEL LOG [LINES]: a line that moves, while the step runs on a terminal; with the number of lines that the log
# usually comes to, also how far it is. It ends with the step's shell, even one that a Ctrl-C ended.
ticker() {
	local lines
	while sleep 1 && kill -0 $$ 2>/dev/null; do
		lines=$(wc -l <"$2")
		printf '\r\033[K%s  %s  %s' "$(elapsed)" "$1" \
			"${3:+$((lines * 100 / $3 < 99 ? lines * 100 / $3 : 99)) %}" >&2
	done
}

# step LABEL LOG COMMAND...: runs it with all output in out/log/LOG.log; says what runs and for how long; when it
# fails, shows the end of the log and where it is. $expect, if set, is how many lines the log usually has.
step() {
	local label=$1 log=$OUT/log/$2.log tick="" rc=0
	shift 2
	SECONDS=0
	: >"$log"
	if [ -t 2 ]; then
		ticker "$label" "$log" "${expect:-}" &
		tick=$!
	else
		echo "$(elapsed)  $label" >&2
	fi
	# errexit must hold inside the step, so it is not the condition of anything.
	set +e
	( set -e; "$@" ) >"$log" 2>&1 </dev/null
	rc=$?
	set -e
	if [ "$tick" ]; then
		kill "$tick"
		wait "$tick" 2>/dev/null || true
		printf '\r\033[K' >&2
	fi
	if [ $rc != 0 ]; then
		echo "$label failed after $(elapsed); the end of $log:" >&2
		tail -n 20 "$log" >&2
		exit 1
	fi
	echo "$(elapsed)  $label: done" >&2
}

# compilers: one line each for what builds, part of every key and of the manifest.
compilers() {
	gcc --version | head -n 1
	ld --version | head -n 1
}

# inputs [NAME...]: the resolved inputs' lines of fetch.sh, without the path of this machine.
inputs() {
	"$here/fetch.sh" "$@" >/dev/null # the first call may warn, and must not be cut short by a pipe
	"$here/fetch.sh" "$@" 2>/dev/null | cut -d' ' -f1-6
}

# input_file NAME: the fetched file.
input_file() {
	"$here/fetch.sh" "$1" 2>/dev/null | cut -d' ' -f7-
}

# key: 16 digits of the hash of standard input.
key() {
	sha256sum | cut -c1-16
}

# locked NAME: holds the lock of one build, so that two makes sharing the cache do not build the same twice.
locked() {
	exec 8>"$CACHE/.lock-$1"
	flock -n 8 || {
		echo "another make builds $1; waiting for it" >&2
		flock -w 3600 8 || die "waited an hour for $CACHE/.lock-$1"
	}
}

# linux_source: unpacks the kernel's source into the cache, once; sets $linux to it.
linux_source() {
	local file sum
	file=$(input_file linux-source-6.1)
	sum=$(inputs linux-source-6.1 | cut -d' ' -f4 | cut -c1-16)
	linux=$CACHE/linux-$sum
	[ -d "$linux" ] && return
	locked "linux-$sum"
	[ -d "$linux" ] && return
	step "kernel source: unpack" linux-source unpack_linux "$file" "$linux"
}

unpack_linux() {
	rm -rf "$2.part"
	mkdir -p "$2.part"
	dpkg-deb --fsys-tarfile "$1" | tar -x -O --wildcards './usr/src/linux-source-*.tar.xz' |
		tar -xJ -C "$2.part" --strip-components=1
	mv "$2.part" "$2"
}
