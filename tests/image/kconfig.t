#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every kernel symbol asked for is in force, and one that is not is named.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
check=$ROOT/kconfig/check.sh

printf '%s\n' 'CONFIG_A=y' 'CONFIG_B=m' '# CONFIG_C is not set' 'CONFIG_NAME="x=y"' >"$WORK/.config"
printf '%s\n' '# why' 'CONFIG_A=y' 'CONFIG_B=m' 'CONFIG_C=n' 'CONFIG_GONE=n' 'CONFIG_NAME="x=y"' >"$WORK/good"
ok "all in force" "$check" "$WORK/.config" "$WORK/good"

printf '%s\n' 'CONFIG_A=y' 'CONFIG_C=y' 'CONFIG_NOSUCH=m' 'CONFIG_B=y' >"$WORK/bad"
ok "some not: fails" not "$check" "$WORK/.config" "$WORK/bad"
said=$("$check" "$WORK/.config" "$WORK/bad" 2>&1)
like "a switched-off one is named, with its line" "$said" 'bad:2: CONFIG_C: wanted y, got n'
like "a missing one is named" "$said" 'bad:3: CONFIG_NOSUCH: wanted m, got n'
like "a changed one is named" "$said" 'bad:4: CONFIG_B: wanted y, got m'
like "and counted" "$said" '^3 of 4 requested symbols are not in force'

printf '%s\n' 'CONFIG_A=y' 'CONFIG_A=m' >"$WORK/twice"
like "two fragments that disagree" "$("$check" "$WORK/.config" "$WORK/twice" 2>&1)" 'twice:2: CONFIG_A: wanted m here but y elsewhere'
echo 'A=y' >"$WORK/typo"
like "a line that is nothing" "$("$check" "$WORK/.config" "$WORK/typo" 2>&1)" 'typo:1: neither a comment'
ok "no symbol at all: fails" not "$check" "$WORK/.config" /dev/null

ok "the kernel is there" "$ROOT/image/kernel.sh"
ok "every fragment's symbols are in the kernel" "$check" "$OUT/kernel/config" "$ROOT"/kconfig/*.config
# What would assemble, by itself, what it finds on somebody's disks, or bring disks in that nobody named.
printf '%s\n' CONFIG_{BLK_DEV_MD,BCACHE,DM_INIT,USB_STORAGE,USB_UAS,ISCSI_TCP,NVME_TCP}=n >"$WORK/never"
ok "nothing assembles what is found on disks" "$check" "$OUT/kernel/config" "$WORK/never"
for fragment in base net bonding drbd storage quiet virtual; do
	ok "$fragment.config says why" grep -q "^# $fragment: " "$ROOT/kconfig/$fragment.config"
done
done_testing
