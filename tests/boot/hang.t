#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One pair; a node stops for ever in mid-cell (QEMU's `stop`: not even its watchdog runs). The lab waits for it, has it
# power-cycled through the QEMU driver that the virtual lab's own lab file names, and the run ends complete.
. "$(dirname "$0")/lib.sh"
lab_new hang
in_mid_cell()
{
	at_least 1 sql "SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE a.state = 'open' AND c.nodes = 2"
}
switched() { sql 'SELECT count(*) FROM power'; }
qmp() { printf '%s\n' '{"execute": "qmp_capabilities"}' "$2" | socat -t 2 - "UNIX-CONNECT:$LAB/$1.qmp" >>"$LAB/qmp.log"; }

serve_start
"$VLAB" start "$LAB" n1 n2
ok 'the server is up' wait_for 30 'the database' test -s "$DB"
timeout 1000 out/assay run tests/boot/hang.yaml --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token tests/boot/hang.yaml)" >"$LAB/run.log" 2>&1 &
run=$!
ok 'a cell of both nodes is under way' wait_for 300 'the DRBD cell' in_mid_cell
qmp n2 '{"execute": "stop"}'
is 'assay power sees the machine, which is on and stands still' "$(out/assay power "$LAB/lab.yaml" n2 status)" 'n2: on'
ok 'n2 is power-cycled' wait_for 500 'the power-cycle' at_least 1 switched
like 'status says what is being done' "$(out/assay status --db "$DB")" 'n2 +(power|hello|ready|cell|measure)'
wait "$run"
is 'the run ends with every cell valid' $? 0
samples_complete 4 hang
is 'once, n2, in the cell that it hung in, and it worked' "$(sql 'SELECT node, label, done, text FROM power p JOIN cells c USING (run, cell_id)')" \
	"n2|$(sql 'SELECT label FROM cells WHERE nodes = 2')|1|n2: is reset"
like 'assay run says so' "$(cat "$LAB/run.log")" 'error: node n2, step hung, .* is power-cycled'
is 'the attempt that hung is kept beside the good one' \
	"$(sql "SELECT count(*) > 0 FROM attempts WHERE state IN ('abandoned', 'failed')")" 1
is 'and no cell is hung for one time' "$(sql 'SELECT count(*) FROM cells WHERE failed')" 0
done_testing
