#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two builds of the storage NICs' driver: the kernel's own, and the same source once more as an out-of-tree module with a
# version of its own. A plan switches between them on running nodes; the evidence says which one was measured.
. "$(dirname "$0")/lib.sh"
lab_new driver
IMAGE=out/tests/driver-image
mkdir -p $IMAGE
ln -sfn "$(realpath out/kernel)" $IMAGE/kernel
ln -sfn "$(realpath out/sysroot)" $IMAGE/sysroot
cache=$(realpath "${CACHE:-${ASSAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}}")
tests/boot/second-ixgbe.sh "$LAB/ixgbe" assay-second || exit 1
CACHE=$cache OUT=$(realpath $IMAGE) MODULES=$LAB/ixgbe image/initramfs.sh out/init || exit 1
serve_start --image $IMAGE
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/driver.yaml
is 'the run ends with every cell valid' "$RUN_STATUS" 0
is 'the storage NICs are the 82599 model' "$(jq -r .storage_nic "$LAB/lab.json")" ixgbe
samples_complete 5 driver

# builds LEVEL: what was in force on all NICs of all nodes where nic.driver is LEVEL: build, version
builds()
{
	sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.driver\"') || '/' || coalesce(json_extract(nic.value, '\$.driver_version'), 'none')
		FROM results, json_each(CAST(body AS TEXT), '\$.evidence.nics') nic
		WHERE verdict = 'valid' AND coalesce(json_extract(CAST(body AS TEXT), '\$.cell.state.\"nic.driver\"'), 'default') = '$1'" | xargs
}
is 'out-of-tree: the second build, by its version' "$(builds out-of-tree)" out-of-tree/assay-second
is "in-tree: the kernel's own, which has no version" "$(builds in-tree)" in-tree/none
is 'default: the one that was added wins' "$(builds default)" out-of-tree/assay-second
sources()
{
	sql "SELECT DISTINCT json_extract(nic.value, '\$.driver_srcversion') FROM results, json_each(CAST(body AS TEXT), '\$.evidence.nics') nic
		WHERE verdict = 'valid' AND coalesce(json_extract(nic.value, '\$.driver_version'), 'none') = '$1'"
}
ok 'each build says its own source version' [ "$(sources none | grep -cE '^[0-9A-F]{16,}$')/$(sources assay-second | grep -cE '^[0-9A-F]{16,}$')" = 1/1 -a "$(sources none)" != "$(sources assay-second)" ]
is 'settings are applied to the new driver' "$(sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"nic.ring-rx\"') FROM results ORDER BY 1" | xargs)" '256 512 1024 2048'
is 'nothing in force differed from what was asked' "$(sql "SELECT count(*) FROM results WHERE json_array_length(CAST(body AS TEXT), '\$.evidence.differences') > 0")" 0
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven driver
done_testing
