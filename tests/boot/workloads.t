#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Resync, online verify and a change of roles on two nodes: the figures are DRBD's and the device's own. Then
# preconditioning, rounds, what is read, and trees of files.
. "$(dirname "$0")/lib.sh"
lab_new workloads
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/workloads.yaml
is 'the run ends with every cell valid' "$RUN_STATUS" 0
[ "$RUN_STATUS" = 0 ] || tail -n 40 "$LAB/run.log" >&2
samples_complete 8 workloads

# of WORKLOAD PATH: what the sample of the workload (as jq selects its cell) has there
of() { sql "SELECT CAST(body AS TEXT) FROM results WHERE verdict = 'valid' AND role = 'measure'" | jq -r "select(.cell.workload | $1) | $2"; }
full='.type == "resync" and .what == "full"'
partial='.type == "resync" and .what == "partial"'
verify='.type == "verify" and .plant_bytes == 0'
planted='.type == "verify" and .plant_bytes > 0'
role='.type == "failover"'

device=$(of "$full" .measurement.resync.device_bytes)
ok 'the device is the disk without its metadata' [ "$device" -gt 260000000 -a "$device" -lt 268435456 ]
is 'a full resync copies the whole device' "$(of "$full" .measurement.bytes)" "$device"
is 'each second of it adds up' "$(of "$full" '.measurement.second_bytes | add')" "$device"
ok 'as much went over the network' [ "$(of "$full" .measurement.resync.sent_bytes)" -ge "$device" ]
like 'DRBD says so' "$(of "$full" '.measurement.resync.drbd_states | join(",")')" 'SyncSource UpToDate/Inconsistent.*,Connected UpToDate/UpToDate'
bytes=$(of "$partial" .measurement.bytes)
ok 'a partial one what was written, each block once' [ "$bytes" -gt 8388608 -a "$bytes" -le 16777216 ]
is 'in whole blocks' $((bytes % 65536)) 0
is 'online verify reads the whole device' "$(of "$verify" .measurement.bytes)" "$device"
is 'and finds both nodes equal' "$(of "$verify" .measurement.verify.out_of_sync_bytes)" 0
is 'it finds what was altered beneath DRBD' "$(of "$planted" .measurement.verify.out_of_sync_bytes)" 65536
is 'which is copied anew' "$(of "$planted" '.evidence.after.drbd.out_of_sync_bytes')" 0
is 'by the digest asked for' "$(of "$verify" '.evidence.in_force["drbd.net.verify-alg"]')" crc32c
states=$(of "$role" '.measurement.role_change.drbd_states | join(",")')
is 'the roles were swapped, and swapped back' "$states" \
	'Connected Primary/Secondary UpToDate/UpToDate,Connected Secondary/Primary UpToDate/UpToDate'
is 'first primary again' "$(of "$role" .evidence.after.drbd.role)" Primary
ok 'writes stalled no shorter than the change of roles took' [ "$(of "$role" '.measurement.role_change | .stall_ns >= .secondary_ns + .primary_ns + .open_ns + .first_write_ns')" = true ]
ok 'both nodes wrote' [ "$(of "$role" '.measurement | (.second_bytes[0] > 0) and (.second_bytes[-2] > 0) and .bytes == (.second_bytes | add)')" = true ]
out=$(cat "$LAB/run.log")
like 'the report has resyncs' "$out" 'cell 1, .*: full, 268\.4 MB in [0-9.]+ s at [0-9.]+ MB/s, 268\.4 MB sent'
like 'and verifies' "$out" 'cell 4, .*: 268\.4 MB compared in [0-9.]+ s at [0-9.]+ MB/s, 65536 bytes differ, 65536 were planted'
like 'and changes of roles' "$out" 'cell 5, .*: n1 to n2, writes stalled for [0-9.]+ ms \(secondary'
is 'preconditioning writes the area twice' "$(of '.type == "precondition"' .measurement.bytes)" 16777216
aio='.type == "aio"'
is 'rounds are within one sample' "$(of "$aio" '.measurement.aio | [(.rounds | length), (.rounds | map(.ios > 0 and .mean_ns > 0 and .mean_ns <= .max_ns) | all)] | join(" ")')" '3 true'
ok 'and have all but what was in flight at the end' [ "$(of "$aio" '.measurement.aio | .ios - (.rounds | map(.ios) | add) | . >= 0 and . <= 4')" = true ]
is 'what is read was written before' "$(of "$aio" .measurement.prepared_bytes)" 16777216
is 'once' "$(of '.type == "copy"' '.measurement.prepared_bytes // 0')" 0

run_plan tests/boot/workloads-files.yaml
is 'trees of files: every cell is valid' "$RUN_STATUS" 0
[ "$RUN_STATUS" = 0 ] || tail -n 40 "$LAB/run.log" >&2
tree='.type == "files" and .files == 200'
phases='.measurement.files | [.create, .read, .unlink] | map'
is 'as many files in each phase' "$(of "$tree" "$phases(.files) | join(\" \")")" '200 200 200'
is 'as many folders' "$(of "$tree" "$phases(.folders) | join(\" \")")" '40 0 40'
is 'as many bytes' "$(of "$tree" "$phases(.bytes) | join(\" \")")" '10000000 10000000 0'
is 'the same second by second' "$(of "$tree" "$phases(.second_files | add) | join(\" \")")" '200 200 200'
is 'fsync of each file' "$(of '.type == "files" and .files == 20' .measurement.files.create.files)" 20
like 'the report has trees' "$(cat "$LAB/run.log")" 'cell 1, .*: make [0-9.]+ files/s, [0-9.]+ MB/s; read [0-9.]+ files/s'
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
