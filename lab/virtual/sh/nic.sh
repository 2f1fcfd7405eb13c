# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# The storage NICs: our 82599 model inside the installed QEMU, or virtio where that QEMU does not take it.

# nic_choose ixgbe|virtio: sets LAB_NIC, LAB_NIC_WHY and LAB_NIC_MODEL (the shared object, or nothing)
nic_choose() {
	local log
	LAB_NIC=virtio LAB_NIC_MODEL=
	if [ "$1" = virtio ]; then
		LAB_NIC_WHY="asked for"
		return
	fi
	mkdir -p "$LAB_CACHE"
	log=$LAB_CACHE/nic-build.log
	if ! LAB_NIC_MODEL=$(CACHE=$LAB_CACHE "$LAB_HOME/nic/build.sh" 2>"$log"); then
		LAB_NIC_MODEL=
		LAB_NIC_WHY="the 82599 model could not be built ($(tail -n 1 "$log"); all of it: $log)"
	elif ! LAB_NIC_WHY=$(nic_fits "$LAB_NIC_MODEL"); then
		LAB_NIC_MODEL=
	else
		LAB_NIC=ixgbe
		return
	fi
	say "WARNING: no ixgbe in this lab, its storage NICs are virtio: $LAB_NIC_WHY"
}

# nic_fits MODEL: asks the running QEMU itself; prints the reason for yes or no
nic_fits() {
	local answer
	if answer=$(LD_PRELOAD=$1 timeout 20 qemu-system-x86_64 -M none -device ixgbe82599,help 2>&1) &&
		[[ $answer == *netdev=* ]]; then
		echo "82599 model, $(basename "$(dirname "$1")")"
		return
	fi
	echo "the installed QEMU does not take the 82599 model ($(printf '%s' "$answer" | tail -n 1))"
	return 1
}

nic_of() {
	case $LAB_NIC in
	ixgbe) echo ixgbe82599 ;;
	*) echo virtio-net-pci,romfile= ;;
	esac
}
