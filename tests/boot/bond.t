#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bond in all its modes, between two nodes; options and slaves that are refused; what a slave that is pulled costs.
. "$(dirname "$0")/lib.sh"
lab_new bond
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/bond-modes.yaml
[ "$RUN_STATUS" != 0 ]
is 'a run with cells that failed does not end well' $? 0

body() { sql "SELECT json_extract(body, '$2') FROM results WHERE $1 ORDER BY rowid"; }
# mode MODE JSON-PATH: of the valid sample of that mode, on the node that measures
mode() { body "verdict = 'valid' AND role = 'measure' AND json_extract(body, '\$.cell.state.\"bond.mode\"') = '$1'" "$2"; }
failed() { body "verdict = 'failed' AND role = 'measure' AND json_extract(body, '\$.cell.state.\"$1\"') = '$2'" '$.error'; }

is 'every mode has its sample' "$(sql "SELECT DISTINCT json_extract(body, '\$.evidence.after.bond.mode') FROM results WHERE verdict = 'valid' AND role = 'measure'" | sort | xargs)" \
	'802.3ad active-backup balance-rr balance-tlb balance-xor broadcast'
is 'cells that can be measured are, once each' "$(valid_samples)" 7
is 'what was asked was in force' "$(sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND json_array_length(body, '\$.evidence.differences') > 0")" 0
is 'the primary is active, though it was enslaved second' \
	"$(mode active-backup '$.evidence.before.bond.active_slave' | head -n 1)/$(mode active-backup '$.evidence.before.bond.slaves[1].name' | head -n 1)" eth0/eth0
is 'LACP: the partner is the other node' "$(mode 802.3ad '$.evidence.after.bond.lacp.partner_mac' | cut -c -11 | uniq)/$(mode 802.3ad '$.evidence.after.bond.lacp.ports' | uniq)" 00:1b:21:77/2
ok 'a hash that sends all through one slave is noted' grep -q 'balance-xor over 2 slaves, but eth. alone sent 100.0 %' <<<"$(mode balance-xor '$.evidence.notes[0]')"
is 'balance-rr sends through both: no note' "$(mode balance-rr '$.evidence.notes[0]')" ''
ok 'the report has the notes' grep -q 'Notes on samples that count' <<<"$(out/assay report --db "$DB")"
is 'each leg was proven both ways at full size' "$(mode balance-rr '$.evidence.paths[1].mtu_in_bytes')/$(mode balance-rr '$.evidence.paths[1].mtu_out_bytes')" 9000/9000
carried=$(mode balance-rr '$.evidence.paths[1].tcp.mb_per_s')
ok "TCP carried $carried MB/s on leg 2, over four connections" [ "${carried%.*}" -ge 1 -a "$(mode balance-rr '$.evidence.paths[1].tcp.connections[3].retransmits')" -ge 0 ]
is 'the peer has its own direction' "$(sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND role = 'peer' AND json_extract(body, '\$.evidence.paths[0].tcp.mb_per_s') > 1 AND json_extract(body, '\$.evidence.paths[1].tcp.mb_per_s') > 1")" 7
is 'drivers count pause frames of each slave' "$(mode balance-rr '$.evidence.nics[1].counters_after.rx_flow_control_xoff' | grep -c '^[0-9]')" 1
is 'with 50 small pings' "$(mode balance-rr '$.evidence.paths[0].rtt.sent')" 50

ok 'an option that the mode does not take: the kernel says why' \
	grep -q 'bond0 refuses bond.lacp-rate = fast in mode active-backup; the kernel says: option not supported in mode' \
	<<<"$(failed bond.lacp-rate fast)"
ok 'a slave that does not exist is named' grep -q 'there is no slave 3, the node has 2 storage NICs' <<<"$(failed bond.slaves 1,3)"
# refused TEXT FOR: the plan with FOR in TEXT's place is refused, before any node is asked
refused() { sed "s/$1/$2/" tests/boot/bond-modes.yaml >"$LAB/refused.yaml"; out/assay plan "$LAB/refused.yaml" 2>&1; }
like 'a slave that appears twice: refused with the plan' "$(refused '"1,3"' '"2,2"')" 'bond.slaves takes one of all\|reversed\|1\|2'
like 'a mode that no kernel knows: refused with the plan' "$(refused 'bond.mode: broadcast' 'bond.mode: balance-magic')" 'bond.mode takes one of none\|balance-rr\|'
ok 'a mode that cannot work on legs apart says so' grep -q 'balance-alb cannot work here' <<<"$(failed bond.mode balance-alb)"
is 'all are the fault of the cell, or are not supported: not tried again' \
	"$(sql "SELECT json_extract(body, '\$.error.scope') FROM results WHERE verdict = 'failed' AND role = 'measure'" | sort | uniq -c | xargs)" '2 cell 1 unsupported'

