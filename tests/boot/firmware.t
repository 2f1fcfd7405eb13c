#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every way in which a node's firmware can find the server, booted for real, until both nodes have measured: by the server's
# own DHCP, beside a router that serves DHCP, chainloaded by that router, through a switch that is mute for 44 s after
# link-up, and with two of the node's ports on one LAN.
. "$(dirname "$0")/lib.sh"
lab_new firmware
OFFICE=

# boots FIRMWARE…: n1, n2 with these
boots()
{
	local n=0 firmware
	said_from=$(wc -c <"$LAB/serve.log")
	for firmware; do
		n=$((n + 1))
		"$VLAB" firmware "$LAB" "n$n" "$firmware"
		"$VLAB" start "$LAB" "n$n"
	done
}

# measured WHAT: by nodes that boots() started; what the server said meanwhile is in $said
measured()
{
	run_plan "$TINY"
	is "$1: measured" "$RUN_STATUS" 0
	said=$(tail -c +$((said_from + 1)) "$LAB/serve.log")
	"$VLAB" stop "$LAB" n1 n2
}

fetched() # FILE: how often by HTTP
{
	grep -c " image: $1 is fetched" <<<"$said"
}

sent() # FILE: whether by TFTP
{
	grep -q "sent .*/ipxe/$1 to " <<<"$said" && echo sent
}

# office OPTION…: a router on the management LAN, in a network of its own, which serves DHCP with these options. It ends with
# the test.
office()
{
	office_end
	"$VLAB" exec "$LAB" unshare --net setpriv --pdeathsig KILL bash -c 'echo here && read -r && ip addr add 10.77.0.254/24 dev office &&
		ip link set office up && exec dnsmasq --keep-in-foreground --conf-file=/dev/null --port=0 --pid-file= --user=root \
		--log-dhcp --log-facility=- --interface=office --bind-interfaces --dhcp-range=10.77.0.100,10.77.0.199,1h "$@"' \
		office --dhcp-leasefile="$LAB/office.leases" "$@" <"$LAB/go" >>"$LAB/office.log" 2>&1 &
	OFFICE=$!
	exec 7>"$LAB/go"
	wait_for 20 "the office's network" grep -q here "$LAB/office.log"
	"$VLAB" exec "$LAB" ip link add office-p type veth peer name office netns "$OFFICE"
	"$VLAB" exec "$LAB" ip link set office-p master br-m up
	echo >&7
	exec 7>&-
	wait_for 20 "the office's router" grep -q 'DHCP, IP range' "$LAB/office.log"
}

office_end()
{
	[ -n "$OFFICE" ] || return 0
	kill -KILL "$OFFICE" && wait "$OFFICE" 2>/dev/null
	rm "$LAB/office.log"
	OFFICE=
}

# dhcp WORD: the lab file says so, instead of giving addresses
dhcp()
{
	sed -i "s/^  dhcp\(_range\)\?:.*/  dhcp: $1/" "$LAB/lab.yaml"
}

mute()
{
	"$VLAB" exec "$LAB" bridge link show dev n1-m | grep -q 'state listening'
}

mkfifo "$LAB/go"
serve_start
boots uefi uefi-http
measured 'own DHCP: uefi uefi-http'
is 'the firmware had iPXE by TFTP' "$(sent ipxe.efi)" sent
ok 'and by HTTP' [ "$(fetched ipxe/ipxe.efi)" -ge 1 ]
boots bios uefi-ipxe
measured 'own DHCP: bios uefi-ipxe'
is 'iPXE in the ROM needs no other' "$(fetched ipxe/ipxe.efi) $(sent ipxe.efi)" '0 '

# STP's listening and learning: 2 × 22 s in which the port forwards nothing
"$VLAB" exec "$LAB" ip link set br-m type bridge stp_state 1 forward_delay 2200
# A carrier that comes back within a second is not told to the bridge, and its port goes on.
"$VLAB" exec "$LAB" ip link set n1-m down
"$VLAB" exec "$LAB" ip link set n1-m up
boots bios bios
ok 'the switch is mute' wait_for 20 'a port that listens' mute
measured 'a switch that is mute for 44 s: bios bios'
"$VLAB" exec "$LAB" ip link set br-m type bridge stp_state 0

"$VLAB" exec "$LAB" ip tuntap add n1-x mode tap
"$VLAB" exec "$LAB" ip link set n1-x master br-m up
printf '%s\n' -netdev tap,id=second,ifname=n1-x,script=no,downscript=no -device virtio-net-pci,netdev=second,mac=52:54:00:77:01:ee >"$LAB/n1.args"
boots uefi bios
measured 'two ports on one LAN: uefi bios'
rm "$LAB/n1.args"
serve_kill

dhcp proxy
office
serve_start
boots bios uefi
measured 'beside a DHCP server: bios uefi'
like 'addresses come from the router' "$(cat "$LAB/office.leases")" '52:54:00:77:01:00'
serve_kill

dhcp none
office --dhcp-match=set:ipxe,175 --dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe
serve_start
boots bios uefi-ipxe
measured 'chainloaded by a DHCP server: bios uefi-ipxe'
office_end
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
