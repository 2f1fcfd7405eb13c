# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For tests of the model: two nodes in their rescue shells with both legs up, ethtool and nic_stream. After node.sh.
lab=${lab:-}

# rescue_pair: power on, legs named, given addresses 10.99.LEG.NODE, tools in /tmp
rescue_pair() {
	local n
	net_boot console=ttyS0 panic=1 loglevel=4 assay.rescue || return
	cp "$(command -v ethtool)" "$WORK/www/" || return
	ldd "$WORK/www/ethtool" | grep -o '/[^ ]*' | xargs -I{} cp {} "$WORK/www/" || return
	gcc -O2 -static -o "$WORK/www/nic_stream" "$ROOT/tests/bench/nic_stream.c" || return
	"$LAB" start "$lab" n1 n2 || return
	for n in 1 2; do
		connect n$n
	done
	for n in 1 2; do
		rescued n$n 240 || return
		tools n$n || return
		node n$n 60 "modprobe virtio_pci; modprobe $(storage_driver)" || return
		legs n$n || return
	done
	for n in 1 2; do
		wait_for 60 "n$n's legs" carriers n$n || return
	done
}

storage_driver() {
	if grep -q 'LAB_NIC=ixgbe' "$lab/lab.state"; then
		echo ixgbe
	else
		echo virtio_net
	fi
}

# Over the management network, into /tmp; libraries go where the loader looks for them.
tools() {
	local n=${1#n} file commands
	commands="modprobe virtio_pci; modprobe virtio_net; d=\$(grep -l 52:54:00:77:0$n:00 /sys/class/net/*/address); d=\${d%/address}; d=\${d##*/}"
	commands+="; ip addr add 10.77.0.1$n/24 dev \$d; ip link set \$d up; mkdir -p /lib64 /usr/lib"
	node "$1" 60 "$commands; wget -q -O /lib64/libc.so.6 http://10.77.0.1:8080/libc.so.6" || return
	for file in "$WORK"/www/{ld-*,lib*,ethtool,nic_stream}; do
		file=${file##*/}
		case $file in
		ld-* | lib*) node "$1" 60 "wget -q -O /lib64/$file http://10.77.0.1:8080/$file && chmod 755 /lib64/$file" ;;
		*) node "$1" 60 "wget -q -O /tmp/$file http://10.77.0.1:8080/$file && chmod 755 /tmp/$file" ;;
		esac || return
	done
	node "$1" 20 "export LD_LIBRARY_PATH=/lib64 PATH=\$PATH:/tmp; ethtool --version" >/dev/null
}

legs() {
	local n=${1#n} leg mac
	for leg in 1 2; do
		mac=00:1b:21:77:0$n:0$leg
		node "$1" 60 "for d in /sys/class/net/*; do grep -q $mac \$d/address && ip link set \${d##*/} name leg$leg; done; ip link set leg$leg mtu 9000 up && ip addr add 10.99.$leg.$n/24 dev leg$leg" || return
	done
}

carriers() {
	[ "$(node "$1" 20 'cat /sys/class/net/leg?/carrier | xargs')" = "1 1" ]
}
