# SPDX-License-Identifier: GPL-2.0-or-later
# A Debian archive of this test's own, in files: one binary and one source package, no network.
# shellcheck shell=bash
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
dist=$WORK/repo/dists/$codename

# deb VERSION CONTENT: a package "widget".
deb() {
	local d=$WORK/deb
	rm -rf "$d"
	mkdir -p "$d/DEBIAN" "$d/usr/share/widget" "$WORK/repo/pool"
	echo "$2" >"$d/usr/share/widget/content"
	printf '%s\n' 'Package: widget' "Version: $1" 'Architecture: all' 'Maintainer: nobody <nobody@localhost>' \
		'Description: for tests' >"$d/DEBIAN/control"
	find "$d" -exec touch -h -d @0 {} +
	SOURCE_DATE_EPOCH=0 dpkg-deb -Znone --root-owner-group -b "$d" "$WORK/repo/pool/widget_$1_all.deb" >/dev/null
}

# source_package VERSION REVISION: of "gadget".
source_package() {
	local tar=gadget_$1.orig.tar.gz dsc=gadget_$1-$2.dsc d=$WORK/repo/pool
	mkdir -p "$WORK/src/gadget-$1" "$d"
	echo "$1" >"$WORK/src/gadget-$1/version"
	[ -e "$d/$tar" ] || tar -C "$WORK/src" --mtime=@0 -czf "$d/$tar" "gadget-$1"
	echo "not read" >"$d/$dsc"
	cat >>"$dist/main/source/Sources" <<-EOF
		Package: gadget
		Binary: gadget
		Version: 1:$1-$2
		Format: 3.0 (quilt)
		Directory: pool
		Files:
		 $(md5sum <"$d/$dsc" | cut -d' ' -f1) $(stat -c %s "$d/$dsc") $dsc
		 $(md5sum <"$d/$tar" | cut -d' ' -f1) $(stat -c %s "$d/$tar") $tar
		Checksums-Sha256:
		 $(sha256sum <"$d/$dsc" | cut -d' ' -f1) $(stat -c %s "$d/$dsc") $dsc
		 $(sha256sum <"$d/$tar" | cut -d' ' -f1) $(stat -c %s "$d/$tar") $tar

	EOF
}

# publish: the indexes of what is in the pool.
publish() {
	local f arch
	arch=$(dpkg --print-architecture)
	mkdir -p "$dist/main/binary-$arch"
	(cd "$WORK/repo" && dpkg-scanpackages -m pool /dev/null 2>/dev/null >"$dist/main/binary-$arch/Packages")
	{
		printf '%s\n' 'Origin: test' "Suite: $codename" "Codename: $codename" "Architectures: $arch all" 'Components: main' \
			"Date: $(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S UTC')" 'SHA256:'
		for f in "main/binary-$arch/Packages" main/source/Sources; do
			echo " $(sha256sum <"$dist/$f" | cut -d' ' -f1) $(stat -c %s "$dist/$f") $f"
		done
	} >"$dist/Release"
}

empty_archive() {
	rm -rf "$WORK/repo"
	mkdir -p "$dist/main/source"
	: >"$dist/main/source/Sources"
}

hash_of() {
	sha256sum <"$WORK/repo/pool/$1" | cut -d' ' -f1
}

export ASSAY_APT_ETC=$WORK/etc PINS=$WORK/pins CACHE=$WORK/cache
mkdir -p "$WORK/etc/sources.list.d" "$CACHE"
