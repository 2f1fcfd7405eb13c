#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the 82599 model counts, how it pauses, and each of its faults, as the real driver sees them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/virtual/node.sh
. "$(dirname "$0")/node.sh"
# shellcheck source=tests/virtual/nodes.sh
. "$(dirname "$0")/nodes.sh"
lab=${LABS[0]}

# counters NODE LEG: `name value` lines of ethtool -S, without zeros. The driver reads the card when it is asked. A busy
# machine's console garbles a character now and then, so they come with their sum.
counters() {
	local said='' try
	node "$1" 30 "ethtool -S leg$2 | grep -vE ': 0\$|_queue_' >/tmp/counters" || return
	for try in 1 12 123 1234 12345; do
		said=$(node "$1" 30 "echo try $try; md5sum </tmp/counters; cat /tmp/counters" | sed 1d)
		[ "$(sed 1d <<<"$said" | md5sum)" != "$(head -n 1 <<<"$said")" ] || break
	done
	sed -n 's/^ *\([a-z0-9_]*\): \([0-9]*\)$/\1 \2/p' <<<"$said"
}

# value NAME: from the counters on stdin
value() {
	awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }'
}

# Before and after: mark, then grown NAME is by how much n2's counter on leg 1 (or n1's: grown_at_n1) has grown
mark() {
	before1=$(counters n1 1)
	before2=$(counters n2 1)
}

measure() {
	after1=$(counters n1 1)
	after2=$(counters n2 1)
}

grown() {
	echo $(($(value "$1" <<<"$after2") - $(value "$1" <<<"$before2")))
}

grown_at_n1() {
	echo $(($(value "$1" <<<"$after1") - $(value "$1" <<<"$before1")))
}

# more NAME NUMBER THAN
more() {
	ok "$1 ($2)" test "$2" -gt "$3"
}

# flood COUNT BYTES: datagrams from n1 to n2 over leg 1; prints how many the sender got rid of
flood() {
	node n1 60 "nic_stream udp 10.99.1.2 9 $1 $2"
}

# settle: both ends have their links, and know each other's address for an hour. So nothing but the test sends: else ARP
# asks every half minute, and after the first use of an address that it did not ask for, whether a neighbour is still
# there; such a frame, between the readings of the two nodes' counters, is in one of them alone.
settle() {
	for n in 1 2; do
		ok "n$n has its links" wait_for 60 "carrier" carriers n$n
		ok "n$n asks for no address again" node n$n 30 'cd /proc/sys/net/ipv4/neigh/leg1 && echo 3600000 >base_reachable_time_ms && echo 3600 >delay_first_probe_time'
	done
	ok "a ping" wait_for 60 "a ping" node n1 20 'ping -c 1 -W 1 10.99.1.2'
}

fault() {
	ok "nic-fault $*" "$LAB" nic-fault "$lab" "$@"
}

# Eight CPUs: the driver makes no more queues than that.
must "up" up "$lab" --cpus 8
like "the storage NICs are ixgbe" "$("$LAB" status "$lab")" '^storage NICs ixgbe'
like "an unknown fault" "$("$LAB" nic-fault "$lab" n1 1 drop=3 2>&1)" "'drop' is none of"
like "an unknown module" "$("$LAB" nic-fault "$lab" n1 1 sfp=lr 2>&1)" "'lr' is none of: sr twinax rejected"
fault n1 2 sfp=twinax
fault n2 2 link-width=4 link-speed=5
must "two nodes" rescue_pair

like "twinax" "$(node n1 30 'ethtool -m leg2')" 'Passive Cu cmplnce|Copper pigtail'
like "optics" "$(node n1 30 'ethtool -m leg1')" '10G Base-SR'
is "an x8 card in an x4 slot" "$(node n2 20 'cd /sys/class/net/leg2/device; cat current_link_width max_link_width | xargs')" "4 8"
is "an x8 card in an x8 slot" "$(node n2 20 'cd /sys/class/net/leg1/device; cat current_link_width current_link_speed | xargs')" "8 5.0 GT/s PCIe"
like "the driver says so" "$(node n2 20 'dmesg | grep -i "pcie bandwidth"')" '16.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x4'

