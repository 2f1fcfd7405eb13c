#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One node with every disk that must not be written without consent: what is on each is found by probing, and told at
# hello; each that a run names is refused on the console, in the store and in the report; what is consented to is measured;
# and not a byte of any other disk changes. The images are those of tests/data/disks.
. "$(dirname "$0")/lib.sh"
lab_new disks --nodes 1

# image NAME BYTES [AT]: tests/data/disks/NAME.xz on a disk of its own
image()
{
	truncate -s "$2" "$LAB/$1.disk"
	xz -dc "tests/data/disks/$1.xz" | dd of="$LAB/$1.disk" bs=4096 conv=notrunc,sparse status=none
	"$VLAB" add-device "$LAB" n1 "scsi-hd,bus=scsi.0,serial=$1" "$1.disk"
}

# empty FILE BYTES DEVICE [OPTION…]
empty()
{
	truncate -s "$2" "$LAB/$1.disk"
	"$VLAB" add-device "$LAB" n1 "$3" "$1.disk${4:-}"
}

WANTED=()
m=$((1 << 20))
"$VLAB" add-device "$LAB" n1 virtio-scsi-pci,id=scsi
# What is found: name, size, signature and byte of its magic, as the store has it
while read -r name bytes found; do
	image "$name" "$bytes"
	WANTED["${#WANTED[@]}"]="$name $found"
done <<X
gpt $((4 * m)) gpt@512
gpt-backup $((4 * m)) gpt@$((4 * m - 512))
gpt-4k $((4 * m)) gpt@4096
mbr $((4 * m)) mbr@510
ext4 $((64 * m)) ext4@1080
xfs $((320 * m)) xfs@0
swap $((64 * m)) swap@4086
lvm $((64 * m)) lvm@536
md-0.90 $((10 * m)) md@10420224
md-1.0 $((4 * m)) md@4186112
md-1.1 $((4 * m)) md@0
md-1.2 $((4 * m)) md@4096
luks1 $((4 * m)) luks@0
luks2 $((4 * m)) luks@0
zfs 67633152 zfs@147456
bcache-B $((4 * m)) bcache@4120
drbd-internal $((8 * m)) drbd@8384572
drbd-odd-size $((8 * m - 512)) drbd@8380476
drbd-flex-external $((8 * m)) drbd@60
bitlocker $((4 * m)) bitlocker@0,mbr@510
X
empty nvme $((32 * m)) nvme,serial=FAILING-NVME,smart_critical_warning=4
empty removable $((32 * m)) scsi-hd,bus=scsi.0,serial=REMOVABLE,removable=on
empty read-only $((32 * m)) scsi-hd,bus=scsi.0,serial=READ-ONLY ,readonly=on
empty path $((32 * m)) scsi-hd,bus=scsi.0,serial=PATH-1,wwn=0x5000c500a1b2c3d4,share-rw=on ,file.locking=off
"$VLAB" add-device "$LAB" n1 scsi-hd,bus=scsi.0,serial=PATH-2,wwn=0x5000c500a1b2c3d4,share-rw=on path.disk,file.locking=off
empty 4kn $((32 * m)) scsi-hd,bus=scsi.0,serial=SECTORS-4K,logical_block_size=4096,physical_block_size=4096
empty spaces $((32 * m)) 'scsi-hd,bus=scsi.0,serial=WD  AB 12'
empty nameless $((32 * m)) scsi-hd,bus=scsi.0
empty no-size 0 virtio-blk-pci,serial=NO-SIZE

