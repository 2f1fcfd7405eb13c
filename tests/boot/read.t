#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Copies that read, of a plan for hardware that is scaled: run, report and store say so, and the device really was read.
. "$(dirname "$0")/lib.sh"
lab_new read
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/read.yaml --scale 1/10000
is 'every cell is valid' "$RUN_STATUS" 0
samples_complete 12 read
is 'every sample is a 10,000th of 80 GiB, in whole records' "$(sql "SELECT DISTINCT measured_bytes FROM results WHERE role = 'measure'")" $((80 * 1024 * 1024 * 1024 / 10000 / 262144 * 262144))
is 'the store has the scale' "$(sql 'SELECT scale FROM runs')" 1/10000
like 'the report says so' "$(cat "$LAB/run.log")" 'SCALED: sizes and times are 1/10000'
equivalent()
{
	sql "SELECT json_extract(CAST(body AS TEXT), '\$.measurement.equivalent') FROM results WHERE role = 'measure'"
}
like 'a read is what dd would do' "$(equivalent)" '^sync; echo 3 >/proc/sys/vm/drop_caches; dd if=/dev/drbd0 of=/dev/null bs=262144 count=32$'
like 'and one past the page cache' "$(equivalent)" '^sync; echo 3 >/proc/sys/vm/drop_caches; dd if=/dev/vd[a-z] of=/dev/null bs=262144 count=32 iflag=direct$'
is 'read-ahead in force on DRBD' "$(sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.settings.\"block.drbd.read-ahead\"') AS level FROM results WHERE level IS NOT NULL ORDER BY 1" | xargs)" '0 2048'
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
