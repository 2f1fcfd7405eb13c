#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 802.3ad between two nodes, at either rate of LACPDUs: nothing is measured before both ends use every slave; and a leg that
# LACPDUs do not pass is named.
. "$(dirname "$0")/lib.sh"
lab_new lacp
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/lacp.yaml
is 'the run ends with every cell valid' "$RUN_STATUS" 0
samples_complete 6 lacp
is 'no sample had to be measured again' "$(sql "SELECT count(*) FROM attempts WHERE state <> 'valid'")" 0

# states RATE WHEN END: what that end's ports were in, of all slaves of all samples of both nodes
states()
{
	sql "SELECT DISTINCT json_extract(slave.value, '\$.$3') FROM results, json_each(CAST(body AS TEXT), '\$.evidence.$2.bond.slaves') slave
		WHERE json_extract(CAST(body AS TEXT), '\$.cell.state.\"bond.lacp-rate\"') = '$1'"
}
used='"aggregation","synchronization","collecting","distributing"]'
for when in before after; do
	for end in lacp_actor lacp_partner; do
		is "slow, $when the sample, $end of every slave" "$(states slow $when $end)" "[\"activity\",$used"
		is "fast, $when the sample, $end of every slave" "$(states fast $when $end)" "[\"activity\",\"short-timeout\",$used"
	done
done

# lacp LEG on|off: whether the leg's switch lets n1's LACPDUs through
lacp() { "$VLAB" exec "$LAB" ip link set "n1-l$1" type bridge_slave group_fwd_mask "$([ "$2" = on ] && echo 0xfffd || echo 0)"; }
lacp 2 off
run_plan tests/boot/lacp-deaf.yaml
ok 'a leg that LACPDUs do not pass: nothing is measured' [ "$RUN_STATUS" != 0 ]
like 'and the bond says what lacks' "$(cat "$LAB/run.log")" '802.3ad: (slave eth1 \(leg 2\) does not yet collect and distribute at both ends: its port is|1 of 2 slaves are in the active aggregator)'
lacp 2 on
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven lacp
done_testing
