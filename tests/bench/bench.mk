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
