#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One pair, two mishaps at boot: the server dies before the first node can say hello, and the peer comes a minute late.
. "$(dirname "$0")/lib.sh"
minute_old() { [ $((SECONDS - queued)) -ge 60 ]; }
ended() { at_least 1 sql "SELECT count(*) FROM runs WHERE state IN ('done', 'failed')"; }
lab_new late
serve_start
"$VLAB" start "$LAB" n1
# The script names the boot's token; once the kernel runs, init asks the server.
ok 'n1 is given its boot script' wait_for 120 "n1's script" at_least 1 sql "SELECT count(*) FROM boots WHERE node = 'n1'"
ok "n1 loads kernel and initramfs" wait_for 60 "the initramfs being served" grep -q "initramfs.*is fetched" "$LAB/serve.log"
serve_kill
ok 'n1 says on its console where it can not reach the server' wait_for 120 'words on the console' \
	grep -aEq '10\.77\.0\.1' "$LAB/n1.serial"
serve_start
ok 'n1 says hello once the server is there' wait_for 90 'hello of n1' \
	at_least 1 sql "SELECT count(*) FROM boots WHERE node = 'n1' AND boot_id IS NOT NULL"

out/assay run "$TINY" --db "$DB" --lab "$LAB/lab.yaml" --no-wait >"$LAB/queue.log" 2>&1
is 'a run is queued' $? 0
queued=$SECONDS
ok 'status names the node that is missing' wait_for 30 'n2 in the status' \
	bash -c "out/assay status --db '$DB' | grep -q n2"
ok 'n2 comes when the run is a minute old' wait_for 70 'a minute' minute_old
"$VLAB" start "$LAB" n2
ok 'the run ends' wait_for 400 'end of the run' ended
is 'with everything measured' "$(sql 'SELECT state FROM runs')" 'done'
samples_complete 4 late
done_testing
