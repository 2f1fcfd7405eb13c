#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# assay plan --precision from a pilot run, and precision: in plans.
. "$(dirname "$0")/../tap.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
db=$dir/pilot.db
# Six boots of four samples; samples deviate by about 1.3 %, boots by 0.8 %.
awk 'BEGIN {
	print "level,boot,mb_per_s"
	for (b = 1; b <= 6; b++) for (s = 0; s < 4; s++) printf "a,%d,%.3f\n", b, 800 + (b * 7 % 5 - 2) * 6 + ((s * 3 + b) % 4 - 1.5) * 8
}' >"$dir/smoke.csv"
out/assay import "$dir/smoke.csv" --db "$db" >"$dir/run"
try() { status=0; said=$("$@" 2>&1) || status=$?; }

try out/assay plan tests/matrix/smoke.yaml --precision 1% --db "$db"
is 'an imported run is no pilot: it has no times' "$status" 2
like 'it is said' "$said" 'imported, which tells no times'
# As if measured here: 240 s from block to block, 60 s a sample.
sqlite3 "$db" "UPDATE runs SET imported = NULL, samples = 4, started_unix_ns = 1;
	UPDATE attempts SET opened_unix_ns = 1 + ((boot - 1) * 480 + 240 + (sample - 1) * 60) * 1000000000;
	UPDATE attempts SET closed_unix_ns = opened_unix_ns + 60000000000"
try out/assay plan tests/matrix/smoke.yaml --precision 1% --db "$db"
is 'the pilot is found by its name' "$status" 0
# T1^2 and T2^2 by mean squares, here in awk; samples a boot: ceil(sqrt(240 / 60 * T1^2 / T2^2))
wanted=$(awk -F, 'NR > 1 { n[$2]++; sum[$2] += $3; squares[$2] += $3 * $3; all += $3; total++ }
	END {
		for (b in n) { within += squares[b] - sum[b] ^ 2 / n[b]; between += n[b] * (sum[b] / n[b] - all / total) ^ 2; boots++ }
		t1 = within / (total - boots); t2 = (between / (boots - 1) - t1) / 4
		r = sqrt(4 * t1 / t2); printf "%.2f %% +%.2f %% +60.0 s +%d ", 100 * sqrt(t1) / (all / total), 100 * sqrt(t2) / (all / total), r == int(r) ? r : int(r) + 1
	}' "$dir/smoke.csv")
like 'deviations, cost and samples a boot are as worked out here' "$said" "^  1 +$wanted"
like 'a boot costs what it cost' "$said" '^A boot costs 240 s \(mean of 6'
like 'what to write to the plan' "$said" '^  repeat: \{boots: [0-9]+, samples: [0-9]+\}$'
boots() { sed -n 's/^  repeat: {boots: \([0-9]*\),.*/\1/p' <<<"$said"; }
one=$(boots)
try out/assay plan tests/matrix/smoke.yaml --precision 0.5% --db "$db" --pilot "$(cat "$dir/run")"
ok 'half the precision takes more than three times the boots of the mean' test "$(boots)" -gt $((3 * one - one / 2))
try out/assay plan tests/matrix/smoke.yaml --precision 10% --db "$db"
is 'never less than six boots' "$(boots)" 6
sqlite3 "$db" 'DELETE FROM results WHERE boot > 1; DELETE FROM assignments WHERE boot > 1; DELETE FROM attempts WHERE boot > 1'
try out/assay plan tests/matrix/smoke.yaml --precision 1% --db "$db"
is 'one boot says nothing of boots' "$status/$(grep -c 'nothing of how much boots differ' <<<"$said")" 2/1
for wrong in '--precision x' '--precision 0%' '--pilot x' "--precision 1% --db $dir/none.db" "--precision 1% --db $db --pilot nosuch"; do
	# shellcheck disable=SC2086 # words are arguments
	try out/assay plan tests/matrix/smoke.yaml $wrong
	ok "plan ${wrong//$dir\//} is refused" test "$status" -ge 2
done

# in plans
plan()
{
	printf '%s\n' 'schema_version: 1' 'question: q' 'nodes: 1' 'base: {stack: raw}' 'workloads: [{copy: {bs: 1MiB, size: 8MiB}}]' "$@" >"$dir/p.yaml"
	try out/assay plan "$dir/p.yaml"
}
plan 'repeat: {boots: 9}' 'precision: 1.5 %'
is 'a precision in a plan' "$status" 0
plan 'repeat: {boots: 5}' 'precision: 1%'
is 'five boots are too few for one' "$status/$(grep -c 'p.yaml:7:.*repeat: {boots: 7} or more' <<<"$said")" 2/1
plan 'repeat: {boots: 6}' 'precision: 1%'
is 'and so are six: a cell is left by its 97.5 % interval' "$status" 2
plan 'repeat: {boots: 7}' 'precision: 1%'
is 'seven are not' "$status" 0
plan 'repeat: {boots: 7}' 'precision: 1'
is 'it is in per cent' "$status/$(grep -c 'p.yaml:7:' <<<"$said")" 2/1
plan 'repeat: {boots: 7}' 'precision: 60%'
is 'and at most half' "$status/$(grep -c 'at most 50 %' <<<"$said")" 2/1
done_testing
