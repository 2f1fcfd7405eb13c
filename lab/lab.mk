# SPDX-License-Identifier: GPL-2.0-or-later
# The operator's program, and its unit tests under the sanitizers.
include results-schema/schema.mk

LAB_PKGS    := libfyaml jansson libcurl libmicrohttpd sqlite3 gsl libcrypto
LAB_C       := $(filter-out lab/virtual/%,$(wildcard lab/*.c lab/*/*.c)) $(wildcard results-schema/*.c)
LAB_CFLAGS  := -std=gnu11 -D_GNU_SOURCE -g -Wall -Wextra -Werror -Iresults-schema -Ilab -Ilab/plan $(shell pkg-config --cflags $(LAB_PKGS) 2>/dev/null)
LAB_LIBS     = $(shell pkg-config --libs $(LAB_PKGS)) -lmbedcrypto -lm -pthread
LAB_SAN     := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

LAB_GEN     := schema_texts web_texts
LAB_OBJ     := $(LAB_C:%.c=$(OUT)/obj/lab/%.o) $(LAB_GEN:%=$(OUT)/obj/lab/gen/%.o)
LAB_SAN_OBJ := $(patsubst $(OUT)/obj/lab/%,$(OUT)/obj/lab-san/%,$(filter-out %/lab/main.o,$(LAB_OBJ)))

## lab: the operator's program, out/assay
lab: $(OUT)/assay

$(OUT)/assay: $(LAB_OBJ)
	$(call say,LINK,$@)$(CC) -o $@ $^ $(LAB_LIBS)

$(OUT)/obj/lab/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(LAB_CFLAGS) -O2 -D_FORTIFY_SOURCE=2 -MMD -c -o $@ $<

$(OUT)/obj/lab-san/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(LAB_CFLAGS) -O1 $(LAB_SAN) -MMD -c -o $@ $<

# What pages are made with: our style and script, and uPlot as lab/web/package-lock.json pins it.
$(OUT)/gen/web_texts.c: image/npm.sh $(wildcard lab/web/*) lab/web/.npmrc
	@mkdir -p $(@D)
	$(call say,EMBED,$@)modules=$$(image/npm.sh lab/web) && lab/web/embed.sh "$$modules" > $@

$(OUT)/obj/lab/gen/%.o: $(OUT)/gen/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(LAB_CFLAGS) -O2 -MMD -c -o $@ $<

$(OUT)/obj/lab-san/gen/%.o: $(OUT)/gen/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(LAB_CFLAGS) -O1 $(LAB_SAN) -MMD -c -o $@ $<

# One program a test file; all of lab but main() is linked in.
LAB_TEST_C  := $(foreach area,accept export histogram series plan schema factor canonical lab cli store serve report conductor stats compare import,$(wildcard tests/unit/$(area)_*.c))
LAB_TESTS   := $(LAB_TEST_C:tests/unit/%.c=$(OUT)/tests/%)
UNIT_TESTS  += $(LAB_TESTS)

$(LAB_TESTS): $(OUT)/tests/%: $(OUT)/obj/lab-san/tests/unit/%.o $(LAB_SAN_OBJ)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(LAB_SAN) -o $@ $^ $(LAB_LIBS) -lcmocka

# Fuzz targets: tests/fuzz/fuzz_NAME.c with a corpus in tests/fuzz/corpus-NAME/.
LAB_FUZZ    := $(patsubst tests/fuzz/fuzz_%.c,$(OUT)/fuzz/%,$(wildcard tests/fuzz/fuzz_plan.c tests/fuzz/fuzz_json_schema.c tests/fuzz/fuzz_transcript.c tests/fuzz/fuzz_pack.c))
$(LAB_FUZZ): $(OUT)/fuzz/%: tests/fuzz/fuzz_%.c $(filter-out lab/main.c,$(LAB_C)) $(LAB_GEN:%=$(OUT)/gen/%.c)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang $(LAB_CFLAGS) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ $(LAB_LIBS)

-include $(LAB_OBJ:.o=.d) $(LAB_SAN_OBJ:.o=.d) $(LAB_TEST_C:%.c=$(OUT)/obj/lab-san/%.d)
# .incbin, which -MMD does not see.
$(OUT)/obj/lab/lab/store/store.o $(OUT)/obj/lab-san/lab/store/store.o: lab/store/schema.sql
$(OUT)/obj/lab/lab/export/grafana.o $(OUT)/obj/lab-san/lab/export/grafana.o: lab/export/grafana.json
.SECONDARY: $(LAB_SAN_OBJ) $(LAB_TEST_C:%.c=$(OUT)/obj/lab-san/%.o)
include tests/fuzz/fuzz.mk
.PHONY: lab
