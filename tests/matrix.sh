#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every plan of tests/matrix, whole, on the nodes of a virtual lab: each cell on one boot, one sample, at a scale that the
# nodes' disks have room for (below). A plan passes if its run came to its end with a valid sample of each cell, but for
# cells that are refused for a reason that tests/matrix.refused expects, with the words expected there.
# A line a plan, and all of them at the end: cells, valid, invalid and failed samples, cells refused, minutes.
# What passed is kept in out/matrix with the hash of what it was made of: interrupted, it goes on where it was; --anew
# measures all again.
# usage: matrix.sh [--anew] [PLAN…]       (root; after `make image layers lab`; default: all)
. "$(dirname "$0")/boot/lib.sh"
[ "${1:-}" != --anew ] || { anew=1; shift; }
[ $# -gt 0 ] || set -- tests/matrix/*.yaml
KEPT=out/matrix
RUN_SECONDS=5400
mkdir -p "$KEPT"

# settings PLAN: scale, bytes of the nodes' disks, how many legs. Copies of 300 GiB at a 5,000th are some 60 MiB.
settings()
{
	case $1 in
	bonding-pairs) echo 1/5000 268435456 4 ;;
	small-files | small-files-read-ahead) echo 1/50 1073741824 2 ;; # 138 files in 29 folders; mkfs.xfs asks for 300 MiB
	filesystem-options) echo 1/5000 1073741824 2 ;;
	read-ahead) echo 1/500 268435456 2 ;;     # 20 MiB, many times the longest read-ahead
	*) echo 1/5000 268435456 2 ;;
	esac
}

# of_run SQL: about the run, whose name is in $run
of_run()
{
	sql "WITH result AS (SELECT * FROM attempts WHERE run = '$run') $1"
}

# unexpected NAME: cells of the run without a sample, but for those that matrix.refused tells
unexpected()
{
	local label message
	of_run "SELECT c.label, coalesce(json_extract(c.error, '\$.message'), 'no sample, and no reason') FROM cells c WHERE run = '$run'
		AND NOT EXISTS (SELECT 1 FROM result r WHERE r.cell_id = c.cell_id AND r.state = 'valid')" |
		while IFS='|' read -r label message; do
			grep -Ev '^(#|$)' tests/matrix.refused | while read -r plan words; do
				[ "$plan" = "$1" ] && grep -Eq -- "$words" <<<"$message" && echo expected
			done | grep -q expected || echo "$label: $message"
		done
}

# measure PLAN NAME SCALE BYTES LEGS: a lab of its own, which ends with the subshell this runs in
measure()
{
	local started=$SECONDS run
	lab_new "matrix-$2" --disk-bytes "$4" --legs "$5"
	serve_start
	"$VLAB" start "$LAB" n1 n2
	run_plan "$1" --scale "$3" --boots 1 --samples 1
	run=$(sql 'SELECT run FROM runs')
	is "$2: the run came to its end (exit code $RUN_STATUS)" "$(sql 'SELECT ended_unix_ns IS NOT NULL AND error IS NULL FROM runs')" 1
	is "$2: there are cells" "$(sql 'SELECT count(*) > 0 FROM cells')" 1
	is "$2: every cell has its sample, or is refused as expected" "$(unexpected "$2")" ''
	is "$2: no warning or error in any kernel log" "$(kernel_faults)" ''
	of_run "SELECT printf('%-24s %-7s %5d %6d %8d %7d %8d %5.1f', '$2', '$3', (SELECT count(*) FROM cells), (SELECT count(*) FROM result WHERE
		state = 'valid'), (SELECT count(*) FROM result WHERE state = 'invalid'), (SELECT count(*) FROM result WHERE state IN ('failed', 'abandoned')),
		(SELECT count(*) FROM cells c WHERE failed), $((SECONDS - started)) / 60.0)" >"$KEPT/$2.line"
	sed 's/^/# /' "$KEPT/$2.line"
	of_run "SELECT DISTINCT '#   ' || json_extract(error, '\$.message') FROM cells WHERE failed"
	cp "$LAB/run.log" "$KEPT/$2.log"
	[ "$tap_failed" -eq 0 ] || exit 1
	sql ".backup '$KEPT/$2.db'"
}

# made_of PLAN SCALE BYTES LEGS: the hash of all that a result depends on
made_of()
{
	cat "$1" out/manifest.json out/assay tests/matrix.refused <(echo "$2 $3 $4") | sha256sum | cut -d' ' -f1
}

failed=()
for plan in "$@"; do
	name=$(basename "$plan" .yaml)
	read -r scale bytes legs < <(settings "$name")
	made=$(made_of "$plan" "$scale" "$bytes" "$legs")
	if [ -z "${anew:-}" ] && [ "$(cat "$KEPT/$name.passed" 2>/dev/null)" = "$made" ]; then
		echo "# $name passed before, with the same image, layers and program"
		continue
	fi
	rm -f "$KEPT/$name".*
	if (measure "$plan" "$name" "$scale" "$bytes" "$legs"); then
		echo "$made" >"$KEPT/$name.passed"
	else
		failed+=("$name")
	fi
done
echo '# plan                     scale   cells  valid  invalid  failed  refused   min'
for plan in "$@"; do
	sed 's/^/# /' "$KEPT/$(basename "$plan" .yaml).line" 2>/dev/null
done
echo "# ${#failed[@]} of $# plans failed${failed[*]:+: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ]
