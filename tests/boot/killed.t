#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One pair, two accidents, each in the middle of a run of its own: the server dies by SIGKILL and is started again; a node
# loses its power in mid-cell. Both runs end complete.
. "$(dirname "$0")/lib.sh"
lab_new killed

run_in_background()
{
	timeout 900 out/assay run "$TINY" --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token "$TINY")" >"$LAB/run.log" 2>&1 &
	RUN_PID=$!
}

# A sample with DRBD is being tried on both nodes.
in_mid_cell()
{
	at_least 1 sql "SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE a.state = 'open' AND c.nodes = 2"
}

serve_start
"$VLAB" start "$LAB" n1 n2
ok 'the server is up' wait_for 30 'the database' test -s "$DB"
run_in_background
ok 'a cell of both nodes is under way' wait_for 300 'the DRBD cell' in_mid_cell
serve_kill
serve_start
wait "$RUN_PID"
is 'server killed in mid-run: the run ends with every cell valid' $? 0
samples_complete 4 'server killed'

run_in_background
ok 'again a cell of both nodes is under way' wait_for 300 'the DRBD cell' in_mid_cell
"$VLAB" stop "$LAB" n2
"$VLAB" start "$LAB" n2
wait "$RUN_PID"
is 'power cut in mid-cell: the run ends with every cell valid' $? 0
samples_complete 8 'power cut'
is 'the interrupted attempt is kept beside the good one' \
	"$(sql "SELECT count(*) > 0 FROM attempts WHERE state IN ('abandoned', 'failed')")" 1
ok "nobody's system disk was touched" "$VLAB" check-system-disks "$LAB"
done_testing
