# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# A word with a running QEMU.

# qmp NODE JSON: one command, prints its return value; 1 (and the error on stderr) if it failed or took over 5 s
qmp() {
	local node=$1 command=$2 line replies=0 status=1 pid in out
	# Unix socket names are short: stay in the folder.
	coproc QMP { cd "$LAB_DIR" && exec socat - "UNIX-CONNECT:$node.qmp" 2>/dev/null; }
	pid=$QMP_PID in=${QMP[1]} out=${QMP[0]}
	printf '{"execute":"qmp_capabilities"}\n%s\n' "$command" 1>&"$in" 2>/dev/null || :
	while read -r -t 5 -u "$out" line; do
		case $line in
		'{"error"'*)
			say "$node: QEMU refused $command: $line"
			break
			;;
		'{"return"'*)
			replies=$((replies + 1))
			if [ $replies = 2 ]; then
				printf '%s\n' "$line"
				status=0
				break
			fi
			;;
		esac
	done 2>/dev/null
	# It has nothing to tidy up, and socat once slept through a SIGTERM.
	kill -KILL "$pid" 2>/dev/null || :
	wait "$pid" 2>/dev/null || :
	return $status
}

cmd_powerdown() {
	local node
	for node; do
		node_must_run "$node"
		qmp "$node" '{"execute":"system_powerdown"}' >/dev/null || die "$node did not take the power button"
	done
}

cmd_reset() {
	local node
	for node; do
		node_must_run "$node"
		qmp "$node" '{"execute":"system_reset"}' >/dev/null || die "$node did not take the reset button"
	done
}

cmd_link() {
	[ $# = 3 ] || die "link DIR NODE LEG on|off"
	local leg up=false
	node_must_run "$1"
	leg=$(leg_number "$2")
	[ "$(one_of link "$3" on off)" = off ] || up=true
	qmp "$1" "{\"execute\":\"set_link\",\"arguments\":{\"name\":\"leg$leg\",\"up\":$up}}" >/dev/null ||
		die "link of $1 leg $leg did not change"
}
