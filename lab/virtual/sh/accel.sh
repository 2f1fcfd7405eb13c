# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# KVM or TCG. A device node proves nothing (nested virtualisation can hang in protected mode): KVM has to boot a kernel on
# two CPUs once, within a deadline. The verdict is kept for this QEMU, host kernel and processor.

KVM_PROBE_SECONDS=20

# accel_choose auto|kvm|tcg KERNEL: sets LAB_ACCEL and LAB_ACCEL_WHY
accel_choose() {
	LAB_ACCEL=tcg
	case $1 in
	tcg)
		LAB_ACCEL_WHY="asked for"
		return
		;;
	kvm)
		LAB_ACCEL=kvm LAB_ACCEL_WHY="asked for"
		return
		;;
	esac
	if [ ! -e /dev/kvm ]; then
		LAB_ACCEL_WHY="KVM is not used: there is no /dev/kvm"
	elif [ ! -f "$2" ]; then
		LAB_ACCEL_WHY="KVM is not used: no kernel yet to prove it with ($2)"
	else
		accel_verdict "$2"
	fi
}

accel_verdict() {
	local file verdict key
	key=$({
		qemu-system-x86_64 --version
		uname -rm
		sed -n '/^model name/{p;q}' /proc/cpuinfo
		stat -c %t:%T /dev/kvm
	} | sha256sum)
	file=$LAB_CACHE/kvm-${key:0:16}
	if [ ! -s "$file" ]; then
		verdict=$(kvm_probe "$1")
		mkdir -p "$LAB_CACHE"
		printf '%s\n' "$verdict" >"$file.$$"
		mv "$file.$$" "$file"
	fi
	verdict=$(<"$file")
	LAB_ACCEL=${verdict%%:*}
	LAB_ACCEL_WHY=${verdict#*: }
}

# kvm_probe KERNEL: prints "kvm: …" or "tcg: …". Without a root the kernel panics, which with panic=-1 ends QEMU.
kvm_probe() {
	local log status=0 last
	log=$(timeout -k 2 $KVM_PROBE_SECONDS qemu-system-x86_64 -M q35 -accel kvm -cpu max -smp 2 -m 256 -display none \
		-nodefaults -serial stdio -no-reboot -kernel "$1" -append 'console=ttyS0 panic=-1' </dev/null 2>&1) || status=$?
	if [ $status = 0 ] && [[ $log == *'Kernel panic'* ]]; then
		echo "kvm: it booted a kernel on two CPUs"
		return
	fi
	last=$(printf '%s\n' "$log" | tr -d '\r' | grep -v -e 'terminating on signal' -e 'warning:' -e '^$' | tail -n 1) || :
	case $status in
	124 | 137) echo "tcg: KVM is not used: it hung for $KVM_PROBE_SECONDS s booting a kernel (last: ${last:-nothing})" ;;
	*) echo "tcg: KVM is not used: it could not boot a kernel (last: ${last:-nothing})" ;;
	esac
}

accel_of() {
	case $LAB_ACCEL in
	kvm) echo kvm ;;
	*) echo tcg,thread=multi ;;
	esac
}
