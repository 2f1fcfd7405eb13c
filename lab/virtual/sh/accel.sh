# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# KVM or TCG. A device node proves nothing (nested virtualisation can hang in protected mode): KVM has to boot a kernel on
# two CPUs once, within a deadline. The verdict is kept for this QEMU, host kernel and processor; a bad one only if TCG
# boots the same kernel, else it is the kernel's fault.

KVM_DEVICE=${KVM_DEVICE:-/dev/kvm}
KVM_PROBE_SECONDS=${KVM_PROBE_SECONDS:-20}
TCG_PROBE_SECONDS=${TCG_PROBE_SECONDS:-60}

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
	if [ ! -e "$KVM_DEVICE" ]; then
		LAB_ACCEL_WHY="KVM is not used: there is no $KVM_DEVICE"
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
		stat -c %t:%T "$KVM_DEVICE"
	} | sha256sum)
	file=$LAB_CACHE/kvm-${key:0:16}
	if [ -s "$file" ]; then
		verdict=$(<"$file")
	elif verdict=$(kvm_probe "$1"); then
		mkdir -p "$LAB_CACHE"
		printf '%s\n' "$verdict" >"$file.$$"
		mv "$file.$$" "$file"
	fi
	LAB_ACCEL=${verdict%%:*}
	LAB_ACCEL_WHY=${verdict#*: }
}

# kvm_probe KERNEL: prints "kvm: …" or "tcg: …"; 1 if that says nothing about this machine
kvm_probe() {
	local why
	if why=$(boots kvm "$1" "$KVM_PROBE_SECONDS"); then
		echo "kvm: it booted a kernel on two CPUs"
	elif boots tcg "$1" "$TCG_PROBE_SECONDS" >/dev/null; then
		echo "tcg: KVM is not used: $why"
	else
		echo "tcg: KVM is not used: neither it nor TCG boots $1"
		return 1
	fi
}

# boots ACCEL KERNEL SECONDS: without a root the kernel panics, which with panic=-1 ends QEMU. Prints what went wrong.
boots() {
	local log status=0 last
	log=$(timeout -k 2 "$3" qemu-system-x86_64 -M q35 -accel "$1" -cpu max -smp 2 -m 256 -display none -nodefaults \
		-serial stdio -no-reboot -kernel "$2" -append 'console=ttyS0 panic=-1' </dev/null 2>&1) || status=$?
	if [ $status = 0 ] && [[ $log == *'Kernel panic'* ]]; then
		return 0
	fi
	last=$(printf '%s\n' "$log" | tr -d '\r' | grep -a -v -e 'terminating on signal' -e 'warning:' -e '^$' | tail -n 1) || :
	case $status in
	124 | 137) echo "it hung for $3 s booting a kernel (last words: ${last:-none})" ;;
	*) echo "it could not boot a kernel (last words: ${last:-none})" ;;
	esac
	return 1
}

# accel_of: -accel
accel_of() {
	case $LAB_ACCEL in
	kvm) echo kvm ;;
	# One thread: with several, QEMU before 8.1 runs the breakpoint of an instruction that the kernel has patched back
	# already (its static keys, which the osnoise tracer turns), and the kernel dies of "int3: 0000".
	*) echo tcg,thread=single ;;
	esac
}
