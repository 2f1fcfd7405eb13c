# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The namespace: a management bridge br-m with the server's address, one bridge per storage leg (br-l1, br-l2), a tap per
# node and bridge (n1-m, n1-l1, n1-l2).

LAB_ADDRESS=10.77.0.1/24
LAB_LEGS=2
# The largest packet the 82599 takes.
LEG_MTU_BYTES=9710

net_exists() {
	[ -e "/run/netns/$LAB_NS" ]
}

in_net() {
	ip netns exec "$LAB_NS" "$@"
}

net_up() {
	local n leg
	ip netns add "$LAB_NS"
	# No neighbour discovery of the host's own on the wires.
	in_net sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ip -n "$LAB_NS" link set lo up
	bridge_add br-m 1500
	ip -n "$LAB_NS" addr add "$LAB_ADDRESS" dev br-m
	for ((leg = 1; leg <= LAB_LEGS; leg++)); do
		# A leg is a cable: with no ageing time nothing is learned, every frame comes out at the other ends.
		bridge_add "br-l$leg" $LEG_MTU_BYTES ageing_time 0
	done
	router_up
	for ((n = 1; n <= $1; n++)); do
		tap_add "n$n-m" br-m 1500
		for ((leg = 1; leg <= LAB_LEGS; leg++)); do
			tap_add "n$n-l$leg" "br-l$leg" $LEG_MTU_BYTES
		done
	done
	pause_wires "$1"
}

# iPXE asks for IPv6 routers beside DHCP and gives up only after 16 s, at every boot. So the management network has one that
# answers at once (and routes nothing: lifetime 0); the other announcements, one in half an hour, are for nobody.
router_up() {
	in_net sysctl -qw net.ipv6.conf.br-m.disable_ipv6=0
	ip -n "$LAB_NS" addr add fd77::1/64 dev br-m nodad
	in_net dnsmasq --conf-file=/dev/null --port=0 --interface=br-m --bind-interfaces --user=root \
		--pid-file="$LAB_DIR/router.pid" --enable-ra --dhcp-range=fd77::,ra-only --ra-param=br-m,1800,0
}

bridge_add() {
	local name=$1 mtu=$2
	shift 2
	ip -n "$LAB_NS" link add "$name" mtu "$mtu" type bridge stp_state 0 forward_delay 0 mcast_snooping 0 \
		group_fwd_mask 0xfff8 "$@"
	ip -n "$LAB_NS" link set "$name" up
}

tap_add() {
	ip -n "$LAB_NS" tuntap add "$1" mode tap
	ip -n "$LAB_NS" link set "$1" mtu "$3" master "$2" up
	# Only the port's own mask lets LACP through; pause frames never pass a bridge (nic.sh).
	ip -n "$LAB_NS" link set "$1" type bridge_slave group_fwd_mask 0xfffd
}

net_down() {
	if net_exists; then
		ip netns del "$LAB_NS"
	fi
}

# net_kill_rest: whoever is left in our own namespace is there by `exec` (a server whose driver died, for one)
net_kill_rest() {
	local pids signal
	net_exists || return 0
	for signal in TERM KILL; do
		pids=$(ip netns pids "$LAB_NS" | tr '\n' ' ')
		[ -n "${pids// /}" ] || return 0
		say "lab $LAB_DIR: SIG$signal to what still runs in its namespace: $pids"
		# shellcheck disable=SC2086
		kill -s "$signal" $pids 2>/dev/null || :
		wait_until 3 net_empty || :
	done
	net_empty || die "processes in namespace $LAB_NS do not end: $(ip netns pids "$LAB_NS" | tr '\n' ' ')"
}

net_empty() {
	[ -z "$(ip netns pids "$LAB_NS")" ]
}

# leg_ends LEG [NODE]: the taps that a leg command is about
leg_ends() {
	local leg n
	leg=$(leg_number "$1")
	if [ $# -gt 1 ]; then
		n=$(node_number "$2")
		echo "n$n-l$leg"
		return
	fi
	for ((n = 1; n <= LAB_NODES; n++)); do
		echo "n$n-l$leg"
	done
}

cmd_leg_cut() {
	[ $# = 2 ] || [ $# = 3 ] || die "leg-cut DIR LEG on|off [NODE]"
	local ends tap state=3
	[ "$(one_of leg-cut "$2" on off)" = off ] || state=0
	ends=$(leg_ends "$1" ${3:+"$3"})
	for tap in $ends; do
		in_net bridge link set dev "$tap" state $state 2>/dev/null ||
			[ $state = 3 ] || die "leg-cut: the bridge refused to block $tap"
		pause_wire "$tap" "$([ $state = 3 ] && echo join || echo cut)"
	done
}

# A bridge drops, without a word, what is larger than the MTU of the port it should leave by: a black hole.
cmd_leg_mtu() {
	[ $# = 2 ] || [ $# = 3 ] || die "leg-mtu DIR LEG BYTES [NODE]"
	local ends tap bytes
	bytes=$(number BYTES "$2" 68 $LEG_MTU_BYTES)
	ends=$(leg_ends "$1" ${3:+"$3"})
	for tap in $ends; do
		ip -n "$LAB_NS" link set "$tap" mtu "$bytes"
	done
}

cmd_exec() {
	[ $# -gt 0 ] || die "exec DIR COMMAND…"
	exec ip netns exec "$LAB_NS" "$@"
}
