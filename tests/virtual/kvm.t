#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# KVM is used only where it proved itself. A false QEMU plays the machines that we do not have.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
mkdir "$WORK/bin"
touch "$WORK/kvm" "$WORK/kernel"
cat >"$WORK/bin/qemu-system-x86_64" <<'X'
#!/bin/bash
case "$*" in
*--version*) echo "QEMU emulator version 7.2 ($BEHAVIOUR)" ;;
*'-accel kvm'*)
	echo probe >>"$PROBES"
	case $BEHAVIOUR in
	good) echo 'Kernel panic - not syncing: VFS' ;;
	hangs) echo 'Probing EDD... ok'; exec sleep 100 ;;
	aborts | kernel) echo 'failed to set MSR 0x10a'; exit 134 ;;
	reboots) echo 'SeaBIOS' ;;
	esac ;;
*'-accel tcg'*) [ "$BEHAVIOUR" = kernel ] || echo 'Kernel panic - not syncing: VFS' ;;
esac
X
chmod +x "$WORK/bin/qemu-system-x86_64"

# verdict BEHAVIOUR [KERNEL]: what a lab would use
verdict() {
	export BEHAVIOUR=$1 PROBES=$WORK/probes
	PATH=$WORK/bin:$PATH CACHE=$WORK/cache KVM_DEVICE=${KVM_DEVICE:-$WORK/kvm} KVM_PROBE_SECONDS=1 bash -c "
		LAB_CACHE=\$CACHE
		. '$ROOT/lab/virtual/sh/common.sh'; . '$ROOT/lab/virtual/sh/accel.sh'
		accel_choose auto '${2:-$WORK/kernel}'; echo \"\$LAB_ACCEL: \$LAB_ACCEL_WHY\""
}

like "a KVM that boots a kernel" "$(verdict good)" '^kvm: '
like "a KVM that hangs" "$(verdict hangs)" '^tcg: .*hung for 1 s.*Probing EDD'
like "a KVM that aborts" "$(verdict aborts)" '^tcg: .*could not boot a kernel.*MSR'
like "a KVM that ends without a kernel" "$(verdict reboots)" '^tcg: '
: >"$WORK/probes"
like "the verdict is kept" "$(verdict aborts) $(verdict hangs) $(verdict good)" 'kvm: '
is "and nothing was probed again" "$(wc -l <"$WORK/probes")" 0
like "a kernel that boots nowhere" "$(verdict kernel)" '^tcg: .*neither it nor TCG'
: >"$WORK/probes"
like "says nothing about the machine" "$(verdict kernel)" '^tcg: '
is "so it is tried again" "$(wc -l <"$WORK/probes")" 1
like "no kernel, no KVM" "$(verdict good "$WORK/absent")" '^tcg: .*no kernel yet'
like "no device" "$(KVM_DEVICE=$WORK/none verdict good)" "^tcg: .*there is no $WORK/none"
done_testing
