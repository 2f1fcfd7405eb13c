# SPDX-License-Identifier: GPL-2.0-or-later
# The image: pinned inputs (pins) → sysroot and tools (userland.sh) + kernel (kernel.sh) → initramfs.sh → out/.
# The two builds live in $(CACHE) under the hash of all that goes into them; out/ points at them.

# For init/init.mk: the compiler of the node's static programs, and what they link.
SYSROOT        := $(abspath $(OUT))/sysroot
MUSL_CC        := $(SYSROOT)/bin/musl-cc
SYSROOT_LIBS   := -lcurl -lmbedtls -lmbedx509 -lmbedcrypto -ljansson -lkmod -lzstd -laio -lblkid

IMAGE_ENV      := CACHE='$(abspath $(CACHE))' OUT='$(abspath $(OUT))'

# The stamps change only when what they stand for does; the scripts look every time, in a quarter of a second.
$(OUT)/sysroot.stamp: FORCE
	@$(IMAGE_ENV) image/userland.sh

$(OUT)/kernel.stamp: FORCE
	@$(IMAGE_ENV) image/kernel.sh

## sysroot: the musl sysroot with the node's libraries, and the tools of the image
sysroot: $(OUT)/sysroot.stamp

## kernel: the kernel and its modules
kernel: $(OUT)/kernel.stamp

# INIT=PROGRAM puts another program in init's place; MODULES="DIR…" adds out-of-tree kernel modules, FIRMWARE="DIR…"
# files for /lib/firmware.
INIT           ?= $(OUT)/init

$(OUT)/manifest.json: $(INIT) $(OUT)/sysroot.stamp $(OUT)/kernel.stamp FORCE
	@$(IMAGE_ENV) MODULES='$(MODULES)' FIRMWARE='$(FIRMWARE)' image/initramfs.sh $(INIT)
	@$(IMAGE_ENV) image/layers.sh

## image: out/vmlinuz, out/initramfs.cpio.zst, out/manifest.json, out/ipxe/ (also MODULES="DIR…", FIRMWARE="DIR…")
image: $(OUT)/manifest.json

# Programs of Debian that only some plans need, each a further initrd; LAYERS="NAME…" builds only these.
LAYERS         ?= $(notdir $(wildcard image/layers/*))

# KERNEL=FILE, a Debian package, becomes the level `operator` of boot.kernel.
## layers: out/layers/NAME.cpio.zst, one for each recipe in image/layers/ (or LAYERS="NAME…"; also KERNEL="FILE.deb")
layers: $(OUT)/manifest.json
	@$(IMAGE_ENV) KERNEL='$(KERNEL)' image/layers.sh $(LAYERS) $(if $(KERNEL),kernel-operator)

## pins: renew image/pins and image/layers.pins from what the archive offers now
pins:
	$(IMAGE_ENV) image/fetch.sh --renew
	$(IMAGE_ENV) PINS=image/layers.pins image/fetch.sh --renew

## reproduce-userland: build the userland once more and compare every byte
reproduce-userland: $(OUT)/sysroot.stamp
	@$(IMAGE_ENV) image/reproduce.sh userland

## reproduce: the same for the kernel too
reproduce: reproduce-userland $(OUT)/kernel.stamp
	@$(IMAGE_ENV) image/reproduce.sh kernel

$(OUT)/packages.mk: FORCE
	@$(IMAGE_ENV) image/setup.sh $@

## setup: install the Debian packages that are missing, as every other target does first
setup:
	@:

FORCE:
.PHONY: FORCE sysroot kernel image layers pins reproduce reproduce-userland setup
