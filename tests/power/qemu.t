#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# QEMU over QMP: real machines, without a guest.
. "$(dirname "$0")/lib.sh"
folder=$DIR/a-folder-whose-name-is-longer-than-a-unix-socket-may-have-in-its-address-so-that-it-is-opened-through-the-folder
mkdir "$folder"
machine()
{
	rm -f "$folder/qmp"
	(cd "$folder" && exec qemu-system-x86_64 -M none -display none -nodefaults -qmp unix:qmp,server=on,wait=off) &
	QEMU=$!
	PIDS+=("$QEMU")
	wait_for 20 'QMP' test -S "$folder/qmp"
}
qmp() { (cd "$folder" && printf '%s\n' '{"execute":"qmp_capabilities"}' "$@" | socat -t 1 - UNIX-CONNECT:qmp); }
stopped() { ! kill -0 "$QEMU" 2>/dev/null; }

machine
lab "{driver: qemu, socket: ${folder##*/}/qmp}"
says 0 '^n1: on$' status
qmp '{"execute":"stop"}' >/dev/null
like 'the machine is stopped' "$(qmp '{"execute":"query-status"}')" '"status": "paused"'
says 0 '^n1: is reset$' cycle
like 'a stopped machine runs again' "$(qmp '{"execute":"query-status"}')" '"status": "running"'
says 0 'is switched off' off
ok 'off ends the process' wait_for 10 'its end' stopped
says 3 'nobody listens on .*/qmp: the virtual machine does not run; start it' cycle
machine
kill -STOP "$QEMU"
says 3 'QEMU does not answer in time' cycle --timeout 2
kill -CONT "$QEMU"
says 0 'is reset' cycle
done_testing
