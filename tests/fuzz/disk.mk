# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz target of what is found on disks.
INIT_FUZZ += $(OUT)/fuzz/disk

$(OUT)/fuzz/disk: tests/fuzz/fuzz_disk.c init/disk_signature.c init/disk_signature_own.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinit \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ -lblkid
