#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A lab comes up, its nodes take power and cables as told, and nothing is left of it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
lab=${LABS[0]}
namespace=$(namespace_of "$lab")

pids() {
	ip netns pids "$namespace" | tr '\n' ' '
}

ok "down of what never was" "$LAB" down "$lab"
must "up" up "$lab"
ok "the namespace is there" test -e "/run/netns/$namespace"
ok "up twice is refused" not up "$lab"
links=$("$LAB" exec "$lab" ip -br link)
for tap in n1-m n1-l1 n1-l2 n2-m n2-l1 n2-l2 br-m br-l1 br-l2; do
	like "link $tap" "$links" "^$tap "
done
is "the server's address" "$("$LAB" exec "$lab" ip -4 -br addr show br-m | awk '{ print $3 }')" 10.77.0.1/24
like "lab.json says which NIC" "$(cat "$lab/lab.json")" '"storage_nic": "(ixgbe|virtio)"'
like "lab.json says which accelerator" "$(cat "$lab/lab.json")" '"accelerator": "tcg"'

ok "start" "$LAB" start "$lab" n1 n2
like "status: n1 is on" "$("$LAB" status "$lab")" '^n1 +on \([0-9]+\)'
ok "start twice is refused" not "$LAB" start "$lab" n1
ok "link off" "$LAB" link "$lab" n1 2 off
ok "link on" "$LAB" link "$lab" n1 2 on
ok "reset" "$LAB" reset "$lab" n1
ok "powerdown is taken" "$LAB" powerdown "$lab" n2
like "an unknown node is named" "$("$LAB" start "$lab" n9 2>&1)" "no node 'n9'"
like "a leg that is not there" "$("$LAB" link "$lab" n1 3 off 2>&1)" "'3' is not a whole number from 1 to 2"
like "an unknown command" "$("$LAB" stat "$lab" 2>&1)" "unknown command 'stat'"
like "an unknown option" "$("$LAB" up "$WORK/other" --nodse 3 2>&1)" "unknown option '--nodse'"
before=$(pids)
# shellcheck disable=SC2086
is "three processes: two nodes and the router" "$(wc -w <<<$before)" 3
ok "stop" "$LAB" stop "$lab" n1
like "status: n1 is off" "$("$LAB" status "$lab")" '^n1 +off'
like "no QMP to a node without power" "$("$LAB" link "$lab" n1 1 off 2>&1)" "n1 is powered off"
ok "stop of what is off" "$LAB" stop "$lab" n1
ok "start again" "$LAB" start "$lab" n1
before="$before $(pids)"
ok "down" "$LAB" down "$lab"
# shellcheck disable=SC2086
ok "nothing is left" gone "$lab" $before
ok "down again" "$LAB" down "$lab"
like "no lab, no status" "$("$LAB" status "$lab" 2>&1)" "there is no lab"

# The driver is killed while a node and a server of its own run.
(
	"$LAB" up "$lab" --kernel /nonexistent
	"$LAB" start "$lab" n1
	"$LAB" exec "$lab" sleep 1000
	: # so that the shell stays, instead of becoming the last command
) >/dev/null 2>&1 &
driver=$!
sleeping() {
	pids | xargs ps -o comm= -p | grep -qx sleep
}
wait_for 60 "the driver's last process" sleeping
before=$(pids)
kill -KILL $driver
wait $driver 2>/dev/null
# shellcheck disable=SC2086
is "they outlive the driver" "$(alive $before | wc -w)" 3
ok "down after a killed driver" "$LAB" down "$lab"
# shellcheck disable=SC2086
ok "nothing is left of it" gone "$lab" $before
done_testing
