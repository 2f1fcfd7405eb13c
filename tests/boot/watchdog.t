#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# PID 1 of a node stands still: nobody feeds the hardware watchdog, which resets the node; the run ends complete, and the
# lab did not have to do anything. And a worker that is killed: PID 1 tells the lab, and reboots.
. "$(dirname "$0")/lib.sh"
lab_new watchdog --nodes 1
inside_image
hellos() { sql 'SELECT count(*) FROM boots WHERE boot_id IS NOT NULL'; }

serve_start --image "$LAB/image"
"$VLAB" start "$LAB" n1
timeout 900 out/assay run tests/boot/panic.yaml --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token tests/boot/panic.yaml)" >"$LAB/run.log" 2>&1 &
run=$!
ok 'the run is under way' wait_for 240 'a first sample' at_least 1 valid_samples
like 'the node has its hardware watchdog' "$(tr -d '\r' <"$LAB/n1.serial")" 'watchdog i6300ESB.*, 60 s'
is 'PID 1 stands still' "$(inside n1 freeze)" 'done freeze'
ok 'the watchdog resets the node, which boots anew' wait_for 240 'the second hello' at_least 2 hellos
is 'the kernel did not panic, PID 1 did not reboot' "$(grep -aEc 'Kernel panic|rebooting' "$LAB/n1.serial")" 0
is 'and the lab did not ask for it' "$(sql 'SELECT (SELECT count(*) FROM reboots) + (SELECT count(*) FROM power)')" 0

before=$(valid_samples)
ok 'the run goes on' wait_for 240 'another sample' at_least $((before + 1)) valid_samples
is 'the worker is killed' "$(inside n1 kill)" 'done kill'
ok 'the node boots anew' wait_for 240 'the third hello' at_least 3 hellos
like 'and the lab was told why' "$(sql 'SELECT body FROM errors')" 'the worker was killed by signal 9 \(Killed\) in step'
wait "$run"
is 'the run ends with every sample' $? 0
samples_complete 40 watchdog
done_testing