sums()
{
	(cd "$LAB" && sha256sum ./*.disk)
}
before=$(sums)
cp "$LAB/lab.yaml" "$LAB/right.yaml"

# disk_is SERIAL QUERY: of the node's disks at hello
of_disk()
{
	sql "SELECT $2 FROM boots, json_each(boots.inventory, '\$.disks') d WHERE node = 'n1' AND json_extract(d.value, '\$.serial') = '$1'
		ORDER BY hello_order DESC LIMIT 1"
}

# lab_names SERIAL [COVERS [MORE]]: the node's disk in the lab file, and a server with it
lab_names()
{
	serve_kill
	sed -e "s/serial: ASSAY-N1-DATA/serial: \"$1\"/; s/min_bytes: .*/min_bytes: 2097152/; s/max_bytes: .*/max_bytes: 1000000000/" \
		-e "s/consent: wipe/consent: wipe\n      covers: [${2:-}]${3:+\n      $3}/" "$LAB/right.yaml" >"$LAB/lab.yaml"
	serve_start
}

refused()
{
	local what=$1 pattern=$2 remedy=$3
	run_plan tests/boot/raw.yaml --scale 1/8
	is "$what: the run fails" "$RUN_STATUS" 1
	like "$what: told at once, and what was found where" "$(cat "$LAB/run.log")" "Disk refused: $pattern"
	like "$what: and what to do" "$(cat "$LAB/run.log")" "$remedy"
	like "$what: in the store" "$(sql "SELECT json_extract(body, '\$.message') FROM errors ORDER BY id DESC LIMIT 1")" "Disk refused: $pattern"
	like "$what: in the report" "$(out/assay report --db "$DB" 2>&1)" "Disk refused: $pattern"
	like "$what: on the console" "$(tr -d '\r\n' <"$LAB/n1.serial")" "Disk refused: $pattern"
	is "$what: nothing was measured" "$(valid_samples)" 0
}

lab_names lvm
"$VLAB" start "$LAB" n1
refused lvm '.*carries data: lvm at byte 536\. ' 'covers: \[lvm\]'
for wanted in "${WANTED[@]}"; do
	is "found on ${wanted% *}" "$(of_disk "${wanted% *}" "(SELECT group_concat(json_extract(f.value, '\$.name') || '@' || json_extract(f.value, '\$.offset_bytes'))
		FROM json_each(d.value, '\$.found') f)")" "${wanted#* }"
done
is 'a healthy SATA disk' "$(of_disk ASSAY-N1-SYSTEM "json_extract(d.value, '\$.health_text')")" 'SMART: passed'
is 'a failing NVMe disk' "$(of_disk FAILING-NVME "json_extract(d.value, '\$.health')")" failing
is 'one that cannot say' "$(of_disk ext4 "json_extract(d.value, '\$.health')")" unknown
is 'the system disk' "$(of_disk ASSAY-N1-SYSTEM "json_extract(d.value, '\$.found[0].name') || ' ' || json_extract(d.value, '\$.transport')")" 'gpt ata'
is 'a disk without a name is listed' "$(sql "SELECT count(*) FROM boots, json_each(boots.inventory, '\$.disks') d WHERE json_extract(d.value, '\$.serial') = ''")" 1
is 'nothing was assembled: no other block devices' "$(sql "SELECT count(*) FROM boots, json_each(boots.inventory, '\$.disks') d WHERE json_extract(d.value, '\$.in_use_by') <> ''")" 0

is 'a removable disk' "$(of_disk REMOVABLE "json_extract(d.value, '\$.removable')")" 1
is 'a read-only disk' "$(of_disk READ-ONLY "json_extract(d.value, '\$.read_only')")" 1
is 'a disk of no size' "$(of_disk NO-SIZE "json_extract(d.value, '\$.size_bytes')")" 0
is 'sectors of 4 KiB' "$(of_disk SECTORS-4K "json_extract(d.value, '\$.logical_sector_bytes')")" 4096
is 'a serial with spaces' "$(of_disk 'WD  AB 12' "json_extract(d.value, '\$.size_bytes')")" $((32 * m))

# Each run costs a boot: here are those whose reason is of the hardware; tests/unit/disk_select.c has the others.
lab_names FAILING-NVME any
refused failing '.*says that it fails \(NVMe: critical warning 04h: reliability is degraded\)' 'add failing to covers'
lab_names PATH-1 any
refused 'two paths' '.*has the WWN .*5000c500a1b2c3d4, and so has /dev/sd.*: two paths' 'the other path'
lab_names drbd-odd-size md
refused 'DRBD, one sector less' '.*carries data: drbd at byte 8380476' 'covers: \[drbd\]'
is 'no byte of any disk changed' "$(sums)" "$before"
ok 'the system disk is as it was' "$VLAB" check-system-disks "$LAB"

# What is consented to is measured, and only that is written.
others()
{
	sums | grep -v "/$1.disk$"
}

consented()
{
	local serial=$1 file=$2 before
	before=$(others "$file")
	lab_names "$serial" "$3" "${4:-}"
	run_plan tests/boot/raw.yaml --samples 1 --scale 1/8
	is "$serial: with consent it is measured" "$RUN_STATUS" 0
	is "$serial: no byte of any other disk changed" "$(others "$file")" "$before"
}
consented FAILING-NVME nvme failing
consented SECTORS-4K 4kn '' 'logical_sector_bytes: 4096'
consented lvm lvm lvm
ok 'the system disk is still as it was' "$VLAB" check-system-disks "$LAB"
done_testing
