#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks that must not be written: one that carries data, a serial that is not there, a serial that is there twice. Each is
# refused with node, object and remedy, and not a byte of any disk changes.
. "$(dirname "$0")/lib.sh"
lab_new refuse --nodes 1
"$VLAB" nic-fault "$LAB" n1 1 link-width=4 link-speed=2.5
"$VLAB" nic-fault "$LAB" n1 2 sfp=rejected
cp "$LAB/lab.yaml" "$LAB/right.yaml"

# A plan that demands of the hardware what n1 lacks: to be accepted it takes more than that the run fails.
sed '/^repeat/i acceptance:\n  - {metric: pcie-width, at_least: x8}\n  - {metric: aer-errors, at_most: 0}\n  - {metric: storage-nics, at_least: 2}' \
	tests/boot/raw.yaml >"$LAB/demanding.yaml"

# refused WHAT PATTERN SUM PATTERN [PLAN STATUS]
refused()
{
	local what=$1 pattern=$2 before=$3 out
	run_plan "${5:-tests/boot/raw.yaml}"
	out=$(cat "$LAB/run.log")
	is "$what: the run fails" "$RUN_STATUS" "${6:-1}"
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
refused 'data without consent' 'n1.*ext4' "$before" 'covers' "$LAB/demanding.yaml" 4
like 'acceptance that demands eight lanes' "$(cat "$LAB/run.log")" '^  fail +pcie-width at least x8: node n1, eth0: x?4'
like 'acceptance that demands both NICs' "$(cat "$LAB/run.log")" '^  fail +storage-nics at least 2: node n1: 1'
like 'acceptance: no PCIe error was counted' "$(cat "$LAB/run.log")" '^  pass +aer-errors at most 0: node n1'
# What hello says of the NICs, whose faults are of this test's making.
warnings=$(sql "SELECT w.value FROM boots, json_each(boots.inventory, '\$.warnings') w WHERE node = 'n1'")
like 'hello: a slot that is too narrow' "$warnings" '^eth0 \(0000:01:00.0\): PCIe link width 4, where the card can 8'
like 'hello: and too slow' "$warnings" '^eth0 \(0000:01:00.0\): PCIe link speed 2.5 GT/s PCIe, where the card can 5.0'
like 'hello: a transceiver that the driver refuses' "$warnings" '^the driver refuses a transceiver: ixgbe 0000:02:00.0: failed to load because an unsupported SFP'
like 'hello: the port without a driver' "$warnings" '^NIC 0000:02:00.0 .* has no driver'
is 'hello: what the other module says of itself' "$(sql "SELECT DISTINCT json_extract(nic.value, '\$.transceiver.type') FROM boots, json_each(boots.inventory, '\$.nics') nic WHERE json_extract(nic.value, '\$.name') = 'eth0'")" 10GBASE-SR
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
