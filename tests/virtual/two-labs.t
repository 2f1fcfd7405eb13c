#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two labs side by side do not know of each other.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
LABS=("$WORK/a" "$WORK/b")
a=${LABS[0]} b=${LABS[1]}

must "the first comes up" up "$a" --nic virtio
must "the second comes up" up "$b" --nic virtio --nodes 3
ok "not in one namespace" test "$(namespace_of "$a")" != "$(namespace_of "$b")"
ok "nodes of the first" "$LAB" start "$a" n1 n2
ok "nodes of the second" "$LAB" start "$b" n1 n3
like "the first has no n3" "$("$LAB" start "$a" n3 2>&1)" "no node 'n3'"
in_b=$(ip netns pids "$(namespace_of "$b")" | tr '\n' ' ')
ok "the first goes down" "$LAB" down "$a"
# shellcheck disable=SC2086
is "the second's processes stay" "$(alive $in_b | wc -w)" 3
like "the second's nodes are on" "$("$LAB" status "$b")" '^n3 +on '
ok "the second's system disks" "$LAB" check-system-disks "$b"
yaml=$("$LAB" lab-file "$b")
like "its lab file has n3" "$yaml" '^  n3:'
like "n3 has a group" "$yaml" 'nodes: \[n3\]'
ok "the second goes down" "$LAB" down "$b"
# shellcheck disable=SC2086
ok "nothing is left" gone "$b" $in_b
done_testing
