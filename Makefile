# SPDX-License-Identifier: GPL-2.0-or-later
# Assay. Two commands suffice: `make run` (the main job in the virtual lab) and `make check` (everything).
SHELL          := /bin/bash
.SHELLFLAGS    := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL  := help

OUT            := out
CACHE          := $(or $(ASSAY_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/assay)
export CACHE

MAKEFLAGS      += --jobs=$(shell nproc)
unexport MAKEFLAGS

# $(call say,WHAT,FILE): before a command, one line instead of the command itself; V=1 shows the commands.
say             = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2); )

# Debian's packages come before everything, whatever the goal: an included file is remade first, and if setup.sh
# installed something, make reads itself again (pkg-config is asked while it reads).
ifneq ($(filter-out help clean virtual-down need-root,$(or $(MAKECMDGOALS),help)),)
include $(OUT)/packages.mk
endif

include image/image.mk
include init/init.mk
include lab/lab.mk
include lab/virtual/virtual.mk
include tests/tests.mk
include tests/fuzz/cell.mk
include tests/fuzz/stack.mk
include tests/fuzz/observe.mk
include tests/fuzz/disk.mk
include tests/fuzz/noise.mk
include tests/bench/copy.mk
include tests/bench/aio.mk
include tests/bench/bench.mk

## help: this list
help:
	@sed -n 's/^## \([a-z-]*\): /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

## clean: remove out/ (the cache of kernel and userland builds stays)
clean:
	rm -rf $(OUT)

.PHONY: help clean
