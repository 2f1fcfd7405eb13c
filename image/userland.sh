#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# userland.sh [DIR]: builds the static musl sysroot (headers, libkmod, libzstd, libaio, jansson, mbedTLS, libcurl, libblkid)
# and the tools of the image (busybox, drbdsetup for 8.4 and 9, drbdmeta) in the cache, under the hash of all that goes in, and
# points OUT/sysroot at it. With DIR, builds afresh there instead: for the reproducibility check.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"

parts=(musl-dev linux-source-6.1 busybox drbd-utils kmod libzstd libaio jansson mbedtls curl util-linux)
recipes=(musl headers libaio jansson zstd kmod mbedtls curl blkid busybox drbd_utils)
cflags='-O2 -g0 -fno-ident'

# source NAME: unpacks an input into the work folder, goes there.
source_of() {
	local file
	file=$(input_file "$1")
	rm -rf "${work:?}/$1"
	mkdir "$work/$1"
	tar -xf "$file" -C "$work/$1" --strip-components=1
	cd "$work/$1"
}

# archive LIB OBJECT...: a static library whose bytes depend on its members alone.
archive() {
	rm -f "$root/lib/$1"
	ar rcsD "$root/lib/$1" "${@:2}"
}

# compile SOURCE...: to objects of the same names here, with the caller's flags in $flags.
compile() {
	local c
	for c; do
		# shellcheck disable=SC2086
		"$cc" $cflags $flags -ffile-prefix-map="$PWD=." -c -o "$(basename "$c" .c).o" "$c"
	done
}

build_musl() {
	mkdir -p "$root/bin" "$root/lib" "$work/musl"
	dpkg-deb -x "$(input_file musl-dev)" "$work/musl"
	cp -a "$work/musl/usr/include/x86_64-linux-musl" "$root/include"
	cp -a "$work"/musl/usr/lib/x86_64-linux-musl/{*.a,*.o} "$root/lib/"
	cp "$here/musl.specs" "$root/lib/"
	cp "$here/musl-cc" "$root/bin/"
}

# The kernel's own uapi headers: what init asks of the kernel is what this kernel answers.
build_headers() {
	make -s -C "$linux" O="$work/headers" ARCH=x86_64 headers_install INSTALL_HDR_PATH="$work/uapi"
	find "$work/uapi" -name '.*' -type f -delete
	cp -a "$work"/uapi/include/{asm,asm-generic,drm,linux,misc,mtd,rdma,scsi,sound,video,xen} "$root/include/" 2>/dev/null ||
		cp -a "$work"/uapi/include/{asm,asm-generic,linux,mtd} "$root/include/"
	# musl's own scsi/*.h are what user programs expect.
	cp -a "$work"/musl/usr/include/x86_64-linux-musl/scsi "$root/include/"
}

