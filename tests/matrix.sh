#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every plan of tests/matrix on the nodes of one virtual lab, one boot and one sample of each cell, copies at a 5,000th of
# their sizes (the nodes' disks have 256 MiB). A plan passes if each of its cells was measured, or was refused by node or
# kernel as unsupported (its reason is told), and the run itself came to its end. Takes hours: a nightly job.
# usage: matrix.sh [PLAN…]       (root; after `make image lab`; default: all)
. "$(dirname "$0")/boot/lib.sh"
lab_new matrix
serve_start
"$VLAB" start "$LAB" n1 n2
[ $# -gt 0 ] || set -- tests/matrix/*.yaml

# unfinished RUN: cells that have no sample in some block, and were not refused for good
unfinished()
{
	sql "SELECT count(*) FROM visits v JOIN cells c USING (run, cell_id) WHERE v.run = '$1' AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.run = v.run AND a.cell_id = v.cell_id
		AND a.boot = v.boot AND a.state = 'valid') AND coalesce(json_extract(c.error, '\$.scope'), '') NOT IN ('cell', 'unsupported')"
}

for plan in "$@"; do
	name=$(basename "$plan" .yaml)
	# Only copies scale; of others the plan's own time counts.
	timeout 7200 out/assay run "$plan" --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token "$plan" --scale 1/5000)" --scale 1/5000 --boots 1 --samples 1 >"$LAB/$name.log" 2>&1
	status=$?
	run=$(sql "SELECT run FROM runs ORDER BY number DESC LIMIT 1")
	ok "$name: the run came to its end (exit code $status)" test "$(sql "SELECT ended_unix_ns IS NOT NULL AND error IS NULL FROM runs WHERE run = '$run'")" = 1
	is "$name: cells without a sample" "$(unfinished "$run")" 0
	ok "$name: something was measured" test "$(sql "SELECT count(*) > 0 FROM results WHERE run = '$run' AND verdict = 'valid'")" = 1
	sql "SELECT '# $name: ' || label || ': ' || json_extract(error, '\$.message') FROM cells WHERE run = '$run' AND failed"
done
done_testing
