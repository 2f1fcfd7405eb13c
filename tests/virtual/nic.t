#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The storage NICs are the 82599 model; where QEMU does not take it, virtio, and that is said.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
lab=${LABS[0]}

said=$(up "$lab" 2>&1)
like "the installed QEMU takes the model" "$said" 'storage NICs are ixgbe'
like "lab.json knows" "$(cat "$lab/lab.json")" '"storage_nic": "ixgbe"'
ok "nodes start with it" "$LAB" start "$lab" n1
model=$(sed -n 's/^LAB_NIC_MODEL=//p' "$lab/lab.state")
ok "programs that are no QEMU do not mind it" env LD_PRELOAD="$model" python3 -c 'print(1)'
ok "down" "$LAB" down "$lab"

export NIC_CFLAGS=-DABI_SKEW=8
said=$(up "$lab" 2>&1)
like "other structures: a warning" "$said" '^WARNING: no ixgbe in this lab.*does not take the 82599 model.*pci-device has'
like "other structures: virtio" "$said" 'storage NICs are virtio'
like "status says so" "$("$LAB" status "$lab")" '^storage NICs virtio: .*does not take'
like "lab.json says so" "$(cat "$lab/lab.json")" '"storage_nic_reason": ".*does not take'
ok "nodes start with virtio" "$LAB" start "$lab" n1
ok "down" "$LAB" down "$lab"

export NIC_CFLAGS=-DQUEUES=nonsense
said=$(up "$lab" 2>&1)
like "cannot be built: a warning" "$said" '^WARNING: no ixgbe in this lab.*could not be built'
like "cannot be built: virtio" "$said" 'storage NICs are virtio'
unset NIC_CFLAGS
"$LAB" down "$lab"
said=$(up "$lab" --nic virtio 2>&1)
like "virtio when asked for" "$said" 'storage NICs are virtio: asked for'
ok "without a warning" not grep -q WARNING <<<"$said"
done_testing
