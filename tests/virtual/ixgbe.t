#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two nodes with our image: the real ixgbe driver on the model, jumbo frames over both legs, and what the lab does to their
# cables, as the nodes see it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/virtual/node.sh
. "$(dirname "$0")/node.sh"
lab=${LABS[0]}

# ping_big NODE LEG BYTES: to the other node, IP packets of that size (up to the MTU they are one frame each)
ping_big() {
	local peer=$((3 - ${1#n}))
	node "$1" 30 "ping -c 2 -W 1 -A -s $(($3 - 28)) 10.99.$2.$peer >/tmp/ping; grep -q ' 0% packet loss' /tmp/ping"
}

reachable() {
	node "$1" 30 "ping -c 1 -W 1 10.99.$2.$((3 - ${1#n})) >/dev/null"
}

listens() {
	"$LAB" exec "$lab" ss -ltnH "sport = :$1" | grep -q .
}

carrier() {
	node "$1" 20 "cat /sys/class/net/leg$2/carrier"
}

must "up" up "$lab"
like "the storage NICs are ixgbe" "$("$LAB" status "$lab")" '^storage NICs ixgbe'
must "a server" net_boot console=ttyS0 panic=1 loglevel=4 assay.rescue
ok "power" "$LAB" start "$lab" n1 n2
for n in 1 2; do
	connect n$n
	must "n$n boots" rescued n$n 180
	like "n$n: the disk's serial" "$(node n$n 30 'modprobe virtio_pci; modprobe virtio_blk; cat /sys/block/vd?/serial; echo')" "^ASSAY-N$n-DATA"
	like "n$n: DMI says what it is" "$(node n$n 20 'cat /sys/class/dmi/id/product_name')" '^virtual node \((tcg|kvm); ixgbe\)'
	is "n$n: its serial number" "$(node n$n 20 'cat /sys/class/dmi/id/product_serial')" ASSAY-N$n
	must "n$n: the driver loads" node n$n 60 'modprobe ixgbe'
	for leg in 1 2; do
		mac=00:1b:21:77:0$n:0$leg
		must "n$n: leg $leg" node n$n 60 "for d in /sys/class/net/*; do grep -q $mac \$d/address && ip link set \${d##*/} name leg$leg; done; ip link set leg$leg mtu 9000 up && ip addr add 10.99.$leg.$n/24 dev leg$leg"
		up() {
			[ "$(carrier "n$n" "$leg")" = 1 ]
		}
		ok "n$n: leg $leg has a carrier" wait_for 60 "carrier" up
		is "n$n: at 10 Gb/s" "$(node n$n 20 "cat /sys/class/net/leg$leg/speed")" 10000
	done
done

for leg in 1 2; do
	ok "leg $leg: the peer answers" wait_for 60 "a ping" reachable n1 $leg
	ok "leg $leg: 9000 bytes" ping_big n1 $leg 9000
	ok "leg $leg: the other way" ping_big n2 $leg 9000
done
# With this machine's own TCP at the other end of leg 1, which does not take the model's word for a checksum.
"$LAB" exec "$lab" ip addr add 10.99.1.9/24 dev br-l1
"$LAB" exec "$lab" socat -u TCP-LISTEN:5000 "CREATE:$WORK/got" &
receiver=$!
wait_for 20 "port 5000" listens 5000
ok "16 MiB out" node n1 120 'dd if=/dev/urandom of=/tmp/sent bs=1M count=16 2>/dev/null; nc 10.99.1.9 5000 </tmp/sent'
wait $receiver
sum=$(md5sum <"$WORK/got")
is "arrive as they were" "$sum" "$(node n1 60 'md5sum </tmp/sent')"
is "all of them" "$(stat -c %s "$WORK/got")" 16777216
"$LAB" exec "$lab" socat -u "OPEN:$WORK/got" TCP-LISTEN:5001 &
wait_for 20 "port 5001" listens 5001
ok "16 MiB in" node n1 120 'nc 10.99.1.9 5001 </dev/null >/tmp/back'
is "arrive as they were" "$(node n1 60 'md5sum </tmp/back')" "$sum"

ok "link off" "$LAB" link "$lab" n1 1 off
down() {
	[ "$(carrier n1 1)" = 0 ]
}
ok "n1 loses its carrier" wait_for 30 "no carrier" down
is "n2 keeps its own" "$(carrier n2 1)" 1
ok "link on" "$LAB" link "$lab" n1 1 on
ok "and the peer answers again" wait_for 60 "a ping" reachable n1 1
ok "cut leg 2" "$LAB" leg-cut "$lab" 2 on
ok "leg 2: no answer" not ping_big n1 2 1500
is "leg 2: with a carrier" "$(carrier n1 2)" 1
ok "leg 1 is not cut" ping_big n1 1 9000
ok "join leg 2" "$LAB" leg-cut "$lab" 2 off
ok "leg 2: 9000 bytes again" ping_big n1 2 9000
ok "a black hole over 1500 towards n2 on leg 1" "$LAB" leg-mtu "$lab" 1 1500 n2
ok "1500 bytes pass" ping_big n1 1 1500
ok "9000 bytes do not" not ping_big n1 1 9000
ok "taken back" "$LAB" leg-mtu "$lab" 1 9710
ok "9000 bytes pass again" ping_big n1 1 9000
for n in 1 2; do
	is "n$n: no complaint of the kernel" "$(node n$n 20 'dmesg | grep -E "WARN|BUG|Oops|ixgbe.*([Ee]rror|fail|hang|reset)"')" ""
done

before=$(stat -c %s "$lab/n2.serial")
ok "n2 reboots" not node n2 5 'reboot -f'
again() {
	tail -c +$((before + 1)) "$lab/n2.serial" | grep -aq 'assay.rescue: a shell'
}
ok "and boots from the network again" wait_for 120 "n2" again
ok "the system disks are untouched" "$LAB" check-system-disks "$lab"
done_testing
