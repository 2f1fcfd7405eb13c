#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The observers of two nodes with DRBD connected: what they saw agrees with what the workload says it did.
. "$(dirname "$0")/lib.sh"
lab_new observe
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/observe.yaml
is 'the run ends with every cell valid' "$RUN_STATUS" 0
samples_complete 2 observe

SEEN=$LAB/seen.csv
out/assay observers --db "$DB" >"$SEEN"
is 'assay observers ends well' "$?" 0
is 'all four results have a series' "$(awk -F, 'NR > 1 { seen[$1 "," $4] } END { for (i in seen) n++; print n }' "$SEEN")" 4

# last CELL NODE SOURCE OBJECT FIELD: the last value; OBJECT is a pattern, and values of several objects are added
last()
{
	awk -F, -v cell="$1" -v node="$2" -v source="$3" -v object="$4" -v field="$5" \
		'$1 == cell && $4 == node && $7 == source && $8 ~ object && $9 == field { v[$8] = $11 }
		END { for (i in v) sum += v[i]; printf "%d\n", sum }' "$SEEN"
}
# measured CELL FIGURE
measured()
{
	sql "SELECT CAST(json_extract(CAST(r.body AS TEXT), '\$.measurement.$2') AS INTEGER) FROM results r JOIN cells c USING (run, cell_id)
		WHERE c.ordinal = $1 AND r.role = 'measure' AND r.verdict = 'valid'"
}
# at_most WHAT A B, within WHAT A B PERCENT
at_most() { ok "$1 ($2 <= $3)" [ "$2" -le "$3" ]; }

for cell in 1 2; do
	bytes=$(measured "$cell" bytes)
	ns=$(measured "$cell" ns)
	ok "cell $cell: it was measured" [ "${bytes:-0}" -gt 1000000 ]
	is "cell $cell: DRBD's device was written what the workload wrote" "$(last "$cell" n1 disk drbd0 write_bytes)" "$bytes"
	at_most "cell $cell: the disk below at least as much" "$bytes" "$(last "$cell" n1 disk vd write_bytes)"
	at_most "cell $cell: and no more than metadata beside it" "$(last "$cell" n1 disk vd write_bytes)" $((bytes * 2 + 1000000))
	is "cell $cell: DRBD sent it" "$(last "$cell" n1 drbd 0 net_sent_bytes)" "$bytes"
	at_most "cell $cell: its connection carried it" "$bytes" "$(last "$cell" n1 tcp 7788 bytes_acked)"
	at_most "cell $cell: the peer received it" "$((bytes - bytes / 8))" "$(last "$cell" n2 drbd 0 net_received_bytes)"
	at_most "cell $cell: and wrote it" "$((bytes - bytes / 8))" "$(last "$cell" n2 disk vd write_bytes)"
	at_most "cell $cell: the NICs interrupted" 20 "$(last "$cell" n1 irq TxRx interrupts)"
	is "cell $cell: each of them on some CPU" "$(last "$cell" n1 irqs cpu interrupts)" "$(last "$cell" n1 irq . interrupts)"
	at_most "cell $cell: packets came" 20 "$(last "$cell" n1 softnet cpu packets)"
	at_most "cell $cell: DRBD's sender took time" 1000000 "$(last "$cell" n1 thread drbd_w_assay cpu_ns)"
	at_most "cell $cell: and its receiver on the peer" 1000000 "$(last "$cell" n2 thread drbd_r_assay cpu_ns)"
	at_most "cell $cell: no more than the time there was" "$(last "$cell" n1 thread drbd_w_assay cpu_ns)" "$((ns + ns / 4))"
	at_most "cell $cell: two CPUs, no busier than busy" \
		"$(($(last "$cell" n1 cpu cpu user_ns) + $(last "$cell" n1 cpu cpu system_ns) + $(last "$cell" n1 cpu cpu softirq_ns)))" $((ns * 5 / 2 + 1000000000))
	rows=$(awk -F, -v cell="$cell" '$1 == cell && $4 == "n1" && $8 == "\"drbd0\"" && $9 == "write_bytes"' "$SEEN" | wc -l)
	ok "cell $cell: a look a second, one before and one after" [ "$rows" -ge $((ns / 1000000000 + 1)) ] && [ "$rows" -le $((ns / 1000000000 + 4)) ]
done
series() { sql "SELECT $1 FROM results r, json_each(CAST(r.body AS TEXT), '\$.evidence') s WHERE s.key = 'series'"; }
is 'nothing could not be seen' "$(series "coalesce(s.value ->> 'notes', '-')" | sort -u)" -
at_most 'a look costs at most 100 ms of emulated CPU time' "$(series "CAST(max((s.value ->> 'cost_ns') / (s.value ->> 'rows')) AS INTEGER)")" 100000000
at_most 'what was seen of one sample is small' "$(series 'max(length(s.value))')" 30000
like 'the report says what looking took' "$(out/assay report --db "$DB")" 'Observers: a look took at most [0-9.]+ ms of CPU time'
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
