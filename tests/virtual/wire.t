#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The legs as cables: jumbo frames and LACP pass, leg-cut and leg-mtu swallow what they should and nothing else.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
lab=${LABS[0]}

wire() {
	"$LAB" exec "$lab" python3 "$ROOT/tests/virtual/wire.py" "$@"
}

must "up" up "$lab" --nic virtio
for bytes in 60 1514 9014 9724; do
	ok "$bytes bytes pass leg 1" wire n1-l1 n2-l1 $bytes
done
ok "9014 bytes pass leg 2, the other way" wire n2-l2 n1-l2 9014
ok "LACP passes" wire n1-l1 n2-l1 60 01:80:c2:00:00:02
ok "multicast passes" wire n1-l1 n2-l1 60 01:00:5e:00:00:01
ok "legs are not joined" not wire n1-l1 n2-l2 60
ok "a leg is not management" not wire n1-l1 n2-m 60 ff:ff:ff:ff:ff:ff

ok "black hole over 1500 on leg 1" "$LAB" leg-mtu "$lab" 1 1500
ok "1514 bytes still pass" wire n1-l1 n2-l1 1514
ok "9014 bytes do not" not wire n1-l1 n2-l1 9014
ok "on leg 2 they do" wire n1-l2 n2-l2 9014
ok "taken back" "$LAB" leg-mtu "$lab" 1 9710
ok "9014 bytes pass again" wire n1-l1 n2-l1 9014
ok "black hole only towards n2" "$LAB" leg-mtu "$lab" 1 1500 n2
ok "towards n2 they vanish" not wire n1-l1 n2-l1 9014
ok "towards n1 they pass" wire n2-l1 n1-l1 9014
"$LAB" leg-mtu "$lab" 1 9710

# Both ports need a carrier before they can be cut: a node has to be there.
ok "nodes" "$LAB" start "$lab" n1 n2
ok "cut leg 2" "$LAB" leg-cut "$lab" 2 on
like "its ports are blocked" "$("$LAB" exec "$lab" bridge link show dev n1-l2)" 'state disabled'
like "leg 1 forwards" "$("$LAB" exec "$lab" bridge link show dev n1-l1)" 'state forwarding'
like "the carrier stays" "$("$LAB" exec "$lab" ip -br link show n1-l2)" 'LOWER_UP'
ok "joined again" "$LAB" leg-cut "$lab" 2 off
like "it forwards" "$("$LAB" exec "$lab" bridge link show dev n1-l2)" 'state forwarding'
done_testing
