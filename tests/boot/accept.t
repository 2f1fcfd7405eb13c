#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Acceptance on a real node: what was ordered passes; one boot decides no figure; a fact and figures that are missed fail,
# though another passes. The exit codes are those of `assay run` and, again, of `assay report`.
. "$(dirname "$0")/lib.sh"
lab_new accept
serve_start
"$VLAB" start "$LAB" n1

# demand NAME BOOTS CRITERION…: runs the plan with these, and keeps what is said of acceptance; its exit code is in RUN_STATUS
demand()
{
	local plan=$LAB/$1.yaml
	{
		cat tests/boot/accept.yaml
		echo "repeat: {boots: $2, samples: 1}"
		echo 'acceptance:'
		printf '  - {%s}\n' "${@:3}"
	} >"$plan"
	run_plan "$plan"
	said=$(sed -n '/^Acceptance: /,/^$/p' "$LAB/run.log")
	out/assay report --db "$DB" >/dev/null
	is "$1: the report ends as the run did" $? "$RUN_STATUS"
	out/assay report --db "$DB" --json >"$LAB/$1.json"
}

demand undecided 1 'metric: storage-nics, at_least: 2' 'metric: throughput, at_least: 0.01 MB/s, workload: 1'
is 'one boot: nothing fails, but a figure is undecided: exit code 5' "$RUN_STATUS" 5
like 'it says so' "$said" '^Acceptance: INCONCLUSIVE \([0-9]+ pass, 0 fail, 1 inconclusive'
like 'and how many boots it takes' "$said" '^  inconclusive  throughput at least 0\.01 MB/s: cell 1, .* on n1: [0-9.]+ MB/s.*; an interval takes 5 more boots'
like 'a fact needs no interval' "$said" '^  pass          storage-nics at least 2: node n1: 2$'

demand facts 1 'metric: storage-nics, at_least: 2' 'metric: memory, at_least: 256 MiB' 'metric: failed-samples, at_most: 0'
is 'facts as ordered: exit code 0' "$RUN_STATUS" 0
like 'it says so' "$said" '^Acceptance: PASS \(3 pass, 0 fail, 0 inconclusive'
is 'as JSON: the verdict' "$(jq -r '.run.acceptance.verdict' "$LAB/facts.json")" pass

demand missed 6 'metric: storage-nics, at_least: 3' 'metric: throughput, at_least: 0.01 MB/s, workload: 1' \
	'metric: throughput, at_least: 900 GB/s, workload: 1' 'metric: latency-p99, at_most: 1 ns, workload: 2'
is 'six boots, a fact and two figures are missed: exit code 4' "$RUN_STATUS" 4
like 'it says so' "$said" '^Acceptance: FAIL \(1 pass, 3 fail, 0 inconclusive'
like 'the fact, and the node' "$said" '^  fail          storage-nics at least 3: node n1: 2$'
like 'a figure that passes, with its interval over the boots' "$said" \
	'^  pass          throughput at least 0\.01 MB/s: cell 1, .* MB/s \([0-9.]+ MB/s to [0-9.]+ MB/s at 96\.9 %, 6 boots\)'
like 'a figure that fails' "$said" '^  fail          latency-p99 at most 1 ns: cell 2, '
is 'as JSON: verdict, boots and interval of each figure' \
	"$(jq -c '[.run.acceptance.criteria[] | select(.boots) | [.metric, .verdict, .boots, .low <= .value, .value <= .high]]' "$LAB/missed.json")" \
	'[["throughput","pass",6,true,true],["throughput","fail",6,true,true],["latency-p99","fail",6,true,true]]'
is 'every boot was one of its own' "$(sql "SELECT count(DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.boot_id')) FROM results
	WHERE role = 'measure' AND verdict = 'valid' AND run = (SELECT run FROM runs ORDER BY number DESC LIMIT 1)")" 6
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
