# SPDX-License-Identifier: GPL-2.0-or-later
# The workload aio's instructions for each I/O, against its budget and beside fio.

$(OUT)/tests/aio_run: tests/bench/aio_run.c $(wildcard init/workload_aio*.c) init/workload_memory.c init/file.c init/failure.c results-schema/histogram.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=gnu11 -D_GNU_SOURCE -Os -g -Wall -Wextra -Werror -Iinit -Iresults-schema -o $@ $^ -ljansson -laio -pthread

## bench-aio: user instructions for each I/O of the workload aio, and fio's
bench-aio: $(OUT)/tests/aio_run
	tests/bench/aio.sh $<

## bench-aio-fio: the workload aio beside fio in one VM on null_blk: IOPS in pairs, and latencies
bench-aio-fio: image $(OUT)/tests/aio_run
	@$(IMAGE_ENV) image/layers.sh fio
	@tests/bench/aio-fio.sh $(OUT)/tests/aio_run

.PHONY: bench-aio bench-aio-fio