# The counters of one card are those of the other, and of what was sent.
settle
mark
sent=$(flood 300 1000)
ok "50 pings" node n1 60 'ping -c 50 -A -q -s 100 10.99.1.2'
measure
is "300 datagrams" "$sent" 300
more "the receiver counts them" "$(grown rx_pkts_nic)" 349
is "each frame sent came in" "$(grown rx_pkts_nic)" "$(grown_at_n1 tx_pkts_nic)"
is "and each byte" "$(grown rx_bytes_nic)" "$(grown_at_n1 tx_bytes_nic)"
is "the driver agrees" "$(grown rx_pkts_nic)" "$(grown rx_packets)"
more "300 KB" "$(grown rx_bytes_nic)" $((300 * 1046 + 50 * 146 - 1))
is "no errors" "$(grown rx_crc_errors) $(grown rx_missed_errors) $(grown rx_no_dma_resources) $(grown rx_length_errors)" "0 0 0 0"
mark
ok "broadcast" node n1 30 'ip neigh flush dev leg1; ping -c 1 -W 2 10.99.1.2'
measure
more "is counted" "$(grown broadcast)" 0

# RSS: many flows over eight queues, then by a table that knows two of them.
# queues: packets of each of leg 1's receive queues at n2
queues() {
	node n2 30 "ethtool -S leg1 | sed -n 's/^ *rx_queue_[0-7]_packets: //p' | xargs"
}
# flows: 96 datagrams of as many flows from n1; prints how many packets each queue of n2 had of them, then their sum
flows() {
	local from
	from=$(queues)
	node n1 90 "i=0; while [ \$i -lt 96 ]; do nic_stream udp 10.99.1.2 9 1 200; i=\$((i + 1)); done >/dev/null"
	echo "$from $(queues)" | awk '{ for (i = 1; i <= NF / 2; i++) { n = $(i + NF / 2) - $i; sum += n; printf "%d ", n } print sum }'
}
ok "eight queues" node n2 60 'ethtool -L leg1 combined 8; ethtool -N leg1 rx-flow-hash udp4 sdfn'
settle
got=$(flows)
like "96 flows are spread over eight queues" "$got" '^([1-9][0-9]* ){8}96$'
ok "a table with two queues" node n2 60 'ethtool -X leg1 equal 2'
got=$(flows)
like "then they use those two" "$got" '^([1-9][0-9]* ){2}(0 ){6}96$'
like "the table is read back" "$(node n2 30 'ethtool -x leg1')" '^ +0: +0 +1 +0 +1 +0 +1 +0 +1'
ok "as before" node n2 60 'ethtool -X leg1 default; ethtool -L leg1 combined 2'
settle

