# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For tests that need a real node: it boots our image from the network into the rescue shell, and is talked to over its
# serial console. $lab is the lab's folder, $WORK a scratch folder, $IMAGE where vmlinuz and initramfs.cpio.* are.
IMAGE=${IMAGE:-$ROOT/out}
lab=${lab:-}

# net_boot PARAMETER…: DHCP and HTTP in the lab's network, with these on the kernel's command line; `down` ends them
net_boot() {
	local initramfs
	initramfs=$(basename "$(find "$IMAGE"/ -maxdepth 1 -name 'initramfs.cpio.*' | head -n 1)")
	mkdir -p "$WORK/www"
	cp "$IMAGE/vmlinuz" "$IMAGE/$initramfs" "$WORK/www/" || return
	printf '%s\n' '#!ipxe' "kernel http://10.77.0.1:8080/vmlinuz $*" "initrd http://10.77.0.1:8080/$initramfs" boot \
		>"$WORK/www/boot.ipxe"
	"$LAB" exec "$lab" dnsmasq --no-daemon --conf-file=/dev/null --port=0 --interface=br-m --bind-interfaces \
		--user=root --dhcp-range=10.77.0.100,10.77.0.199,1h --dhcp-leasefile="$WORK/leases" \
		--dhcp-match=set:ipxe,175 --dhcp-option=tag:ipxe,encap:175,176,1b \
		--dhcp-boot=tag:ipxe,http://10.77.0.1:8080/boot.ipxe </dev/null >>"$WORK/log" 2>&1 &
	"$LAB" exec "$lab" python3 -u -m http.server --bind 10.77.0.1 --directory "$WORK/www" 8080 \
		</dev/null >>"$WORK/log" 2>&1 &
	wait_for 20 "HTTP" "$LAB" exec "$lab" bash -c ': </dev/tcp/10.77.0.1/8080'
}

# said NODE PATTERN: its console has shown a line like that
said() {
	grep -aEq -- "$2" "$lab/$1.serial"
}

# connect NODE: once it has power. QEMU forgets what the node has not read yet when its peer hangs up, so the line stays
# connected. Not from within ok, which would wait for it.
connect() {
	: >"$WORK/$1.typed"
	(cd "$lab" && tail -f -s 0.1 --pid=$$ "$WORK/$1.typed" | socat - "UNIX-CONNECT:$1.console") >/dev/null 2>&1 &
}

# type_in NODE LINE
type_in() {
	printf '%s\n' "$2" >>"$WORK/$1.typed"
}

# rescued NODE SECONDS: waits for its shell, and makes that read plain lines: an editing shell drops what comes too fast
rescued() {
	wait_for "$2" "$1's shell" said "$1" '^[^ ]{0,9}# $' || return
	wait_for 30 "$1's loop" listening_to "$1"
}

listening_to() {
	said "$1" '^<ready>' && return
	type_in "$1" "stty -echo; while echo '<'ready'>'; IFS= read -r l; do eval \"\$l\"; done"
	sleep 1
	said "$1" '^<ready>'
}

talks=0
# node NODE SECONDS COMMAND: runs it in the node's shell, prints its output; its exit status, or 124 when time is over
node() {
	local name=$1 seconds=$2 from status
	talks=$((talks + 1))
	from=$(stat -c %s "$lab/$name.serial")
	type_in "$name" "echo '<begin$talks>'; $3; echo '<end$talks>' \$?" || return 125
	wait_for "$seconds" "'$3' on $name" ended "$name" "$from" || return 124
	spoken "$name" "$from" | sed "0,/^<begin$talks>/d; /^<end$talks>/,\$d"
	status=$(spoken "$name" "$from" | sed -n "s/^<end$talks> //p")
	return "${status:-125}"
}

# spoken NODE FROM: its console from that byte on
spoken() {
	tail -c +$(($2 + 1)) "$lab/$1.serial" | tr -d '\r'
}

ended() {
	spoken "$1" "$2" | grep -aq "^<end$talks> [0-9]"
}
