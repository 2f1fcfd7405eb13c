#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's kernel and the operator's as levels of a cell: their boot script names them and their modules, the nodes reboot for
# each once, and what ran is in the evidence. The operator's is the same package, given as a file.
. "$(dirname "$0")/lib.sh"
[ -e out/layers/kernel-debian.vmlinuz ] || { echo "out/layers/kernel-debian.vmlinuz is missing: make layers" >&2; exit 1; }
lab_new kernel
mkdir -p "$LAB/image/layers"
for file in out/*; do
	[ "$file" = out/layers ] || ln -s "$(readlink -f "$file")" "$LAB/image/"
done
ln -s "$PWD"/out/layers/{kernel-debian,filesystems}.* "$LAB/image/layers/"
rm "$LAB/image/manifest.json"
cp out/manifest.json "$LAB/image/"
CACHE=$(readlink -f "${ASSAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}")
deb=$(CACHE=$CACHE OUT=$LAB/fetch PINS=image/layers.pins image/fetch.sh "$(sed -n 's/^kernel //p' image/layers/kernel-debian)" 2>/dev/null | cut -d' ' -f7-)
CACHE=$CACHE OUT=$PWD/$LAB/image KERNEL=$deb image/layers.sh kernel-operator || exit 1
serve_start --image "$LAB/image"
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/kernel.yaml
is 'every cell is valid' "$RUN_STATUS" 0
samples_complete 6 kernel
is 'one reboot of each node for each kernel' \
	"$(sql "SELECT group_concat(node) FROM (SELECT node FROM reboots WHERE reason LIKE '%another kernel%' ORDER BY node)")" n1,n1,n2,n2
evidence() # LEVEL KEY
{
	sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.$2') FROM results
		WHERE coalesce(json_extract(CAST(body AS TEXT), '\$.cell.state.\"boot.kernel\"'), 'default') = '$1'"
}
ours=$(jq -r .kernel.release out/manifest.json)
package=$(jq -r '.layers."kernel-debian".packages[0].name' out/manifest.json)
is 'default: our kernel' "$(evidence default kernel_release)" "$ours"
is 'debian: the kernel of the package' "linux-image-$(evidence debian kernel_release)" "$package"
is 'and read back' "$(evidence debian 'in_force."boot.kernel"')" debian
is 'operator: the kernel of the package that was given' "linux-image-$(evidence operator kernel_release)" "$(dpkg-deb -f "$deb" Package)"
is 'and read back' "$(evidence operator 'in_force."boot.kernel"')" operator
is 'with its name and version beside each result' "$(evidence operator layers | jq -r '.[] | select(.name == "kernel-operator") | .packages[] | "\(.name) \(.version)"')" \
	"$(dpkg-deb -f "$deb" Package) $(dpkg-deb -f "$deb" Version)"
is 'our kernel boots without the layer of the other' "$(evidence default layers | grep -c kernel-debian)" 0
is 'no warning or error in any kernel log' "$(grep -aE 'WARNING:|BUG:|Oops|Call Trace|hung_task' "$LAB"/n?.serial)" ''
factors_proven kernel
done_testing
