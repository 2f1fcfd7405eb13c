#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A node with two CPUs that keeps one of them quiet: what is moved, what the kernel then says of it, what the osnoise tracer
# counts there, and that all of it is put back. A node with one CPU says that it can keep nothing off.
. "$(dirname "$0")/lib.sh"
lab_new quiet
serve_start
"$VLAB" start "$LAB" n1
run_plan tests/boot/quiet.yaml
is 'every cell is valid' "$RUN_STATUS" 0
samples_complete 5 quiet

# of CELL PATH: of its valid result's evidence
of() { sql "SELECT json_extract(CAST(r.body AS TEXT), '\$.evidence.$2') FROM results r JOIN cells c USING (run, cell_id) WHERE c.ordinal = $1 AND r.verdict = 'valid'"; }
# quiet CELL: level, CPUs that keep house, that measure, that the kernel isolated, of unbound workqueues, of the workload
quiet() { for key in quiet.level quiet.housekeeping quiet.measuring quiet.isolated quiet.nohz_full quiet.workqueue_mask 'settings."cpu.workload"'; do printf '%s;' "$(of "$1" "$key")"; done; }
# noise CELL KEY: of the window before the sample, of the last CPU in it
noise() { of "$1" "noise.before[#-1].$2"; }

is 'by itself: kernel threads go, the workload and workqueues stay' "$(quiet 1)" 'default;0;1;;;3;3;'
ok "by itself: threads were moved ($(of 1 quiet.threads_moved))" [ "$(of 1 quiet.threads_moved)" -ge 5 ]
ok "by itself: interrupts were moved ($(of 1 quiet.interrupts_moved))" [ "$(of 1 quiet.interrupts_moved)" -ge 1 ]
is 'on: workqueues and workload go too' "$(quiet 2)" 'on;0;1;;;1;2;'
is 'off: all was put back, and nothing is moved' "$(quiet 3)" 'off;0;1;;;3;3;'
is 'off: no thread, no interrupt' "$(of 3 quiet.threads_moved)/$(of 3 quiet.interrupts_moved)" 0/0
is 'isolated: the kernel says so' "$(quiet 4)" 'on;0;1;1;1;1;2;'
is 'isolated: in force' "$(of 4 'in_force."boot.isolate"')" on
like 'isolated: the boot script gave the arguments' "$(of 4 command_line)" \
	' nohz_full=1 rcu_nocbs=1 isolcpus=managed_irq,domain,1 irqaffinity=0( |$)'
is 'isolated: what measures is CPU 1 alone' "$(of 4 'noise.before[0].cpu')/$(of 4 'noise.before[1].cpu')" 1/
for cell in 1 2 3 4; do
	echo "# cell $cell, CPU $(noise $cell cpu), 1 s: $(noise $cell irq) interrupts, $(noise $cell thread) threads, $(noise $cell noise_us) us taken, longest $(noise $cell longest_us) us"
done
ok 'off: the tick comes' [ "$(noise 3 irq)" -ge 20 ]
# The tracer's own start and end are among them. The emulator runs both CPUs in turn, 100 ms each, so the tick may stop that
# much late in a window: 25 interrupts.
ok 'isolated: hardly an interrupt in one of the windows' [ "$(printf '%s\n' "$(of 4 'noise.before[0].irq')" "$(of 4 'noise.after[0].irq')" | sort -n | head -n 1)" -le 5 ]
for when in before after; do
	ok "isolated, $when: few interrupts ($(of 4 "noise.${when}[0].irq") in 1 s)" [ "$(of 4 "noise.${when}[0].irq")" -le 50 ]
	ok "isolated, $when: hardly a foreign thread ($(of 4 "noise.${when}[0].thread"))" [ "$(of 4 "noise.${when}[0].thread")" -le 2 ]
done
is 'one CPU: nothing is isolated' "$(quiet 5)" 'on;;0;;;3;1;'
is 'one CPU: the boot script asks for nothing that cannot be' "$(of 5 command_line | grep -c nohz_full)" 0
is 'one CPU: in force as far as it goes' "$(of 5 'in_force."boot.isolate"')/$(of 5 'in_force."cpu.quiet"')" on/on
like 'one CPU: the evidence says what that is' "$(of 5 notes)" 'this node has one CPU: nothing can be kept off what measures'
is 'nothing could not be put back' "$(grep -aE 'cannot be put back|after it was put back' "$LAB"/n?.serial)" ''
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven quiet
done_testing
