#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Legs that are wrong (a black hole one way, cables crossed, an address twice) and storage NICs that the lab file has wrong:
# each is named before anything is measured, and the nodes go on.
. "$(dirname "$0")/lib.sh"
lab_new legs
serve_start
"$VLAB" start "$LAB" n1 n2

# fault NAME: runs the one cell, which must fail, and keeps what every node said
fault()
{
	run_plan tests/boot/legs.yaml
	run=$(sql "SELECT run FROM runs ORDER BY rowid DESC LIMIT 1")
	said=$(sql "SELECT node || ': ' || json_extract(body, '\$.error.message') FROM results WHERE run = '$run' AND verdict = 'failed'")
	is "$1: nothing is measured" "$(sql "SELECT count(*) FROM results WHERE run = '$run' AND verdict <> 'failed'")" 0
}

"$VLAB" leg-mtu "$LAB" 2 1500 n2
fault 'black hole one way'
"$VLAB" leg-mtu "$LAB" 2 9710 n2
ok 'black hole one way: leg, direction and size' \
	grep -qE 'n1: Black hole on leg 2, NIC eth1 of node n1.*packets of 9000 bytes do not; from n1 to n2 up to 15[0-9]{2} bytes pass, the other way is sound' <<<"$said"

"$VLAB" exec "$LAB" sh -c 'ip link set n2-l1 master br-l2; ip link set n2-l2 master br-l1'
fault 'slaves crossed'
"$VLAB" exec "$LAB" sh -c 'ip link set n2-l1 master br-l1; ip link set n2-l2 master br-l2'
ok 'slaves crossed: which' grep -q 'Legs are crossed: NIC eth. of node n. is leg' <<<"$said"

"$VLAB" exec "$LAB" ip addr add 10.99.0.1/24 dev br-l1
fault 'an address twice'
"$VLAB" exec "$LAB" ip addr del 10.99.0.1/24 dev br-l1
ok 'an address twice: which, and whose' grep -q 'n1: The same address twice: 10.99.0.1, which is to be ours on leg 1 (NIC eth0), is used there by' <<<"$said"

run_plan tests/boot/legs.yaml
is 'with sound legs the same nodes measure' "$RUN_STATUS" 0

# Storage NICs that the lab file has wrong, so that no cell can be measured: what is wrong, what is there, and the node goes on.
pci_of() { sql "SELECT json_extract(nic.value, '\$.pci') FROM boots, json_each(boots.inventory, '\$.nics') nic WHERE boots.node = 'n1' AND $1 LIMIT 1"; }
wrong_nics()
{
	serve_kill
	sed "s/\"00:1b:21:77:01:02\"/\"$2\"/" "$LAB/right.yaml" >"$LAB/lab.yaml"
	serve_start
	fault "$1"
	ok "$1: which, and the NICs that are there" grep -qE "n1: .*$3.*eth0 mac=00:1b:21:77:01:01 pci=0000:[0-9a-f:.]+ driver=ixgbe" <<<"$said"
}
cp "$LAB/lab.yaml" "$LAB/right.yaml"
wrong_nics 'a NIC that is not there' 00:1b:21:77:09:09 'The node has no NIC 00:1b:21:77:09:09'
wrong_nics 'the management NIC' "$(pci_of "json_extract(nic.value, '\$.management')")" 'is the management NIC, which cannot be a storage NIC'
wrong_nics 'a NIC twice' "$(pci_of "json_extract(nic.value, '\$.mac') = '00:1b:21:77:01:01'")" 'is named twice'
serve_kill
cp "$LAB/right.yaml" "$LAB/lab.yaml"
serve_start
run_plan tests/boot/legs.yaml
ok 'the report has what each leg carried' grep -qE '^  n1 +2  eth1 +10000 +9000 +9000 ' <<<"$(out/assay report --db "$DB")"
is 'with the right NICs the same boot measures' "$RUN_STATUS" 0
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
