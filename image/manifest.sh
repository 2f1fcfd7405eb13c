# SPDX-License-Identifier: GPL-2.0-or-later
# manifest.sh: what the image is made of. Sourced by initramfs.sh; expects its variables.
# shellcheck shell=bash disable=SC2154

sum() {
	sha256sum "$1" | cut -d' ' -f1
}

# What decides the image, as canonical JSON: its hash is the image's id. Nothing of the building machine is in it.
manifest_body() {
	inputs | jq -R -s 'split("\n") | map(select(. != "") | split(" ")
		| {kind: .[0], name: .[1], version: .[2], sha256: .[3], licence: .[4]}
		  + (if .[5] == "pinned" then {} else {replaces: (.[5] | ltrimstr("replaces:"))} end))' >"$OUT/.m.inputs"
	jq -R -s --rawfile sums "$OUT/.modules-sums" 'split("\n") | map(select(. != "") | split(" "))
		| map(.[1] as $folder | {module: .[0], folder: $folder,
		  sha256: ($sums | split("\n")[] | split(" ") | select(.[0] == $folder) | .[1])})' \
		"$base/extra" >"$OUT/.m.extra"
	jq -R -s 'split("\n") | map(select(. != "") | {path: .[66:], sha256: .[:64]})' "$base/firmware" >"$OUT/.m.firmware"
	compilers | jq -R -s 'split("\n") | map(select(. != ""))' >"$OUT/.m.compilers"
	jq -S -c -n --slurpfile inputs "$OUT/.m.inputs" --slurpfile extra "$OUT/.m.extra" \
		--slurpfile firmware "$OUT/.m.firmware" --slurpfile compilers "$OUT/.m.compilers" \
		--rawfile modules "$base/modules" --arg release "$release" \
		--arg vmlinuz "$(sum "$kernel/vmlinuz")" --arg config "$(sum "$kernel/config")" \
		--arg base "$(sum "$base/base.cpio.zst")" --arg init "$(sum "$init")" \
		'{schema_version: 1, kernel: {release: $release, config_sha256: $config, sha256: $vmlinuz,
		  modules: ($modules | split("\n") | map(select(. != "")))},
		  init: {sha256: $init}, base: {sha256: $base},
		  inputs: $inputs[0], compilers: $compilers[0], extra_modules: $extra[0], firmware: $firmware[0]}'
	rm -f "$OUT"/.m.*
}

write_manifest() {
	local product
	for product in vmlinuz initramfs.cpio.zst ipxe/undionly.kpxe ipxe/ipxe.efi ipxe/snponly.efi \
		ipxe/chain.ipxe; do
		jq -n --arg path "$product" --argjson bytes "$(stat -c %s "$OUT/$product")" --arg sha256 "$(sum "$OUT/$product")" \
			'{path: $path, bytes: $bytes, sha256: $sha256}'
	done | jq -S -s --slurpfile body "$OUT/.manifest.body" --arg id "$(<"$OUT/.image-id")" \
		'$body[0] + {image_id: $id, products: .}' >"$OUT/manifest.json.new"
	mv "$OUT/manifest.json.new" "$OUT/manifest.json"
}

# The boot loaders that dnsmasq hands out, from Debian's package, and the script for those who have a DHCP of their own.
extract_ipxe() {
	mkdir -p "$OUT/ipxe"
	dpkg-deb --fsys-tarfile "$(input_file ipxe)" | tar -x -C "$OUT/ipxe" --transform 's,.*/,,' --no-same-owner \
		./usr/lib/ipxe/undionly.kpxe ./boot/ipxe.efi ./usr/lib/ipxe/snponly.efi
	cp "$here/chain.ipxe" "$OUT/ipxe/chain.ipxe"
}
