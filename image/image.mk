# SPDX-License-Identifier: GPL-2.0-or-later
# The image: pinned inputs (pins) → sysroot and tools (userland.sh) + kernel (kernel.sh) → initramfs.sh → out/.
# The two builds live in $(CACHE) under the hash of all that goes into them; out/ points at them.

# For init/init.mk: the compiler of the node's static programs, and what they link.
SYSROOT        := $(abspath $(OUT))/sysroot
MUSL_CC        := $(SYSROOT)/bin/musl-cc
SYSROOT_LIBS   := -lcurl -lmbedtls -lmbedx509 -lmbedcrypto -ljansson -lkmod -laio

IMAGE_ENV      := CACHE='$(abspath $(CACHE))' OUT='$(abspath $(OUT))'

# The stamps change only when what they stand for does; the scripts look every time, in a quarter of a second.
$(OUT)/sysroot.stamp: FORCE | setup
	$(IMAGE_ENV) image/userland.sh

$(OUT)/kernel.stamp: FORCE | setup
	$(IMAGE_ENV) image/kernel.sh

## sysroot: the musl sysroot with the node's libraries, and the tools of the image
sysroot: $(OUT)/sysroot.stamp

## kernel: the kernel and its modules
kernel: $(OUT)/kernel.stamp

## setup: install the Debian packages that are missing
setup:
	@$(IMAGE_ENV) image/setup.sh

FORCE:
.PHONY: FORCE sysroot kernel setup
