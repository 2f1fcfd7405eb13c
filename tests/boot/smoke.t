#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job: two bare nodes, PXE, the smoke plan, the table; what was measured is what was asked for.
. "$(dirname "$0")/lib.sh"
lab_new smoke
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/matrix/smoke.yaml
is 'the run ends with every cell valid' "$RUN_STATUS" 0
[ "$RUN_STATUS" = 0 ] || tail -n 40 "$LAB/run.log" >&2
samples_complete 30 smoke

body() { sql "SELECT json_extract(body, '$2') FROM results WHERE verdict = 'valid' AND $1 ORDER BY rowid"; }
raw="role = 'measure' AND json_extract(body, '\$.cell.state.stack') = 'raw'"
bond="role = 'measure' AND json_extract(body, '\$.cell.state.\"bond.mode\"') = 'active-backup'"
connected="role = 'measure' AND json_extract(body, '\$.cell.state.\"drbd.link\"') = 'connected'"

is 'raw: 64 MiB in 4 MiB records' "$(body "$raw" '$.measurement.bytes' | sort -n | uniq -c | xargs)" '3 8388608 3 67108864'
is 'DRBD was connected and both disks up to date after every connected sample' \
	"$(body "$connected" '$.evidence.after.drbd.disk' | sort | uniq -c | xargs)/$(body "$connected" '$.evidence.after.drbd.peer_disk' | sort | uniq -c | xargs)" \
	'18 UpToDate/18 UpToDate'
is 'nothing is out of sync after a connected sample' "$(body "$connected" '$.evidence.after.drbd.out_of_sync_bytes' | sort -u)" 0
is 'the peer says the same' "$(sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND role = 'peer' AND json_extract(body, '\$.evidence.after.drbd.connection') = 'Connected'")" 18
is 'the bond had two slaves, up' "$(body "$bond" '$.evidence.after.bond.slaves[1].mii' | sort | uniq -c | xargs)" '12 up'
is 'MTU 9000 was proven by pings' "$(body "$bond" '$.evidence.paths[0].mtu_bytes' | sort -u)" 9000
is 'each fresh state had a boot of its own, and no other was built on it' \
	"$(body "$bond" '$.evidence.boot_id' | sort -u | wc -l)/$(body "$bond" '$.evidence.states_built_before' | sort -u)" 2/0
is 'the cycled bond has link failures behind it, the fresh one none' \
	"$(sql "SELECT DISTINCT json_extract(body, '\$.cell.state.\"bond.down-up-cycles\"') || ':' || (json_extract(body, '\$.evidence.before.bond.slaves[0].link_failures') > 0) FROM results WHERE verdict = 'valid' AND $bond ORDER BY 1" | xargs)" '0:0 3:1'
nic=$(jq -r .storage_nic "$LAB/lab.json")
is "the storage NICs' driver is the one the lab says ($nic)" "$(body "$connected" '$.evidence.nics[0].driver' | sort -u)" \
	"$([ "$nic" = ixgbe ] && echo ixgbe || echo virtio_net)"
is 'nothing in force differed from what was asked' "$(sql "SELECT count(*) FROM results WHERE json_array_length(body, '\$.evidence.differences') > 0")" 0
is 'a rate of every second is kept' "$(sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND role = 'measure' AND (SELECT sum(value) FROM json_each(body, '\$.measurement.second_bytes')) <> json_extract(body, '\$.measurement.bytes')")" 0

report=$(out/assay report --db "$DB")
is 'the report has a line for each cell' "$(grep -c '3/3' <<<"$report")" 10
ok "nobody's system disk was touched" "$VLAB" check-system-disks "$LAB"
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven smoke
done_testing
