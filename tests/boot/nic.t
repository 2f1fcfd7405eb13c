#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Settings of the storage NICs on the real ixgbe driver: each level is read back, nothing else changes, a level that the
# driver refuses fails its cell with the kernel's words while the run goes on, and everything is put back.
. "$(dirname "$0")/lib.sh"
lab_new nic
tests/boot/foreign-ixgbe.sh "$LAB/image" || exit 1
serve_start --image "$LAB/image"
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/nic.yaml
is 'the run is not complete, for the exit code' "$RUN_STATUS" 1
is 'and that is for the module of another kernel alone: all else was measured, or is not supported' \
	"$(sql "SELECT label FROM cells WHERE failed AND json_extract(error, '\$.scope') <> 'unsupported'")" driver=out-of-tree
is 'the storage NICs are the 82599 model' "$(jq -r .storage_nic "$LAB/lab.json")" ixgbe

# What each of both NICs of both nodes had in force, where the cell's level of FACTOR is LEVEL.
in_force()
{
	sql "SELECT DISTINCT json_extract(nic.value, '\$.settings.\"$1\"') FROM results, json_each(CAST(body AS TEXT), '\$.evidence.nics') nic
		WHERE verdict = 'valid' AND json_extract(CAST(body AS TEXT), '\$.cell.state.\"$1\"') $2" | xargs
}

while read -r factor found level; do
	is "$factor: what the driver set by itself" "$(in_force "$factor" 'IS NULL')" "$found"
	is "$factor: $level is in force on every NIC, and only where it was asked for" "$(in_force "$factor" "IS NOT NULL")" "$level"
done <<X
nic.pause-rx on off
nic.pause-tx on off
nic.channels 2 1
nic.ring-rx 512 1024
nic.ring-tx 512 256
nic.gro on off
nic.lro off on
nic.rx-checksum on off
nic.tx-checksum on off
nic.sg on off
nic.ntuple off on
X
is 'rx-usecs: two levels and the default' "$(sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.rx-usecs\"') FROM results WHERE verdict = 'valid' ORDER BY 1" | xargs)" '1 7 50'
is 'the largest MTU was proven by pings, on each leg and on the bond' \
	"$(sql "SELECT DISTINCT json_extract(path.value, '\$.mtu_bytes') FROM results, json_each(CAST(body AS TEXT), '\$.evidence.paths') path WHERE verdict = 'valid' AND json_extract(CAST(body AS TEXT), '\$.cell.state.\"nic.mtu\"') = 9710")" 9710
is 'tso and gso: off where they were asked for, or where sg was' \
	"$(sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.tso\"') = 'off' AND json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.gso\"') = 'off'")" 4
is 'nothing in force differed from what was asked' "$(sql "SELECT count(*) FROM results WHERE json_array_length(CAST(body AS TEXT), '\$.evidence.differences') > 0")" 0
is 'every other cell was measured' "$(valid_samples)" 13
is 'nic.port: the second storage NIC of each node carried the network' \
	"$(sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.nics[0].mac') FROM results WHERE verdict = 'valid' AND json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.port\"') = '2' ORDER BY 1" | xargs)" \
	"$(sql "SELECT json_extract(node.value, '\$.storage_nics[1]') FROM runs, json_each(lab, '\$.nodes') node ORDER BY 1" | xargs)"

# interrupts FACTOR LEVEL CPU: how many CPU took in the samples of that cell, on both nodes. The kernel moves an interrupt
# when it comes next, so that the first of each vector, 3 a NIC, may still be counted where it was before.
interrupts()
{
	sql "SELECT coalesce(sum(json_extract(one.value, '\$.count')), 0) FROM results, json_each(CAST(body AS TEXT), '\$.evidence.interrupts') one
		WHERE verdict = 'valid' AND json_extract(CAST(body AS TEXT), '\$.cell.state.\"$1\"') = $2 AND json_extract(one.value, '\$.cpu') = $3"
}
ok 'one-cpu: the interrupts of a sample are those of the first CPU' test "$(interrupts irq.affinity "'one-cpu'" 0)" -ge 40
ok 'one-cpu: not of the other' test "$(interrupts irq.affinity "'one-cpu'" 1)" -le 12
ok 'irq.mask: the interrupts of a sample are those of its CPU' test "$(interrupts irq.mask 2 1)" -ge 40
ok 'irq.mask: not of the other' test "$(interrupts irq.mask 2 0)" -le 12
is 'interrupts of every sample were counted' "$(sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND json_array_length(CAST(body AS TEXT), '\$.evidence.interrupts') = 0")" 0

out=$(cat "$LAB/run.log")
like 'a ring that is too long: node, NIC, setting, and the words of the kernel' "$out" \
	'node n[12], step nic, eth[0-9]: Storage NIC eth[0-9] refuses nic.ring-rx=16384 \(it has 512\): requested ring size exceeds maximum'
like 'too many queues' "$out" 'refuses nic.channels=1000 \(it has 2\): requested channel count exceeds maximum'
like 'a parameter that the driver does not know' "$out" 'refuses nic.adaptive-rx=on: cannot modify an unsupported parameter'
like 'a level that the driver finds wrong' "$out" 'refuses nic.tx-usecs=10'
like 'negotiated pause frames on a fibre of 10 Gb/s' "$out" 'refuses nic.pause-autoneg=on'
like 'a CPU that is not there' "$out" 'irq.mask=8 names CPUs that are not online'
like 'a build for another kernel' "$out" 'node n[12], step nic, .*Storage NIC eth0, nic.driver=out-of-tree: /lib/modules/6\.1\.[^ ]*/extra/ixgbe.ko was built for another kernel, "6\.0\.[^"]*"; this one is 6\.1\.'
# Many flows. What came in is counted at the node that did not measure.
run_plan tests/boot/nic-rss.yaml
is 'the plan of many flows ends well' "$RUN_STATUS" 0
# share LEVEL ROLE CPU: that CPU's share, in %, of the interrupts of the sample whose irq.affinity is LEVEL
share()
{
	sql "SELECT CAST(100.0 * total(json_extract(one.value, '\$.count')) FILTER (WHERE json_extract(one.value, '\$.cpu') = $3) / total(json_extract(one.value, '\$.count')) AS INTEGER)
		FROM results, json_each(CAST(body AS TEXT), '\$.evidence.interrupts') one
		WHERE verdict = 'valid' AND role = '$2' AND run LIKE 'nic-rss%' AND json_extract(CAST(body AS TEXT), '\$.cell.state.\"irq.affinity\"') = '$1'"
}
for cpu in 0 1; do
	got=$(share spread peer $cpu)
	ok "many flows spread over the queues: CPU $cpu took $got % of the receiver's interrupts" test "${got:-0}" -ge 20
done
ok 'many flows, one CPU for all interrupts' test "$(share one-cpu peer 0)" -ge 95
rate=$(sql "SELECT CAST(max(json_extract(CAST(body AS TEXT), '\$.measurement.mb_per_s')) AS INTEGER) FROM results WHERE run LIKE 'nic-rss%' AND verdict = 'valid'")
echo "# 24 TCP connections between the nodes: $rate MB/s"
is 'XPS and RPS are read back, two levels each' "$(sql "SELECT json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.rps\"') || ' ' || json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.xps\"') FROM results WHERE verdict = 'valid' AND role = 'peer' AND run LIKE 'nic-rss%' ORDER BY 1" | xargs)" \
	'all off off spread'
is 'nothing could not be put back' "$(grep -aE 'cannot be put back|after it was put back' "$LAB"/n?.serial)" ''
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven nic
done_testing