build_libaio() {
	source_of libaio
	flags='-Isrc -fomit-frame-pointer'
	compile src/{io_queue_init,io_queue_release,io_queue_wait,io_queue_run,io_getevents,io_submit,io_cancel}.c \
		src/{io_setup,io_destroy,io_pgetevents,raw_syscall,compat-0_1}.c
	archive libaio.a ./*.o
	cp src/libaio.h "$root/include/"
}

build_jansson() {
	source_of jansson
	sed 's/@json_inline@/inline/; s/@json_have_sync_builtins@/1/; s/@json_have_[a-z_]*@/1/' \
		src/jansson_config.h.in >src/jansson_config.h
	cat >src/jansson_private_config.h <<-EOF
		#define HAVE_ENDIAN_H 1
		#define HAVE_FCNTL_H 1
		#define HAVE_SCHED_H 1
		#define HAVE_UNISTD_H 1
		#define HAVE_SYS_PARAM_H 1
		#define HAVE_SYS_STAT_H 1
		#define HAVE_SYS_TIME_H 1
		#define HAVE_SYS_TYPES_H 1
		#define HAVE_STDINT_H 1
		#define HAVE_CLOSE 1
		#define HAVE_GETPID 1
		#define HAVE_GETTIMEOFDAY 1
		#define HAVE_OPEN 1
		#define HAVE_READ 1
		#define HAVE_SCHED_YIELD 1
		#define HAVE_SYNC_BUILTINS 1
		#define HAVE_ATOMIC_BUILTINS 1
		#define HAVE_LOCALE_H 1
		#define HAVE_SETLOCALE 1
		#define USE_URANDOM 1
		#define INITIAL_HASHTABLE_ORDER 3
	EOF
	flags='-Isrc -DHAVE_CONFIG_H -Dsecure_getenv=getenv'
	compile src/*.c
	archive libjansson.a ./*.o
	cp src/jansson.h src/jansson_config.h "$root/include/"
}

# The decompressor only: modules are stored as .ko.zst (see initramfs.sh).
build_zstd() {
	source_of libzstd
	flags='-Ilib -Ilib/common -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0'
	compile lib/common/*.c lib/decompress/*.c
	archive libzstd.a ./*.o
	cp lib/zstd.h lib/zstd_errors.h "$root/include/"
}

build_kmod() {
	source_of kmod
	cat >config.h <<-EOF
		#define PACKAGE "kmod"
		#define VERSION "$(sed -n 's/^\t\[\([0-9]*\)\],$/\1/p' configure.ac | head -n 1)"
		#define SYSCONFDIR "/etc"
		#define DISTCONFDIR "/lib"
		#define ROOTPREFIX ""
		#define KMOD_FEATURES "+ZSTD -XZ -ZLIB -LIBCRYPTO"
		#define ENABLE_ZSTD 1
		#define ENABLE_LOGGING 1
		#define HAVE_STRUCT_STAT_ST_MTIM 1
		#define HAVE_DECL_STRNDUPA 1
		#define HAVE_DECL_BE32TOH 1
		#define HAVE_LINUX_MODULE_H 1
		#define HAVE_NOINLINE 1
		#define secure_getenv getenv
	EOF
	# musl's basename() is libgen.h's; libkmod uses the one that leaves its argument alone.
	cat >compat.h <<-'EOF'
		#include <string.h>
		#define strndupa(s, n) ({ const char *s_ = (s); size_t n_ = strnlen(s_, (n)); \
			char *d_ = __builtin_alloca(n_ + 1); memcpy(d_, s_, n_); d_[n_] = 0; d_; })
		#define basename(p) ({ const char *p_ = (p), *b_ = strrchr(p_, '/'); (char *)(b_ ? b_ + 1 : p_); })
	EOF
	flags='-I. -include config.h -include compat.h -D_GNU_SOURCE -std=gnu11'
	compile libkmod/libkmod{,-builtin,-list,-config,-index,-module,-file,-elf,-signature}.c \
		shared/{array,hash,scratchbuf,strbuf,util}.c
	archive libkmod.a ./*.o
	cp libkmod/libkmod.h "$root/include/"
}

build_mbedtls() {
	source_of mbedtls
	make -j"$jobs" -C library static CC="$cc" AR=ar ARFLAGS=rcsD WARNING_CFLAGS= \
		CFLAGS="-Os -g0 -fno-ident -ffile-prefix-map=$PWD=."
	cp library/libmbed{tls,x509,crypto}.a "$root/lib/"
	cp -a include/mbedtls include/psa "$root/include/"
}

# HTTP and HTTPS, nothing else: no other protocol, no proxy, cookie, cache, or compression, no threads.
build_curl() {
	source_of curl
	./configure --quiet --host=x86_64-linux-musl --build=x86_64-linux-gnu --prefix=/ \
		CC="$cc" AR=ar ARFLAGS=rcsD CFLAGS="-Os -g0 -fno-ident -ffile-prefix-map=$PWD=." \
		PKG_CONFIG=false --disable-shared --enable-static --with-mbedtls="$root" \
		--without-{zlib,brotli,zstd,libpsl,libidn2,nghttp2,libssh2,librtmp,ca-bundle,ca-path,libgsasl} \
		--disable-{ftp,file,ldap,ldaps,rtsp,proxy,dict,telnet,tftp,pop3,imap,smb,smtp,gopher,mqtt,manual} \
		--disable-{threaded-resolver,pthreads,verbose,ntlm,ntlm-wb,tls-srp,unix-sockets,cookies,doh,netrc} \
		--disable-{progress-meter,dnsshuffle,alt-svc,hsts,websockets,ares,libcurl-option,dateparse,mime} \
		--disable-{dependency-tracking,ech,http-auth,crypto-auth,socketpair}
	make -s -j"$jobs" -C lib
	cp lib/.libs/libcurl.a "$root/lib/"
	mkdir -p "$root/include/curl"
	cp include/curl/*.h "$root/include/curl/"
}

build_blkid() {
	source_of util-linux
	./configure --quiet --host=x86_64-linux-musl --build=x86_64-linux-gnu \
		CC="$cc" AR=ar ARFLAGS=rcsD CFLAGS="-Os -g0 -fno-ident -ffunction-sections -fdata-sections -ffile-prefix-map=$PWD=." \
		PKG_CONFIG=false --disable-{all-programs,shared,nls,dependency-tracking} --enable-{static,libblkid} \
		--without-{python,systemd,udev,ncurses,ncursesw,tinfo,readline,btrfs,cap-ng,libz,libmagic,user,econf} \
		--without-{selinux,audit,util,slang,cryptsetup}
	make -s -j"$jobs" libblkid.la
	cp .libs/libblkid.a "$root/lib/"
	mkdir -p "$root/include/blkid"
	cp libblkid/src/blkid.h "$root/include/blkid/"
}

# bounded_oldconfig: busybox's oldconfig with our fragment, defaults for the rest. It asks, and asks again for ever
# when it does not like an answer: hence the bound.
bounded_oldconfig() {
	awk -F= '/^CONFIG_/ { sub(/^# /, "", $1); print $1 }' "$here/busybox.config" >.named
	grep -vwFf .named .config >.config.new || true
	sed -n 's/^\(CONFIG_[A-Z0-9_]*\)=n$/# \1 is not set/p; /^CONFIG_.*=[^n]/p' "$here/busybox.config" >>.config.new
	mv .config.new .config
	timeout 60 make -s oldconfig >/dev/null < <(yes '' | head -n 5000)
}

build_busybox() {
	source_of busybox
	make -s allnoconfig >/dev/null
	bounded_oldconfig
	# What that brought in by default, unasked, goes off again; only then are symbols off that nobody named.
	awk -F= 'NR == FNR { if (/^CONFIG_/) named[$1] = 1; next }
		 /^CONFIG_[A-Z0-9_]*=y$/ && !($1 in named) { print "# " $1 " is not set"; next } { print }' \
		"$here/busybox.config" .config >.config.new
	mv .config.new .config
	bounded_oldconfig
	"$here/../kconfig/check.sh" .config "$here/busybox.config"
	make -j"$jobs" CC="$cc" AR='ar' HOSTCC=gcc SKIP_STRIP=y CONFIG_EXTRA_CFLAGS="$cflags -ffile-prefix-map=$PWD=." busybox
	install_tool busybox bin/busybox
	# The applets' own list, for the links of the initramfs.
	./busybox --list | sort >"$root/tools/busybox.links"
}

build_drbd_utils() {
	source_of drbd-utils
	export WANT_DRBD_REPRODUCIBLE_BUILD=1 # its build tag would hold the time, user and host
	./configure --quiet CC="$cc" CFLAGS="$cflags -ffile-prefix-map=$PWD=." \
		--prefix=/usr --sysconfdir=/etc --localstatedir=/var \
		--without-{83support,manual,udev,drbdmon,xen,pacemaker,rgmanager,bashcompletion,heartbeat} \
		--with-84support --with-initscripttype=none
	make -s -C user/shared
	make -s -j"$jobs" -C user/v84 drbdsetup-84
	make -s -j"$jobs" -C user/v9 drbdsetup drbdmeta
	install_tool user/v84/drbdsetup-84 sbin/drbdsetup-84
	install_tool user/v9/drbdsetup sbin/drbdsetup
	install_tool user/v9/drbdmeta sbin/drbdmeta
}

# install_tool FILE PATH: stripped into the tools of the image.
install_tool() {
	mkdir -p "$(dirname "$root/tools/$2")"
	strip -s -R .comment -o "$root/tools/$2" "$1"
	chmod 755 "$root/tools/$2"
}

build_all() { # build_all DIR
	local recipe
	root=$1
	work=$1.work
	cc=$root/bin/musl-cc
	rm -rf "$root" "$work"
	mkdir -p "$root" "$work"
	for recipe in "${recipes[@]}"; do
		step "userland: $recipe" "userland-$recipe" "build_$recipe"
	done
	rm -rf "$work"
}

inputs "${parts[@]}" >"$OUT/.userland-inputs"
linux_source
if [ $# = 1 ]; then
	build_all "$(readlink -f "$1")"
	exit
fi
# declare -f: the recipes as the shell understands them, so that a comment's change rebuilds nothing.
hash=$( (cat "$OUT/.userland-inputs" "$here"/{reproducible.env,busybox.config,musl-cc,musl.specs}
	 declare -f archive compile install_tool bounded_oldconfig "${recipes[@]/#/build_}"
	 echo "$cflags"; compilers) | key)
dir=$CACHE/userland-$hash
if ! [ -d "$dir" ]; then
	locked "userland-$hash"
	if ! [ -d "$dir" ]; then
		build_all "$dir.part"
		[ -d "$dir" ] || mv "$dir.part" "$dir"
	fi
fi
# The stamp's time is what make sees: it changes only when the build does.
[ "$(readlink "$OUT/sysroot")" = "$dir" ] || ln -sfn "$dir" "$OUT/sysroot"
[ "$(cat "$OUT/sysroot.stamp" 2>/dev/null)" = "$hash" ] || echo "$hash" >"$OUT/sysroot.stamp"
