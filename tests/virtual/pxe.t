#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A bare node asks for its iPXE script soon after power-on. What costs seconds at every boot, and must not come back: iPXE
# waiting for an IPv6 router (16 s) and for a proxy DHCP server (3 s).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
lab=${LABS[0]}

# serve COMMAND…: in the lab's network, in the background; `down` ends it
serve() {
	"$LAB" exec "$lab" "$@" </dev/null >>"$WORK/log" 2>&1 &
}

asked() {
	sed 's/%3A/:/g' "$WORK/log" | grep "GET /boot.ipxe?mac=52:54:00:77:0$1:00"
}

must "up" up "$lab"
mkdir "$WORK/www"
serve dnsmasq --no-daemon --conf-file=/dev/null --port=0 --interface=br-m --bind-interfaces --user=root \
	--dhcp-range=10.77.0.100,10.77.0.199,1h --dhcp-leasefile="$WORK/leases" --dhcp-match=set:ipxe,175 \
	--dhcp-option=tag:ipxe,encap:175,176,1b \
	"--dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe?mac=\${net0/mac}"
serve python3 -u -m http.server --bind 10.77.0.1 --directory "$WORK/www" 8080
listening() {
	"$LAB" exec "$lab" bash -c ': </dev/tcp/10.77.0.1/8080'
}
must "a server" wait_for 20 "HTTP" listening

begin=${EPOCHREALTIME//[!0-9]/}
ok "power" "$LAB" start "$lab" n1
ok "the node asks for its script" wait_for 60 "GET /boot.ipxe" asked 1
took_ms=$(((${EPOCHREALTIME//[!0-9]/} - begin) / 1000))
echo "# power-on to script: $took_ms ms"
ok "within 15 s ($took_ms ms)" test $took_ms -lt 15000
ok "the second node, too" "$LAB" start "$lab" n2
ok "it asks" wait_for 60 "GET /boot.ipxe" asked 2

# Nothing bootable came: like a server whose boot order is network only, the node tries again.
: >"$WORK/log"
ok "it asks again by itself" wait_for 90 "GET /boot.ipxe" asked 1
: >"$WORK/log"
ok "reset" "$LAB" reset "$lab" n2
ok "it asks after a reset" wait_for 60 "GET /boot.ipxe" asked 2
done_testing
