#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The operator's own command: how it is called, and what becomes of one that fails, hangs or talks nonsense.
. "$(dirname "$0")/lib.sh"
cat >"$DIR/switch" <<'X'
#!/bin/bash
echo "$* boot=$ASSAY_BOOT in=$PWD" >>calls
case $(cat mode):$2 in
good:status) cat state ;;
good:on | good:cycle) echo on >state ;;
good:off) echo off >state ;;
nonsense:*) echo perhaps ;;
fails:*) echo "no such outlet" >&2; exit 3 ;;
hangs:*) sleep 300 & echo $! >child; wait ;;
orphan:*) sleep 300 & echo $! >child ;;
esac
X
chmod +x "$DIR/switch"
lab "{driver: command, command: [./switch, outlet-7]}"
mode() { echo "$1" >"$DIR/mode"; }
last() { tail -n 1 "$DIR/calls"; }

mode good
echo off >"$DIR/state"
says 0 '^n1: off$' status
says 0 '^n1: \./switch cycle n1: done$' cycle
is 'it gets its words, the action and the node, beside the lab file' "$(last)" "outlet-7 cycle n1 boot=network in=$DIR"
says 0 '^n1: on$' status
says 0 'done' off --own-boot-order
is 'the boot order can be left alone' "$(last)" "outlet-7 off n1 boot= in=$DIR"
says 0 '^n1: off$' status

mode nonsense
says 3 'says "perhaps", not on or off' status
mode fails
says 3 'node n1: \./switch cycle n1 ended with status 3: no such outlet' cycle
mode hangs
says 3 'did not end in time and was killed' cycle --timeout 1
gone() { ! kill -0 "$(cat "$DIR/child")" 2>/dev/null; }
ok 'and its children with it' wait_for 5 'the end of the child' gone
mode orphan
started=$SECONDS
says 0 'done' cycle
ok 'a child that keeps the output open keeps nobody waiting' [ $((SECONDS - started)) -lt 20 ]
kill "$(cat "$DIR/child")"
lab "{driver: command, command: [./not-there]}"
says 3 'not-there: No such file' cycle

lab "{driver: command}"
says 2 'driver command needs "command"' status
lab "{driver: command, command: [x], user: me}"
says 2 'driver command has no use for "user"' status
lab "{driver: steam}"
says 2 'driver' status
lab "{driver: command, command: [./switch]}"
says 2 '"explode" is none of status, on, off, cycle' explode
done_testing
