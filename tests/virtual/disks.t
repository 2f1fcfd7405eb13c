#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The disks: what looks like a system disk is one, and a single changed byte is seen.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
lab=${LABS[0]}

poke() {
	printf '%b' "$2" | dd of="$lab/n2.system.raw" bs=1 seek="$1" conv=notrunc status=none
}

must "up" up "$lab" --nic virtio --disk-bytes 33554432
is "size of the disk under test" "$(stat -c %s "$lab/n1.data.raw")" 33554432
is "it is sparse" "$(stat -c %b "$lab/n1.data.raw")" 0
like "the system disk has a GPT" "$(sgdisk -p "$lab/n1.system.raw" 2>&1)" 'root$'
like "its GPT is sound" "$(sgdisk -v "$lab/n1.system.raw" 2>&1)" 'No problems found'
dd if="$lab/n1.system.raw" of="$WORK/root" bs=1M skip=1 count=46 status=none
ok "its file system is sound" e2fsck -fn "$WORK/root"
is "it holds files" "$(debugfs -R 'cat /home/anna/letter.txt' "$WORK/root" 2>/dev/null)" "Do not lose this."
is "a large one, too" "$(debugfs -R 'stat /var/lib/shop/orders.db' "$WORK/root" 2>/dev/null | grep -o -m 1 'Size: [0-9]*' | head -n 1)" "Size: 4194304"
ok "untouched" "$LAB" check-system-disks "$lab"

poke 20000000 '\x01'
found=$("$LAB" check-system-disks "$lab") && found="accepted: $found"
like "a changed byte is seen" "$found" '^n2: SYSTEM DISK CHANGED'
like "and where it is" "$found" 'byte 20000001'
like "the other node's is fine" "$found" '^n1: system disk unchanged'
poke 20000000 '\x00'
ok "put back, it passes" "$LAB" check-system-disks "$lab"
truncate -s +512 "$lab/n2.system.raw"
ok "a longer disk is seen" not "$LAB" check-system-disks "$lab"
truncate -s -512 "$lab/n2.system.raw"
rm "$lab/n1.system.raw"
ok "a missing disk is seen" not "$LAB" check-system-disks "$lab"
cp "$lab/system.raw" "$lab/n1.system.raw"

ok "a second disk with the same serial" "$LAB" add-disk "$lab" n1 ASSAY-N1-DATA
ok "a node starts with it" "$LAB" start "$lab" n1
ok "a running node's disk is not signed" not "$LAB" sign-disk "$lab" n1
ok "sign" "$LAB" sign-disk "$lab" n2
like "then it carries data" "$(blkid -p "$lab/n2.data.raw")" 'LABEL="precious"'
like "no serial of 21 letters" "$("$LAB" add-disk "$lab" n1 ABCDEFGHIJKLMNOPQRSTU 2>&1)" "cannot be a serial"
done_testing
