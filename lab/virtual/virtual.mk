# SPDX-License-Identifier: GPL-2.0-or-later
# The virtual lab, and what it is for.

VIRTUAL_DIR    := $(OUT)/virtual
NIC_TARGETS    := nic

## run: the main job: two virtual nodes boot, measure tests/matrix/smoke.yaml, the table is printed
run: need-root image lab
	@lab/virtual/run.sh $(VIRTUAL_DIR) $(or $(PLAN),tests/matrix/smoke.yaml)

## virtual: leave a virtual lab up to play with, until Ctrl-C
virtual: need-root image lab
	@lab/virtual/play.sh $(VIRTUAL_DIR)

## virtual-down: end the virtual lab, whatever became of who started it
virtual-down:
	@lab/virtual/lab.sh down $(VIRTUAL_DIR)

## nic: build the 82599 model for the installed QEMU (where that fails, labs use virtio and say so)
nic:
	@lab/virtual/nic/build.sh >/dev/null || echo "WARNING: no 82599 model for this QEMU; virtual labs use virtio"

need-root:
	@[ "$$(id -u)" = 0 ] || { echo "The virtual lab needs root. Run: sudo make $(or $(MAKECMDGOALS),run)" >&2; exit 1; }

# The model's parts that need no QEMU, under the sanitizers.
NIC_PURE       := $(addprefix lab/virtual/nic/,buffer.c counters.c eeprom.c flow.c frame.c offload.c ring.c rss.c sfp.c toeplitz.c)
NIC_TESTS      := $(patsubst tests/unit/%.c,$(OUT)/tests/%,$(wildcard tests/unit/nic_*.c))
UNIT_TESTS     += $(NIC_TESTS)

$(NIC_TESTS): $(OUT)/tests/%: tests/unit/%.c $(NIC_PURE) $(wildcard lab/virtual/nic/*.h)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=gnu11 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
	    -fno-omit-frame-pointer -Ilab/virtual/nic -o $@ $(filter %.c,$^) -lcmocka

.PHONY: run virtual virtual-down nic need-root