# A slave that goes and comes back while a sample runs: both ends lose leg 1 (so both nodes turn to leg 2, where frames then
# come), and get it back, the primary.
came_on() { [ "$("$VLAB" exec "$LAB" cat "/sys/class/net/n1-l$1/statistics/rx_packets")" -gt "$2" ]; }
leg_1() { "$VLAB" link "$LAB" n1 1 "$1" && "$VLAB" link "$LAB" n2 1 "$1"; }
ready() { [ "$(grep -acE 'assay [0-9.]+: ready' "$LAB/n1.serial")" -gt "$1" ]; }
flap()
{
	wait_for 200 'the sample is to begin' ready "$1" && leg_1 off || return
	seen=$("$VLAB" exec "$LAB" cat /sys/class/net/n1-l2/statistics/rx_packets)
	wait_for 20 'the other leg is in use' came_on 2 "$((seen + 2))"
	leg_1 on
}
flap "$(grep -acE 'assay [0-9.]+: ready' "$LAB/n1.serial")" &
hand=$!
run_plan tests/boot/bond-flap.yaml
wait "$hand"
is 'there and back: it was done' $? 0
is 'the sample is measured again, and then counts' "$RUN_STATUS" 0
run=$(sql "SELECT run FROM runs ORDER BY rowid DESC LIMIT 1")
is 'the first is invalid: its evidence has every active slave' \
	"$(sql "SELECT json_extract(body, '\$.evidence.during.bond.active_slaves') FROM results WHERE run = '$run' AND role = 'measure' AND verdict = 'invalid'")" '["eth0","eth1","eth0"]'
ok 'and says so' grep -q "the bond's active slave was eth0, then eth1, then eth0" <<<"$(sql "SELECT json_extract(body, '\$.reason') FROM results WHERE run = '$run' AND role = 'measure' AND verdict = 'invalid'")"
is 'in the one that counts, it stayed' \
	"$(sql "SELECT json_extract(body, '\$.evidence.during') FROM results WHERE run = '$run' AND role = 'measure' AND verdict = 'valid'")" '{"bond":{"active_slaves":["eth0"],"changes":[],"complete":true}}'

# Both legs on one switch, which learns.
"$VLAB" exec "$LAB" sh -c 'ip link set br-l1 type bridge ageing_time 30000; ip link set n1-l2 master br-l1; ip link set n2-l2 master br-l1'
run_plan tests/boot/bond-switch.yaml
"$VLAB" exec "$LAB" sh -c 'ip link set br-l1 type bridge ageing_time 0; ip link set n1-l2 master br-l2; ip link set n2-l2 master br-l2'
is 'on one switch, tlb and alb work, and legs are not taken for crossed' "$RUN_STATUS" 0

run_plan tests/boot/stream.yaml
is 'stream, rtt and failover are measured' "$RUN_STATUS" 0
work() { body "run LIKE 'stream%' AND verdict = 'valid' AND role = 'measure' AND json_extract(body, '\$.cell.workload.type') = '$1'" "$2"; }
is 'stream: TCP_INFO of each connection is kept' "$(work stream '$.measurement.stream.connections[1].mss_bytes')" 8948
ok 'stream: the peer had what was sent' [ "$(work stream '$.measurement.bytes')" -gt 1000000 ]
is 'rtt: every message came back' "$(work rtt '$.measurement.rtt.count')" 2000
is 'failover: the slave in use was pulled, and the other one took over' \
	"$({ work failover '$.measurement.failover.slave'; work failover '$.measurement.failover.active_after'; } | sort | xargs)" \
	'eth0 eth1'
stall_ns=$(work failover '$.measurement.failover.stall_ns')
ok 'failover: writes stalled for a while, but not for ever' [ "${stall_ns:-0}" -gt 100000000 -a "${stall_ns:-0}" -lt 8000000000 ]
is 'failover: DRBD did not notice' "$(work failover '$.measurement.failover.drbd_states')" '["Connected UpToDate/UpToDate"]'
ok 'failover: what was lost was sent again' [ "$(work failover '$.measurement.failover.retransmitted_segments')" -ge 1 ]
# At its speed of before only after the stall, some of which may have been before the pull; or not within the sample, on a
# machine that is busy with others.
recovered_ns=$(work failover '$.measurement.failover.recovered_ns')
ok "failover: at its speed of before after $recovered_ns ns, writes having stalled for $stall_ns ns" \
	[ "$recovered_ns" = -1 -o "$((${recovered_ns:-0} + 500000000))" -gt "${stall_ns:-0}" ]
ok 'the report tells of it' grep -q 'eth. pulled, writes stalled for' <<<"$(out/assay report --db "$DB")"
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven bond
done_testing
