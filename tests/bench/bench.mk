# SPDX-License-Identifier: GPL-2.0-or-later

## bench: figures for the budgets: expanding a plan, image sizes, boot time, memory, a warm cell, copy beside dd
bench: need-root image lab $(OUT)/tests/copy_vs_dd
	@tests/bench/expand.sh
	@tests/bench/boot.sh
	@tests/bench/warm-cell.sh
	@tests/bench/copy.sh $(OUT)/tests/copy_vs_dd $(BENCH_TARGET)
	@tests/bench/report.sh $(OUT)/assay

.PHONY: bench

## bench-nic: TCP between two virtual nodes: the 82599 model beside virtio
bench-nic: need-root image lab
	@tests/bench/nic.sh

.PHONY: bench-nic

# Static: it runs in every system.
$(OUT)/tests/detour: tests/bench/detour.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -static -o $@ $<

## bench-noise: what is taken from a spinning program: Assay, the stock Debian kernel with its init, a minimal Debian
bench-noise: need-root image lab $(OUT)/tests/detour
	@$(IMAGE_ENV) image/layers.sh kernel-debian
	@$(IMAGE_ENV) tests/bench/noise.sh $(OUT)/tests/detour

.PHONY: bench-noise
