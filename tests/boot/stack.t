#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every stack once, on one booted pair: layers of the image are fetched only once a run needs them, each layer of a stack is
# built, read back and taken down, and what a power cut leaves on the disk keeps no later cell from it.
. "$(dirname "$0")/lib.sh"
for layer in lvm2 cryptsetup filesystems irqbalance; do
	[ -e "out/layers/$layer.cpio.zst" ] || { echo "out/layers/$layer.cpio.zst is missing: make layers" >&2; exit 1; }
done
lab_new stack --disk-bytes 1073741824
serve_start
"$VLAB" start "$LAB" n1 n2
hellos()
{
	sql 'SELECT count(*) FROM boots WHERE boot_id IS NOT NULL'
}
ok 'both nodes come without a run' wait_for 120 'hello of both nodes' at_least 2 hellos
is 'and fetch no layer' "$(grep -c ' layers/.* is fetched' "$LAB/serve.log")" 0

# Power is cut while a file system on a logical volume is in use: as soon as its first sample is there.
{
	wait_for 300 'the first file system' at_least 4 valid_samples && "$VLAB" reset "$LAB" n1
} >"$LAB/cut.log" 2>&1 &
CUT=$!
run_plan tests/boot/stack.yaml
wait "$CUT"
is 'the power was cut' $? 0
is 'all was measured that the kernel has, and the exit code says so' "$RUN_STATUS" 6
samples_complete 27 stack
is 'nothing in force differed from what was asked' \
	"$(sql "SELECT count(*) FROM results WHERE json_array_length(CAST(body AS TEXT), '\$.evidence.differences') > 0")" 0
is 'no disk was refused' "$(sql "SELECT count(*) FROM errors WHERE body LIKE '%Disk refused%'")" 0
like 'why the nodes rebooted' "$(sql 'SELECT DISTINCT reason FROM reboots')" 'needs a layer of the image'
is 'each boot of the run fetched each layer once' \
	"$(sed -n 's,.* layers/\(.*\)\.cpio\.zst is fetched,\1,p' "$LAB/serve.log" | sort | uniq -c | awk '{ print $2 "=" $1 }' | xargs)" \
	'cryptsetup=3 filesystems=3 irqbalance=3 lvm2=3'

# of STACK ROLE KEY: what its first sample's evidence has
of()
{
	sql "SELECT json_extract(CAST(body AS TEXT), '\$.evidence.$3') FROM results WHERE verdict = 'valid' AND role = '$2'
		AND json_extract(CAST(body AS TEXT), '\$.cell.state.stack') = '$1' LIMIT 1"
}
version() # of PACKAGE in LAYER, by the manifest
{
	jq -r ".layers.\"$1\".packages[] | select(.name == \"$2\") | .version" out/manifest.json
}
for pair in lvm2:lvm2 cryptsetup:cryptsetup-bin filesystems:xfsprogs irqbalance:irqbalance; do
	is "results have the version of ${pair#*:}" \
		"$(of raw measure layers | jq -r ".[] | select(.name == \"${pair%:*}\") | .packages[] | select(.name == \"${pair#*:}\") | .version")" \
		"$(version "${pair%:*}" "${pair#*:}")"
done
like 'dm-linear: the table' "$(of dm-linear measure 'stack.layers[0].table')" '^0 2097152 linear [0-9]+:[0-9]+ 0$'
is 'dm-linear: read-ahead' "$(of dm-linear measure 'settings."block.dm-linear.read-ahead"')" 64
is 'lvm on drbd: read-ahead of the top is that of the volume' "$(of lvm/drbd measure 'settings."block.lvm.read-ahead"')" 512
is 'lvm on drbd: the peer has no volume' "$(of lvm/drbd peer stack | jq -c '.layers | map(.layer)')" '["drbd"]'
like 'drbd on lvm: attached to the volume' "$(of ext4/drbd/lvm peer drbd_show)" '"/dev/mapper/assay-lvm"'
is 'ext4 on drbd on lvm: layers' "$(of ext4/drbd/lvm measure stack | jq -c '.layers | map(.layer)')" '["lvm","drbd","ext4"]'
like 'ext4: options' "$(of ext4/drbd/lvm measure 'stack.layers[2].options')" 'noatime,.*nobarrier.*commit=30'
like 'ext4: made as asked' "$(of ext4/drbd/lvm measure 'stack.layers[2].geometry')" 'Block size: +1024'
like 'ext4 without a journal' "$(of ext4/lvm measure 'stack.layers[1].geometry' | grep -c has_journal)" '^0$'
like 'xfs: options' "$(of xfs/luks/drbd/dm-linear measure 'stack.layers[3].options')" 'noatime.*logbsize=64k'
like 'luks: the table, without its key' "$(of xfs/luks/drbd/dm-linear measure 'stack.layers[2].table')" \
	'crypt aes-cbc-essiv:sha256 0{64} 0 147:0 '
is 'no key is in any result' "$(sql "SELECT count(*) FROM results WHERE CAST(body AS TEXT) GLOB '*crypt aes*[1-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f] 0 [0-9]*:*'")" 0
is 'raw: read-ahead of the top is the disk'\''s' "$(of raw measure 'settings."block.disk.read-ahead"')" 32
like 'the kernel'\''s words on an option it does not have' \
	"$(sql "SELECT error FROM cells WHERE label LIKE '%nosuchoption%' LIMIT 1")" "Unknown parameter 'nosuchoption'.*unsupported"
like 'and on a cipher' "$(sql "SELECT error FROM cells WHERE label LIKE '%nosuchcipher%' LIMIT 1")" 'nosuchcipher.*unsupported'
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
factors_proven stack
done_testing
