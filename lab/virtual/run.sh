#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source-path=SCRIPTDIR
# make run: two bare nodes boot from the network, measure a plan, and the table is printed.
# usage: run.sh [DIR [PLAN [OPTION of lab.sh up…]]]     (default: out/virtual, tests/matrix/smoke.yaml)
# Exit 0: every cell has its valid samples, and no system disk was touched.
set -euo pipefail
# shellcheck source=sh/driver.sh
. "$(dirname "${BASH_SOURCE[0]}")/sh/driver.sh"

dir=$(realpath -m "${1:-$ROOT/out/virtual}")
plan=${2:-$ROOT/tests/matrix/smoke.yaml}
shift $(($# < 2 ? $# : 2))
# A plan has its own deadlines; this one only keeps a broken run from lasting for ever.
limit_seconds=${RUN_LIMIT_SECONDS:-3600}

main() {
	local status=0
	driver_check run
	[ -f "$plan" ] || fail "there is no plan $plan"
	mkdir -p "$dir"
	trap finish EXIT
	trap 'echo; echo "run.sh: stopped; the lab goes down, and the run with it" >&2; exit 130' INT TERM HUP
	database_aside
	driver_up "$dir" "$@"
	# shellcheck disable=SC2046
	"$LAB" start "$dir" $(nodes)
	# In the background, since a shell that waits for a foreground command does not hear signals.
	timeout "$limit_seconds" "$ASSAY" run "$plan" --db "$dir/assay.db" --group pair1 --wipe "$(token)" &
	run=$!
	wait $run || status=$?
	[ $status != 124 ] || echo "run.sh: the run took more than $limit_seconds s" >&2
	report || status=1
	"$LAB" check-system-disks "$dir" || status=1
	where $status
	return $status
}

finish() {
	[ -z "${run:-}" ] || kill "$run" 2>/dev/null || :
	driver_down "$dir"
}

# A run that was cut off would go on as soon as its nodes say hello: this one starts with a store of its own.
database_aside() {
	local suffix
	"$LAB" down "$dir"
	for suffix in '' -wal -shm; do
		rm -f "$dir/assay.previous.db$suffix"
		[ ! -e "$dir/assay.db$suffix" ] || mv "$dir/assay.db$suffix" "$dir/assay.previous.db$suffix"
	done
}

# The disks were made a moment ago by this script, which is why it says yes for the operator.
token() {
	"$ASSAY" plan "$plan" --lab "$dir/lab.yaml" --group pair1 | sed -n 's/.* --wipe \([0-9a-f]*\)$/\1/p'
}

nodes() {
	sed -n 's/^  \(n[0-9]*\):$/\1/p' "$dir/lab.yaml"
}

report() {
	local status=0
	"$ASSAY" report --db "$dir/assay.db" >"$dir/report.txt" || status=$?
	"$ASSAY" report --db "$dir/assay.db" --html "$dir/report.html" >/dev/null || status=$?
	return $status
}

where() {
	cat <<X
report    $dir/report.txt
page      $dir/report.html
again     $ASSAY report --db $dir/assay.db   (--html FILE, --csv, --json, --rows FACTOR: see --help)
lab       $dir/lab.json, console logs $dir/n*.serial, server log $dir/serve.log
X
	[ "$1" = 0 ] || echo "run.sh: FAILED; the logs above say more" >&2
}

main "$@"
