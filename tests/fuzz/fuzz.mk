# SPDX-License-Identifier: GPL-2.0-or-later
# Each target runs for FUZZ_SECONDS on its corpus, in which only what we wrote is kept.
# libfyaml 0.7.12 itself loses some kilobytes on certain malformed documents: tests/fuzz/lsan.supp leaves those out, and
# what anyone else loses still fails.
FUZZ_SECONDS ?= 15

## fuzz-short: every fuzz target for a few seconds (FUZZ_SECONDS=…)
fuzz-short: $(INIT_FUZZ) $(LAB_FUZZ)
	@for target in $^; do \
	    name=$$(basename $$target); mkdir -p $(OUT)/fuzz/found-$$name tests/fuzz/corpus-$$name; \
	    LSAN_OPTIONS=suppressions=tests/fuzz/lsan.supp:print_suppressions=0 nice $$target -max_total_time=$(FUZZ_SECONDS) -timeout=60 -rss_limit_mb=2048 -close_fd_mask=1 -print_final_stats=0 -seed=1 \
	        -artifact_prefix=$(OUT)/fuzz/ $(OUT)/fuzz/found-$$name tests/fuzz/corpus-$$name \
	        >$(OUT)/fuzz/$$name.log 2>&1 || { tail -n 40 $(OUT)/fuzz/$$name.log >&2; exit 1; }; \
	    echo "fuzz: $$name: $$(sed -n 's/^Done //p' $(OUT)/fuzz/$$name.log)"; \
	done
.PHONY: fuzz-short
