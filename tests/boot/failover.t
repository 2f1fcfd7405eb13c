#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A failover by somebody's hand: the console says when to pull the cable and when to plug it in again; both ends lose their
# link, so that miimon sees it on both nodes, and DRBD keeps its connection.
. "$(dirname "$0")/lib.sh"
lab_new failover
serve_start
"$VLAB" start "$LAB" n1 n2

leg() { "$VLAB" link "$LAB" n1 1 "$1" && "$VLAB" link "$LAB" n2 1 "$1"; }
# What the operator does; bounded, for the node may never ask.
operator()
{
	wait_for 240 'the console asks for the cable to be pulled' grep -q 'failover: pull the cable of eth0 now' "$LAB/n1.serial" || return 1
	leg off
	wait_for 60 'the console asks for the cable again' grep -q 'failover: plug the cable of eth0' "$LAB/n1.serial" || return 1
	leg on
}
operator &
hand=$!
run_plan tests/boot/failover-operator.yaml
wait "$hand"
is 'the operator was asked for both' $? 0
is 'the run ends well' "$RUN_STATUS" 0
failover() { sql "SELECT json_extract(body, '\$.$1') FROM results WHERE verdict = 'valid' AND role = 'measure'"; }
is 'the other slave took over' "$(failover measurement.failover.slave)/$(failover measurement.failover.active_after)" eth0/eth1
is 'DRBD kept its connection' "$(failover measurement.failover.drbd_states)" '["Connected UpToDate/UpToDate"]'
stall_ns=$(failover measurement.failover.stall_ns)
ok 'writes stalled, and less than DRBD waits for its peer' [ "${stall_ns:-0}" -gt 0 -a "${stall_ns:-0}" -lt 6000000000 ]
is 'the slave that was pulled is in use again' "$(failover evidence.after.bond.active_slave)" eth0
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
