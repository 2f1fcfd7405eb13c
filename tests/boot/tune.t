#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Greedy tuning on a real node: the way is told step by step, what was found is measured beside the start in the same blocks,
# and the lines to install are those of the winner, as it was in force.
. "$(dirname "$0")/lib.sh"
lab_new tune
serve_start
"$VLAB" start "$LAB" n1
run_plan tests/boot/tune.yaml
is 'the run ends with every cell valid' "$RUN_STATUS" 0
samples_complete 80 tune
out=$(cat "$LAB/run.log")
like 'what is tuned for' "$out" '^Tuning for throughput, more is better\. A level is kept only if it is better by more than 25 %'
is 'the step and the confirmation, in this order' "$(grep -E '^(Step [0-9]+|Confirmation)$' <<<"$out" | xargs)" 'Step 1 Confirmation'
like 'step 1 keeps what is better' "$out" '^  -> .*block\.drbd\.read-ahead 2048.*: [0-9.]+ MB/s, \+[0-9.]+ % \(\+[0-9.]+ to \+[0-9.]+ at 9[0-9.]+ %\): better$'
like 'the start stands in the confirmation' "$out" '^     .*block\.drbd\.read-ahead 0.*: [0-9.]+ MB/s \(the start\)$'
like 'what was found' "$out" '^Found: .*block\.drbd\.read-ahead 2048'
like 'and confirmed' "$out" '^Confirmed as better beside the start in one interleaved run\.$'
# Blocks 5 to 8 are the confirmation's: both states in each, on one boot of the nodes.
is 'start and winner shared each of its boots' "$(sql "SELECT group_concat(n || ' cells, ' || b || ' boot', '; ') FROM (SELECT count(DISTINCT cell_id) n,
	count(DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.boot_id')) b FROM results WHERE role = 'measure' AND verdict = 'valid' AND boot > 4 GROUP BY boot)")" \
	'2 cells, 1 boot; 2 cells, 1 boot; 2 cells, 1 boot; 2 cells, 1 boot'

install=$(sed -n '/^To install:/,$p' "$LAB/run.log")
like 'to install: sysctl' "$install" '^    net\.core\.rmem_max = 20971520$'
like 'to install: queues' "$install" '^    blockdev --setra 2048 /dev/drbd0$'
conf=$(sed -n '/^\/etc\/drbd\.d\/assay\.res:/,$p' <<<"$install" | tail -n +2)
like 'to install: drbd.conf' "$conf" '^[[:space:]]*al-extents[[:space:]]+6433;$'
like 'with what was not turned' "$conf" '^[[:space:]]*md-flushes[[:space:]]+yes;$'
is 'it is what was in force in the last sample of the winner' "$conf" "$(sql "SELECT json_extract(CAST(body AS TEXT), '\$.evidence.drbd_conf') FROM results WHERE role = 'measure'
	AND verdict = 'valid' AND json_extract(CAST(body AS TEXT), '\$.cell.state.\"drbd.disk.al-extents\"') = 6433 ORDER BY committed_unix_ns DESC LIMIT 1")"
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
