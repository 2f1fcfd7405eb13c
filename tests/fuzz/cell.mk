# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz targets of the cell's readers.
INIT_FUZZ += $(OUT)/fuzz/proc_drbd

$(OUT)/fuzz/proc_drbd: tests/fuzz/fuzz_proc_drbd.c init/drbd_state.c results-schema/factor.c results-schema/factor_text.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinit -Iresults-schema \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ -ljansson
