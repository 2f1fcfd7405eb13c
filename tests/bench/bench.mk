# SPDX-License-Identifier: GPL-2.0-or-later

## bench: figures for the budgets: expanding a plan, image sizes, boot time, memory, a warm cell, copy beside dd
bench: need-root image lab $(OUT)/tests/copy_vs_dd
	@over=; for step in expand.sh boot.sh warm-cell.sh "copy.sh $(OUT)/tests/copy_vs_dd $(BENCH_TARGET)" "report.sh $(OUT)/assay"; do \
	    tests/bench/$$step || over="$$over $${step%%.sh*}"; \
	done; [ -z "$$over" ] || { echo "over budget, or not measured:$$over" >&2; exit 1; }

.PHONY: bench

## bench-nic: TCP between two virtual nodes: the 82599 model beside virtio
bench-nic: need-root image lab
	@tests/bench/nic.sh

.PHONY: bench-nic
