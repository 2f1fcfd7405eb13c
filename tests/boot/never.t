#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A peer that never comes: the other node does what it can alone, the operator is told who is missing and what to look at.
. "$(dirname "$0")/lib.sh"
lab_new never
before=$(disk_sum n2)
serve_start
"$VLAB" start "$LAB" n1
run_plan tests/boot/tiny-impatient.yaml
is 'the run fails' "$RUN_STATUS" 1
like 'the operator is told who did not come' "$(cat "$LAB/run.log")" 'n2.*(did not|never|not come|has not)'
like 'and what to look at' "$(cat "$LAB/run.log")" 'power|PXE|cable'
is 'what n1 can do alone was measured' "$(valid_samples)" 2
is 'it was the raw disk' "$(sql "SELECT DISTINCT json_extract(body, '\$.cell.state.stack') FROM results WHERE verdict = 'valid'")" raw
is "n2's disk was not touched" "$(disk_sum n2)" "$before"
done_testing
