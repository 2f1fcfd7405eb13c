#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One pair, three mishaps around boot: the server dies while a node loads its kernel; it is away when the node's init wants
# to talk; the peer comes a minute late.
. "$(dirname "$0")/lib.sh"
minute_old() { [ $((SECONDS - queued)) -ge 60 ]; }
ended() { at_least 1 sql "SELECT count(*) FROM runs WHERE state IN ('done', 'failed')"; }
hellos() { sql "SELECT count(*) FROM boots WHERE node = 'n1' AND boot_id IS NOT NULL"; }
lab_new late
serve_start
"$VLAB" start "$LAB" n1
ok 'n1 begins to load its image' wait_for 120 'the initramfs being served' grep -q 'initramfs.*is fetched' "$LAB/serve.log"
serve_kill
serve_start
ok 'n1 comes all the same once the server is back' wait_for 180 'hello of n1' at_least 1 hellos

serve_kill
ok 'init says on its console what it can not reach, and that it goes on trying' wait_for 120 'words on the console' \
	grep -aEq 'http://10\.77\.0\.1:8080/.*tried again' "$LAB/n1.serial"
serve_start
out/assay run "$TINY" --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token "$TINY")" --no-wait >"$LAB/queue.log" 2>&1
is 'a run is queued' $? 0
queued=$SECONDS
ok 'what n1 can do alone is measured meanwhile' wait_for 120 'the raw cell' at_least 2 valid_samples
like 'status names the node that is missing' "$(out/assay status --db "$DB")" 'n2.*has not come'
ok 'n2 comes when the run is a minute old' wait_for 70 'a minute' minute_old
"$VLAB" start "$LAB" n2
ok 'the run ends' wait_for 400 'end of the run' ended
is 'with everything measured' "$(sql 'SELECT state FROM runs')" 'done'
samples_complete 4 late
done_testing
