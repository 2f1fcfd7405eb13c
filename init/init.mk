# SPDX-License-Identifier: GPL-2.0-or-later
# The node's one program: $(OUT)/init, static musl. SYSROOT and MUSL_CC come from image/image.mk.

INIT_SOURCES   := $(sort $(wildcard init/*.c)) results-schema/canonical.c results-schema/cpu_split.c results-schema/cpus.c \
                  results-schema/factor.c results-schema/factor_text.c results-schema/histogram.c results-schema/series.c
INIT_OBJECTS   := $(INIT_SOURCES:%.c=$(OUT)/obj/node/%.o)
# The node has mbedTLS anyhow, for libcurl; its tests hash with the same.
INIT_SHA256    := -DSHA256_MBEDTLS
INIT_CFLAGS    := -std=gnu11 -D_GNU_SOURCE -Os -g -Wall -Wextra -Werror -ffunction-sections -fdata-sections \
                  -ffile-prefix-map=$(CURDIR)=. -Iresults-schema $(INIT_SHA256)

$(OUT)/obj/node/%.o: %.c $(OUT)/sysroot.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<)$(MUSL_CC) $(INIT_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/init.debug: $(INIT_OBJECTS)
	$(call say,LINK,$@)$(MUSL_CC) -static -Wl,--gc-sections,--build-id=none -o $@ $(filter %.o,$^) $(SYSROOT_LIBS)

# Without symbols a backtrace of a crash can still be read with the .debug beside it.
$(OUT)/init: $(OUT)/init.debug
	$(call say,STRIP,$@)strip -s -o $@ $<

-include $(INIT_OBJECTS:.o=.d)

# The same sources with the host's libc and libraries, for tests: everything but main.c is in one archive.
HOST_CFLAGS    := -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
                  -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Iresults-schema -Iinit $(INIT_SHA256)
# What the node sends is checked against the schemas in tests; the node itself does not carry them.
HOST_SCHEMA    := results-schema/schema.c results-schema/schema_load.c results-schema/schema_own.c
HOST_OBJECTS   := $(patsubst %.c,$(OUT)/obj/host/%.o,$(filter-out init/main.c,$(INIT_SOURCES)) $(HOST_SCHEMA)) \
                  $(OUT)/obj/host/schema_texts.o
HOST_INIT      := $(OUT)/obj/host/init.a

$(OUT)/obj/host/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(HOST_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/obj/host/schema_texts.o: $(OUT)/gen/schema_texts.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(HOST_CFLAGS) -c -o $@ $<

$(HOST_INIT): $(HOST_OBJECTS)
	$(call say,AR,$@)rm -f $@; $(AR) rcs $@ $^

-include $(HOST_OBJECTS:.o=.d)

# One program a test file. What a test defines itself (a fake cell_apply()) goes before the archive's.
INIT_TEST_C    := $(foreach area,aio init cell disk drbd net copy observe noise evidence command,$(wildcard tests/unit/$(area)_*.c))
INIT_TESTS     := $(INIT_TEST_C:tests/unit/%.c=$(OUT)/tests/%)
UNIT_TESTS     += $(INIT_TESTS)

$(INIT_TESTS): $(OUT)/tests/%: $(OUT)/obj/host/tests/unit/%.o $(HOST_INIT)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(HOST_CFLAGS) -o $@ $< $(HOST_INIT) -lcmocka -lkmod -lcurl -lmbedcrypto -ljansson -laio -lblkid -pthread

-include $(INIT_TEST_C:%.c=$(OUT)/obj/host/%.d)
.SECONDARY: $(INIT_TEST_C:%.c=$(OUT)/obj/host/%.o) $(HOST_OBJECTS)

INIT_FUZZ      := $(OUT)/fuzz/cmdline
$(INIT_FUZZ): tests/fuzz/fuzz_cmdline.c init/cmdline.c results-schema/factor.c results-schema/factor_text.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)clang -std=gnu11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -Iinit -Iresults-schema \
	    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ -ljansson
