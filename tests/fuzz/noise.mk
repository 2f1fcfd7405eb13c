# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz target of what the kernel says of noise.
INIT_FUZZ += $(OUT)/fuzz/noise_text

$(OUT)/fuzz/noise_text: tests/fuzz/fuzz_noise_text.c init/noise_text.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinit \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^
