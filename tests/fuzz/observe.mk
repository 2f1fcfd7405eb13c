# SPDX-License-Identifier: GPL-2.0-or-later
# Fuzz targets of the observers, and of what the lab reads of theirs.
INIT_FUZZ += $(OUT)/fuzz/series

$(OUT)/fuzz/series: tests/fuzz/fuzz_series.c results-schema/series.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iresults-schema \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ -ljansson -lmbedcrypto

INIT_FUZZ += $(OUT)/fuzz/observe_text

$(OUT)/fuzz/observe_text: tests/fuzz/fuzz_observe_text.c init/observe_text.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinit \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^
