# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# For the tests of the virtual lab: a folder of its own, taken down whatever happens.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LAB=$ROOT/lab/virtual/lab.sh
# shellcheck source=tests/tap.sh
. "$ROOT/tests/tap.sh"

[ "$(id -u)" = 0 ] || {
	echo "Bail out! the virtual lab needs root"
	exit 1
}
WORK=$(mktemp -d)
LABS=("$WORK/lab")

finish() {
	local lab
	for lab in "${LABS[@]}"; do
		"$LAB" down "$lab" >/dev/null 2>&1
	done
	rm -rf "$WORK"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

# up DIR [OPTION…]: no kernel to probe KVM with, so emulation
up() {
	"$LAB" up "$1" --kernel /nonexistent "${@:2}"
}

namespace_of() {
	# shellcheck source=lab/virtual/sh/common.sh
	(. "$ROOT/lab/virtual/sh/common.sh" && lab_open "$1" && echo "$LAB_NS")
}

# alive PID…: prints those that still run; the dead whose parent does not care are dead
alive() {
	local pid
	for pid; do
		case $(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null) in
		'' | Z | X) ;;
		*) printf '%s ' "$pid" ;;
		esac
	done
}

# gone DIR PID…: what `down` has to leave behind: nothing
gone() {
	local namespace
	namespace=$(namespace_of "$1")
	shift
	if [ -e "/run/netns/$namespace" ]; then
		echo "namespace $namespace is still there"
		return 1
	fi
	if [ -n "$(alive "$@")" ]; then
		echo "still running: $(alive "$@")"
		return 1
	fi
}

# must NAME COMMAND…: as ok, but what follows makes no sense without it
must() {
	local failed=$tap_failed
	ok "$@"
	[ "$tap_failed" = "$failed" ] || {
		echo "Bail out! $1"
		exit 1
	}
}

not() {
	! "$@"
}
