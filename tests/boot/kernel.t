#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's kernel as a level of a cell: its boot script names it and its modules, the nodes reboot for it once, and what ran is
# in the evidence.
. "$(dirname "$0")/lib.sh"
[ -e out/layers/kernel-debian.vmlinuz ] || { echo "out/layers/kernel-debian.vmlinuz is missing: make layers" >&2; exit 1; }
lab_new kernel
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/kernel.yaml
is 'every cell is valid' "$RUN_STATUS" 0
samples_complete 4 kernel
is 'one reboot of each node for the kernel' \
	"$(sql "SELECT group_concat(node) FROM (SELECT node FROM reboots WHERE reason LIKE '%another kernel%' ORDER BY node)")" n1,n2
ours=$(jq -r .kernel.release out/manifest.json)
package=$(jq -r '.layers."kernel-debian".packages[0].name' out/manifest.json)
is 'default: our kernel' "$(evidence_of boot.kernel default kernel_release)" "$ours"
is 'debian: the kernel of the package' "linux-image-$(evidence_of boot.kernel debian kernel_release)" "$package"
is 'and read back' "$(evidence_of boot.kernel debian 'in_force."boot.kernel"')" debian
is 'our kernel boots without the layer of the other' "$(evidence_of boot.kernel default layers | grep -c kernel-debian)" 0
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven kernel
done_testing
