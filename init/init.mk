# SPDX-License-Identifier: GPL-2.0-or-later
# The node's one program: $(OUT)/init, static musl. SYSROOT and MUSL_CC come from image/image.mk.

INIT_SOURCES   := $(sort $(wildcard init/*.c)) results-schema/canonical.c results-schema/factor.c
INIT_OBJECTS   := $(INIT_SOURCES:%.c=$(OUT)/obj/node/%.o)
INIT_CFLAGS    := -std=gnu11 -D_GNU_SOURCE -Os -g -Wall -Wextra -Werror -ffunction-sections -fdata-sections \
                  -Iresults-schema
INIT_LIBS      := -lkmod -lcurl -lmbedtls -lmbedx509 -lmbedcrypto -ljansson

$(OUT)/obj/node/%.o: %.c $(USERLAND)
	@mkdir -p $(@D)
	$(MUSL_CC) $(INIT_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/init.debug: $(INIT_OBJECTS)
	$(MUSL_CC) -static -Wl,--gc-sections -o $@ $^ $(INIT_LIBS)

# Without symbols a backtrace of a crash can still be read with the .debug beside it.
$(OUT)/init: $(OUT)/init.debug
	strip -s -o $@ $<

-include $(INIT_OBJECTS:.o=.d)

# The same sources with the host's libc and libraries, for tests: everything but main.c is in one archive.
HOST_CFLAGS    := -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
                  -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Iresults-schema -Iinit
HOST_OBJECTS   := $(patsubst %.c,$(OUT)/obj/host/%.o,$(filter-out init/main.c,$(INIT_SOURCES)))
HOST_INIT      := $(OUT)/obj/host/init.a

$(OUT)/obj/host/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(HOST_CFLAGS) -MMD -MP -c -o $@ $<

$(HOST_INIT): $(HOST_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

-include $(HOST_OBJECTS:.o=.d)
