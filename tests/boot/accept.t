#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Acceptance on a real node: what was ordered passes; one boot decides no figure (tests/unit/accept_decide.c has those of six);
# a fact that is missed fails, though a figure is undecided. The exit codes are those of `assay run` and, again, of `assay report`.
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

demand missed 1 'metric: storage-nics, at_least: 3' 'metric: throughput, at_least: 900 GB/s, workload: 1'
is 'a fact is missed, though a figure is undecided: exit code 4' "$RUN_STATUS" 4
like 'it says so' "$said" '^Acceptance: FAIL \(0 pass, 1 fail, 1 inconclusive'
like 'the fact, and the node' "$said" '^  fail          storage-nics at least 3: node n1: 2$'
is 'as JSON: each verdict' "$(jq -c '[.run.acceptance.criteria[] | [.metric, .verdict]]' "$LAB/missed.json")" \
	'[["storage-nics","fail"],["throughput","inconclusive"]]'
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
