#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks that must not be written: one that carries data, a serial that is not there, a serial that is there twice. Each is
# refused with node, object and remedy, and not a byte of any disk changes.
. "$(dirname "$0")/lib.sh"
lab_new refuse --nodes 1
cp "$LAB/lab.yaml" "$LAB/right.yaml"

refused()
{
	local what=$1 pattern=$2 before=$3 out
	run_plan tests/boot/raw.yaml
	out=$(cat "$LAB/run.log")
	is "$what: the run fails" "$RUN_STATUS" 1
	like "$what: the operator is told node, disk and what was found" "$out" "$pattern"
	like "$what: and what to do" "$out" "$4"
	is "$what: nothing was measured" "$(valid_samples)" 0
	is "$what: no byte of the disk changed" "$(disk_sum n1)" "$before"
	ok "$what: the system disk is as it was" "$VLAB" check-system-disks "$LAB"
}

ok 'somebody made a file system on the disk' "$VLAB" sign-disk "$LAB" n1
before=$(disk_sum n1)
serve_start
"$VLAB" start "$LAB" n1
refused 'data without consent' 'n1.*ext4' "$before" 'covers'
serve_kill

sed -i 's/serial: ASSAY-N1-DATA/serial: NO-SUCH-DISK/' "$LAB/lab.yaml"
serve_start
refused 'serial absent' 'n1.*NO-SUCH-DISK' "$before" 'ASSAY-N1-DATA'
serve_kill

cp "$LAB/right.yaml" "$LAB/lab.yaml"
"$VLAB" stop "$LAB" n1
ok 'a second disk has the same serial' "$VLAB" add-disk "$LAB" n1 ASSAY-N1-DATA
serve_start
"$VLAB" start "$LAB" n1
refused 'serial twice' 'n1.*ASSAY-N1-DATA.*(2 disks|twice|two)' "$before" '.'
done_testing
