#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Noise certificates: every sample has one; a limit that cannot be kept makes samples invalid, as often as the plan tries;
# an isolated CPU has no ticks while it is held, the other has them all.
. "$(dirname "$0")/lib.sh"
lab_new noise
serve_start
"$VLAB" start "$LAB" n1
run_plan tests/boot/noise.yaml
is 'the run ends, but not with every cell' "$RUN_STATUS" 1
samples_complete 2 noise

# of CELL QUERY: of its last result
of() { sql "SELECT $2 FROM (SELECT CAST(r.body AS TEXT) AS j, r.* FROM results r JOIN cells c USING (run, cell_id) WHERE c.ordinal = $1 ORDER BY attempt DESC LIMIT 1)"; }
noise() { of "$1" "json_extract(j, '\$.evidence.noise.$2')"; }

is 'a limit of nothing: the sample is invalid' "$(of 3 verdict)" invalid
like 'and says that noise is why' "$(of 3 "j ->> 'reason'")" '^noise: [0-9]+ ppm of CPU 0 were taken before the sample, the limit is 0'
is 'it was measured again as often as the plan says' "$(sql "SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE ordinal = 3 AND a.state = 'invalid'")" 2
is 'and then given up' "$(sql 'SELECT failed FROM cells WHERE ordinal = 3')" 1

for when in before after; do
	is "isolated, $when: one CPU was held" "$(noise 1 "${when}[0].cpu")/$(noise 1 "${when}[1].cpu")" 1/
	ok "isolated, $when: for the whole window" [ "$(noise 1 "${when}[0].runtime_us")" -ge 1000000 ]
	# The emulator runs both CPUs in turn, 100 ms each, so the tick may stop that much late in a window: 25 interrupts.
	ok "isolated, $when: the tick is stopped ($(noise 1 "${when}[0].irq") interrupts)" [ "$(noise 1 "${when}[0].irq")" -le 50 ]
	ok "isolated, $when: hardly a foreign thread ($(noise 1 "${when}[0].thread"))" [ "$(noise 1 "${when}[0].thread")" -le 3 ]
	is "housekeeping, $when: the other CPU was held" "$(noise 2 "${when}[0].cpu")/$(noise 2 "${when}[1].cpu")" 0/
	ok "housekeeping, $when: ticks came ($(noise 2 "${when}[0].irq"))" [ "$(noise 2 "${when}[0].irq")" -ge 50 ]
	echo "# CPU 1, isolated, $when: $(noise 1 "${when}[0]")"
	echo "# CPU 0, $when: $(noise 2 "${when}[0]")"
done
ok 'isolated: in one of the windows from its begin' [ "$(printf '%s\n' "$(noise 1 before[0].irq)" "$(noise 1 after[0].irq)" | sort -n | head -n 1)" -le 5 ]
ok 'ticks were counted during the sample' [ "$(noise 2 'during.cpus[0].timer_interrupts')" -ge 1 ]
ok 'and threads that were not the workload' [ "$(noise 2 'during.threads[0].run_ns')" -ge 10000 ]
like 'the report has the worst of it' "$(out/assay report --db "$DB")" 'Noise on n1: at most [0-9.]+ % of a CPU taken, [0-9]+ us at once'
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven noise
done_testing
