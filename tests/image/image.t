#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The image: its manifest, id, sizes, owners, modes, and out-of-tree modules.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
m=$OUT/manifest.json
image() {
	"$ROOT/image/initramfs.sh" "$@" 2>&1
}

ok "the kernel is there" "$ROOT/image/kernel.sh"
ok "the userland is there" "$ROOT/image/userland.sh"
printf '#!/bin/busybox sh\n' >"$WORK/init"
chmod 755 "$WORK/init"
ok "an image with another init" image "$WORK/init"

# The manifest.
pinned=$(awk '!/^#/ { print $2 }' "$ROOT/image/pins" | sort)
is "every pinned input is in the manifest" "$(jq -r '.inputs[].name' "$m" | sort)" "$pinned"
is "each with version, hash and licence" \
	"$(jq '[.inputs[] | select((.version | length) > 0 and (.sha256 | test("^[0-9a-f]{64}$")) and (.licence | length) > 0)] | length' "$m")" \
	"$(wc -l <<<"$pinned")"
is "the id is the hash of what decides the image" \
	"$(jq -S -c 'del(.image_id, .products, .layers)' "$m" | sha256sum | cut -c1-32)" "$(jq -r .image_id "$m")"
while read -r path bytes sum; do
	is "product $path" "$(stat -c %s "$OUT/$path") $(sha256sum <"$OUT/$path" | cut -d' ' -f1)" "$bytes $sum"
done < <(jq -r '.products[] | "\(.path) \(.bytes) \(.sha256)"' "$m")
is "products" "$(jq -r '.products | length' "$m")" 6
cp "$OUT/initramfs.cpio.zst" "$WORK/first"
ok "again" image "$WORK/init"
ok "the same bytes again" cmp "$WORK/first" "$OUT/initramfs.cpio.zst"
first=$(jq -r .image_id "$m")
echo '# other' >>"$WORK/init"
ok "with another init" image "$WORK/init"
ok "another id" test "$first" != "$(jq -r .image_id "$m")"

# The two archives, one after the other, as the kernel reads them.
mkdir "$WORK/tree"
zstd -q -d -c "$OUT/initramfs.cpio.zst" >"$WORK/cpio"
listing=$(cpio -itv --quiet <"$WORK/cpio" 2>/dev/null)
is "everything belongs to root" "$(awk '{ print $3, $4 }' <<<"$listing" | sort -u)" "root root"
is "nothing may be written by others but what must" \
	"$(awk '$1 ~ /^[^l].......w/ { print $NF }' <<<"$listing" | sort | paste -sd' ')" "dev/null tmp"
is "no time but the epoch's" "$(TZ=UTC cpio -itv --quiet <"$WORK/cpio" 2>/dev/null | grep -cv 'Jan  1  1970')" 0
(cd "$WORK/tree" && cpio -idmu --quiet --no-absolute-filenames --nonmatching 'dev/*' <"$WORK/cpio") 2>/dev/null
release=$(jq -r .kernel.release "$m")
ok "the kernel's modules are there" test -s "$WORK/tree/lib/modules/$release/modules.dep.bin"
have=$(cd "$WORK/tree/lib/modules" && find . -name '*.ko.zst' | sed 's,.*/,,; s/\.ko\.zst$//'
       cat "$ROOT"/image/layers/* | sed -n 's/^module //p')
is "the modules of the manifest are those in image and layers" "$(jq -r '.kernel.modules[]' "$m" | sort)" "$(sort <<<"$have")"
for module in ixgbe i40e ice igb e1000e tg3 bnx2x bnxt_en mlx4_en mlx5_core virtio_net bonding 8021q drbd ahci nvme megaraid_sas \
	mpt3sas hpsa smartpqi aacraid virtio_blk virtio_scsi iTCO_wdt i6300esb ipmi_watchdog ipmi_si ramoops efi-pstore \
	coretemp k10temp acpi-cpufreq null_blk scsi_debug dm-mod dm-crypt loop ext4 xfs; do
	ok "has $module" grep -qxF "$module" <(jq -r '.kernel.modules[]' "$m")
done
for program in busybox drbdsetup drbdsetup-84 drbdmeta; do
	ok "$program is static" not grep -q INTERP <(readelf -lW "$(find "$WORK/tree/bin" "$WORK/tree/sbin" -name "$program" -type f)")
done
ok "no path of this machine in it" not grep -qaF "$CACHE" "$WORK/cpio"

# Sizes: the budgets of the design.
ok "kernel within 4.5 MB" test "$(stat -c %s "$OUT/vmlinuz")" -le 4500000
"$ROOT/image/initramfs.sh" "$ROOT/out/init" >/dev/null 2>&1
is "the image with the real init" "$(jq -r .init.sha256 "$m")" "$(sha256sum <"$ROOT/out/init" | cut -d' ' -f1)"
ok "initramfs within 6 MB" test "$(stat -c %s "$OUT/initramfs.cpio.zst")" -le 6000000

# Out-of-tree modules.
cp -r "$ROOT/tests/image/hello" "$WORK/hello"
ok "with an out-of-tree module" env MODULES="$WORK/hello" "$ROOT/image/initramfs.sh" "$WORK/init"
is "the manifest lists it" "$(jq -c '.extra_modules | map([.module, .folder, (.sha256 | length)])' "$m")" \
	'[["assay_hello.ko","hello",64]]'
ok "and among the modules" grep -qxF assay_hello <(jq -r '.kernel.modules[]' "$m")
ok "another id than without" test "$first" != "$(jq -r .image_id "$m")"
ok "nothing was left in its folder" diff -r "$ROOT/tests/image/hello" "$WORK/hello"
zstd -q -d -c "$OUT/initramfs.cpio.zst" | (cd "$WORK/tree" && cpio -idmu --quiet --no-absolute-filenames \
	"lib/modules/$release/*") 2>/dev/null
like "modprobe finds it and what it needs" \
	"$(PATH=$PATH:/sbin modprobe -d "$WORK/tree" -S "$release" -D assay_hello 2>&1 | sed 's,.*/,,; s/ *$//' | paste -sd' ')" \
	'libcrc32c.ko.zst assay_hello.ko.zst$'
mkdir "$WORK/empty"
like "a folder that is no module" "$(MODULES=$WORK/empty image "$WORK/init")" 'MODULES: .*/empty: no such folder, or neither'
cp -r "$WORK/hello" "$WORK/broken"
sed -i 's/crc32c(0/no_such_function(0/' "$WORK/broken/assay_hello.c"
said=$(MODULES=$WORK/broken image "$WORK/init")
like "one that does not compile: the end of the log" "$said" 'no_such_function'
like "and where the log is" "$said" "failed after .*; the end of $OUT/log/initramfs-base.log"
mkdir -p "$WORK/firmware/vendor"
echo blob >"$WORK/firmware/vendor/nic.fw"
ok "with firmware" env FIRMWARE="$WORK/firmware" "$ROOT/image/initramfs.sh" "$WORK/init"
is "the manifest lists it" "$(jq -c '.firmware | map(.path)' "$m")" '["vendor/nic.fw"]'
done_testing
