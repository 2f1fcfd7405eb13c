# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz target of what the stack reads.
INIT_FUZZ += $(OUT)/fuzz/stack_text

$(OUT)/fuzz/stack_text: tests/fuzz/fuzz_stack_text.c init/dm_table.c init/mounts.c results-schema/factor.c results-schema/factor_text.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinit -Iresults-schema \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ -ljansson
