# SPDX-License-Identifier: GPL-2.0-or-later
# The workload copy beside GNU dd. BENCH_TARGET: a file or block device that may be overwritten.

$(OUT)/tests/copy_vs_dd: tests/bench/copy_vs_dd.c init/workload_copy.c init/workload_copy_pool.c init/workload_memory.c init/file.c init/failure.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=gnu11 -D_GNU_SOURCE -Os -g -Wall -Wextra -Werror -Iinit -Iresults-schema -o $@ $^ -ljansson

## bench-copy: the workload copy beside GNU dd: instructions and time
bench-copy: $(OUT)/tests/copy_vs_dd
	tests/bench/copy.sh $< $(BENCH_TARGET)

.PHONY: bench-copy
