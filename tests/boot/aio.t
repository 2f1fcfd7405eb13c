#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The workload aio on two nodes: on the disk itself and through DRBD, with both engines.
. "$(dirname "$0")/lib.sh"
lab_new aio
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/aio.yaml
is 'the run ends with every cell valid' "$RUN_STATUS" 0
[ "$RUN_STATUS" = 0 ] || tail -n 40 "$LAB/run.log" >&2
samples_complete 6 aio

# What the samples that WHERE holds of have at PATH of their measurement, each value once with its count.
have() { sql "SELECT json_extract(CAST(body AS TEXT), '\$.measurement.$2') FROM results WHERE verdict = 'valid' AND role = 'measure' AND $1" | sort | uniq -c | xargs; }
is_verify="json_extract(CAST(body AS TEXT), '\$.cell.workload.verify')"
is_read="json_extract(CAST(body AS TEXT), '\$.cell.workload.read_percent') = 100"
is_uring="json_extract(CAST(body AS TEXT), '\$.cell.workload.engine') = 'io_uring'"

is 'bound by size: every I/O is counted' "$(have "$is_verify" aio.ios)" '2 1024'
is 'reads and writes have latencies of their own, and add up' \
	"$(sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.measurement.aio.read.histogram.count') + json_extract(CAST(body AS TEXT), '\$.measurement.aio.write.histogram.count') FROM results WHERE verdict = 'valid' AND role = 'measure' AND $is_verify")" 1024
ok 'what was written was read back' [ "$(sql "SELECT min(json_extract(CAST(body AS TEXT), '\$.measurement.aio.verified')) FROM results WHERE verdict = 'valid' AND role = 'measure' AND $is_verify")" -gt 100 ]
is 'and is right' "$(have "$is_verify" aio.verify_bad)" '2 0'
is 'at a rate of 100 a second for 2 s, on io_uring, each of 200 is issued or told of' \
	"$(sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND role = 'measure' AND $is_uring AND json_extract(CAST(body AS TEXT), '\$.measurement.aio.ios') + json_extract(CAST(body AS TEXT), '\$.measurement.aio.not_issued') BETWEEN 199 AND 200")" 2
is 'buffered reads' "$(have "$is_read" aio.read.ios)" '2 64'
is 'no I/O failed' "$(have 1 aio.errors)" '6 {}'
out=$(cat "$LAB/run.log")
like 'the report has IOPS and latencies' "$out" 'I/Os a second, and latency in microseconds'
like 'of each cell' "$out" 'cell 6 +[0-9]+( +[0-9.]+){4}  .*aio seqread 64KiB QD4 4MiB buffered'
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