# Filters: a frame for nobody, a VLAN's.
# to MAC COUNT: frames of an experimental ethertype from the wire
to() {
	"$LAB" exec "$lab" python3 -c "import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('br-l1', 0))
for i in range($2): s.send(bytes.fromhex('$1'.replace(':', '') + '020000000001' + '88b5') + bytes(100))"
}
for mode in 'off 0' 'on 20'; do
	ok "promiscuous ${mode% *}" node n2 20 "ip link set leg1 promisc ${mode% *}"
	mark
	to 00:1b:21:77:09:09 20
	to 00:1b:21:77:02:01 10
	measure
	is "promiscuous ${mode% *}: its own 10 frames come in, and ${mode#* } of 20 for another address" "$(grown rx_pkts_nic)" $((10 + ${mode#* }))
done
ok "promiscuous no more" node n2 20 'ip link set leg1 promisc off'
for n in 1 2; do
	ok "n$n: a VLAN" node n$n 30 "modprobe 8021q; ip link add link leg1 name v5 type vlan id 5 && ip addr add 10.99.5.$n/24 dev v5 && ip link set v5 up"
done
ok "tagged frames of 9000 bytes pass, both ways" wait_for 30 "a ping" node n1 20 'ping -c 2 -W 1 -s 8968 10.99.5.2'
ok "untagged, tags stay in the frame" node n2 30 'ethtool -K leg1 rxvlan off txvlan off'
ok "they pass all the same" wait_for 30 "a ping" node n1 20 'ping -c 2 -W 1 -s 8968 10.99.5.2'
for n in 1 2; do
	ok "n$n: no VLAN" node n$n 30 'ip link del v5'
done
ok "as before" node n2 30 'ethtool -K leg1 rxvlan on txvlan on'
settle

# A receiver that takes nothing for a while, with and without pause frames.
ok "pause off" node n2 30 'ethtool -A leg1 rx off tx off'
ok "pause off" node n1 30 'ethtool -A leg1 rx off tx off'
settle
mark
fault n2 1 rx-stall=1
flood 500 8000 >/dev/null
fault n2 1 rx-stall=0
measure
more "pause off, many queues: dropped for want of descriptors" "$(grown rx_no_dma_resources)" 400
is "and no XOFF" "$(grown tx_flow_control_xoff) $(grown_at_n1 rx_flow_control_xoff)" "0 0"
ok "one queue" node n2 60 'ethtool -L leg1 combined 1'
settle
mark
fault n2 1 rx-stall=1
flood 500 8000 >/dev/null
fault n2 1 rx-stall=0
measure
more "pause off, one queue: what the packet buffer cannot hold is missed" "$(grown rx_missed_errors)" 400
more "but the buffer's 512 KiB came" "$(grown rx_packets)" 50
is "together that is what was sent" "$(($(grown rx_missed_errors) + $(grown rx_packets)))" "$(grown_at_n1 tx_pkts_nic)"
ok "pause on" node n2 30 'ethtool -A leg1 rx on tx on'
ok "pause on" node n1 30 'ethtool -A leg1 rx on tx on'
settle
mark
fault n2 1 rx-stall=1
node n1 20 'nic_stream udp 10.99.1.2 9 1500 8000 >/tmp/flood & true'
held() {
	[ "$(counters n2 1 | value tx_flow_control_xoff)" -gt "$(($(value tx_flow_control_xoff <<<"$before2") + 5))" ]
}
ok "pause on: the receiver asks for it, again and again" wait_for 20 "XOFF" held
fault n2 1 rx-stall=0
sent_all() {
	node n1 20 'test -s /tmp/flood'
}
ok "and the sender goes on" wait_for 30 "the flood" sent_all
measure
is "1500 datagrams" "$(node n1 20 'cat /tmp/flood')" 1500
is "nothing is lost" "$(grown rx_missed_errors) $(grown rx_no_dma_resources)" "0 0"
more "the sender heard XOFF" "$(grown_at_n1 rx_flow_control_xoff)" 0
more "and XON" "$(grown_at_n1 rx_flow_control_xon)" 0
is "each frame sent came in" "$(grown rx_packets)" "$(grown_at_n1 tx_pkts_nic)"
ok "all queues again" node n2 60 'ethtool -L leg1 combined 2'
settle

# Interrupts: at most one per interval. Pings one after the other want one each.
# busiest: how often a second leg 1's busiest vector at n2 fired, while n1 pings
busiest() {
	node n1 20 'ping -c 100000 -w 8 -A -q 10.99.1.2 >/dev/null & true'
	node n2 30 "look() { read up x </proc/uptime; grep leg1 /proc/interrupts | awk -v up=\$up '{ n = 0; for (i = 2; \$i ~ /^[0-9]+\$/; i++) n += \$i; print \$1, n, up }'; }; look >/tmp/a; sleep 2; look >/tmp/b; cat /tmp/a /tmp/b" |
		awk '$1 in n { rate = ($2 - n[$1]) / ($3 - at[$1]); if (rate > most) most = rate } { n[$1] = $2; at[$1] = $3 } END { print int(most) }'
	node n1 20 'kill %1 2>/dev/null; wait; true' >/dev/null
}
# Where the machine is so busy that the pings themselves are fewer than the limit, once more.
for try in 1 2 3 4; do
	ok "try $try: an interval of 10 us" node n2 30 'ethtool -C leg1 rx-usecs 10'
	often=$(busiest)
	ok "try $try: an interval of 1 ms" node n2 30 'ethtool -C leg1 rx-usecs 1000'
	seldom=$(busiest)
	more "rx-usecs 1000: interrupts come" "$seldom" 10
	ok "rx-usecs 1000: $seldom a second at most, 1,000 allowed" test "$seldom" -le 1050
	[ "$often" -le "$seldom" ] || break
done
more "rx-usecs 10: more of them than with 1000" "$often" "$seldom"
ok "as before" node n2 30 'ethtool -C leg1 rx-usecs 1'

# The faults, one after the other
mark
fault n2 1 drop-every=10
flood 500 1000 >/dev/null
fault n2 1 none
measure
more "drop-every: frames are missing" "$(($(grown_at_n1 tx_pkts_nic) - $(grown rx_pkts_nic)))" 45
ok "drop-every: not more than every tenth" test "$(($(grown_at_n1 tx_pkts_nic) - $(grown rx_pkts_nic)))" -lt 56
mark
fault n2 1 corrupt-every=10
flood 500 1000 >/dev/null
fault n2 1 none
measure
more "corrupt-every: CRC errors are counted" "$(grown rx_crc_errors)" 45
is "corrupt-every: that is what is missing" "$(grown rx_crc_errors)" "$(($(grown_at_n1 tx_pkts_nic) - $(grown rx_pkts_nic)))"
fault n2 1 black-hole-over=1514
ok "black-hole-over: 1514 bytes pass" node n1 30 'ping -c 3 -A -W 1 -s 1472 10.99.1.2 >/tmp/ping; grep -q " 0% packet loss" /tmp/ping'
ok "black-hole-over: one more does not" not node n1 30 'ping -c 2 -W 1 -s 1473 10.99.1.2'
fault n2 1 none
ok "black-hole-over: gone" node n1 30 'ping -c 2 -W 1 -s 8000 10.99.1.2'
fault n2 1 flap-every-ms=3000
downs() {
	[ "$(node n2 20 'dmesg | grep -c "leg1: NIC Link is Down"')" -gt "$1" ]
}
ok "flap-every-ms: down, and down again" wait_for 40 "flapping" downs "$(($(node n2 20 'dmesg | grep -c "leg1: NIC Link is Down"') + 1))"
fault n2 1 none
ok "flap-every-ms: up when it is over" wait_for 30 "carrier" carriers n2

for n in 1 2; do
	is "n$n: no complaint of the kernel so far" "$(node n$n 20 'dmesg | grep -E "WARN|BUG|Oops|WATCHDOG|ixgbe.*([Ee]rror|fail|hang|reset)"')" ""
done
like "the card's self test" "$(node n2 120 'ethtool -t leg2 offline')" 'result is PASS'
fault n2 1 tx-hang=5
hung() {
	node n2 20 "ping -c 1 -W 1 10.99.1.1 >/dev/null; dmesg | grep -q 'Detected Tx Unit Hang'"
}
ok "tx-hang: the driver's watchdog sees it" wait_for 60 "a hang" hung
recovered() {
	node n2 20 'ping -c 1 -W 1 10.99.1.1'
}
ok "tx-hang: and recovers" wait_for 60 "recovery" recovered
ok "tx-hang: by a reset" node n2 20 'dmesg | grep "initiating reset due to tx timeout"'

fault n2 1 none
fault n2 2 sfp=rejected
fault n2 1 interrupts=msi
fault n1 1 interrupts=intx
"$LAB" stop "$lab" n1 n2
ok "both nodes once more" "$LAB" start "$lab" n1 n2
for n in 1 2; do
	connect n$n
done
for n in 1 2; do
	must "n$n boots" rescued n$n 240
	node n$n 60 'modprobe ixgbe' >/dev/null
	ok "n$n: leg 1" node n$n 60 "d=\$(grep -l 00:1b:21:77:0$n:01 /sys/class/net/*/address); d=\${d%/address}; ip link set \${d##*/} name leg1; ip link set leg1 mtu 9000 up && ip addr add 10.99.1.$n/24 dev leg1"
done
ok "sfp=rejected: refused by the driver" node n2 20 'dmesg | grep "failed to load because an unsupported SFP+"'
is "sfp=rejected: the other port is there" "$(node n2 20 'grep -l 00:1b:21:77:02 /sys/class/net/*/address | wc -l')" 1
ok "MSI at n2, a line at n1: large pings pass" wait_for 60 "a ping" node n1 20 'ping -c 50 -A -q -s 8000 10.99.1.2'
like "n2: by MSI, one vector" "$(node n2 20 'grep leg1 /proc/interrupts')" '^ *[0-9]+: [0-9 ]*[1-9][0-9 ]* PCI-MSI.* leg1$'
like "n1: by a line" "$(node n1 20 'grep leg1 /proc/interrupts')" 'IO-APIC.*fasteoi.*leg1'
for n in 1 2; do
	is "n$n: no complaint of the kernel beside those" "$(node n$n 20 'dmesg | grep -E "WARN|BUG|Oops|WATCHDOG|nobody cared|ixgbe.*([Ee]rror|hang|reset)" | grep -vE "Failed to allocate MSI interrupt, falling back to legacy|probe of 0000:02:00.0 failed with error -95"')" ""
done
done_testing
