# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# TAP for shell tests: source it, call ok/is/like, end with done_testing.
tap_count=0
tap_failed=0

# ok NAME COMMAND…: passes if the command succeeds; its output is shown if not
ok()
{
	local name=$1 output
	shift
	tap_count=$((tap_count + 1))
	if output=$("$@" 2>&1); then
		echo "ok $tap_count - $name"
	else
		echo "not ok $tap_count - $name"
		tap_failed=$((tap_failed + 1))
		printf '%s\n' "command: $*" "$output" | sed 's/^/# /' >&2
	fi
}

# is NAME GOT WANTED
is()
{
	tap_count=$((tap_count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $tap_count - $1"
	else
		echo "not ok $tap_count - $1"
		tap_failed=$((tap_failed + 1))
		printf 'got:    %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /' >&2
	fi
}

# like NAME TEXT PATTERN: TEXT has a line that matches the extended regular expression
like()
{
	tap_count=$((tap_count + 1))
	if grep -Eq -- "$3" <<<"$2"; then
		echo "ok $tap_count - $1"
	else
		echo "not ok $tap_count - $1"
		tap_failed=$((tap_failed + 1))
		printf 'no line like: %s\nin:\n%s\n' "$3" "$2" | tail -n 60 | sed 's/^/# /' >&2
	fi
}

done_testing()
{
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
}

# wait_for SECONDS WHAT COMMAND…: polls until the command succeeds; 1 and a line on stderr when the time is over
wait_for()
{
	local end=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "# gave up waiting for: $what" >&2
			return 1
		fi
		sleep 0.3
	done
}
