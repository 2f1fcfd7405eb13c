#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel that the operator gives as a package (make layers KERNEL=FILE.deb), here Debian's own: the nodes reboot for it, it
# measures, and its package is named beside each of its results.
. "$(dirname "$0")/lib.sh"
lab_new kernel-operator
mkdir -p "$LAB/image/layers"
for file in out/*; do
	case $file in out/layers | out/tests | out/manifest.json) ;; *) ln -s "$(readlink -f "$file")" "$LAB/image/${file#out/}" ;; esac
done
cp out/manifest.json "$LAB/image/"
CACHE=$(readlink -f "${ASSAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}")
deb=$(CACHE=$CACHE OUT=$PWD/$LAB/fetch PINS=image/layers.pins image/fetch.sh "$(sed -n 's/^kernel //p' image/layers/kernel-debian)" 2>/dev/null | cut -d' ' -f7-)
[ -f "$deb" ] || { echo "no kernel package to give: '$deb'" >&2; exit 1; }
CACHE=$CACHE OUT=$PWD/$LAB/image KERNEL=$deb image/layers.sh kernel-operator >"$LAB/layers.log" 2>&1 || { cat "$LAB/layers.log" >&2; exit 1; }
serve_start --image "$LAB/image"
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/kernel-operator.yaml
is 'every cell is valid' "$RUN_STATUS" 0
samples_complete 2 kernel-operator
is 'one reboot of each node for the kernel' \
	"$(sql "SELECT group_concat(node) FROM (SELECT node FROM reboots WHERE reason LIKE '%another kernel%' ORDER BY node)")" n1,n2
is 'default: our kernel' "$(evidence_of boot.kernel default kernel_release)" "$(jq -r .kernel.release out/manifest.json)"
is 'operator: the kernel of the package that was given' "linux-image-$(evidence_of boot.kernel operator kernel_release)" "$(dpkg-deb -f "$deb" Package)"
is 'and read back' "$(evidence_of boot.kernel operator 'in_force."boot.kernel"')" operator
is 'with its name and version beside each result' \
	"$(evidence_of boot.kernel operator layers | jq -r '.[] | select(.name == "kernel-operator") | .packages[] | "\(.name) \(.version)"')" \
	"$(dpkg-deb -f "$deb" Package) $(dpkg-deb -f "$deb" Version)"
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
