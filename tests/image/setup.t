#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make setup: nothing to do is quick and silent; without root it prints the one command.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
is "nothing missing, nothing said" "$("$ROOT/image/setup.sh" 2>&1)" ""
printf '%s\n' '# why' 'bash # here' 'no-such-package-at-all' 'also-missing ?sh' >"$WORK/packages"
export PACKAGES=$WORK/packages
chmod 755 "$WORK"
if [ "$(id -u)" = 0 ]; then
	cp "$ROOT/image/setup.sh" "$WORK/"
	said=$(setpriv --reuid=65534 --regid=65534 --clear-groups bash "$WORK/setup.sh" 2>&1)
else
	said=$("$ROOT/image/setup.sh" 2>&1)
fi
like "names what is missing, and only that" "$said" '^Not installed: no-such-package-at-all$'
like "prints the one command" "$said" 'Run:  sudo make run$'
# A compiler that started before the packages were there would fail on a header, and hide what is the matter.
mkdir "$WORK/bin"
printf '#!/bin/sh\nexit 1\n' >"$WORK/bin/apt-get"
chmod 755 "$WORK/bin/apt-get"
for goal in check run lab image nic "$WORK/bare/obj/host/tests/unit/init_cmdline.o"; do
	said=$(PATH=$WORK/bin:$PATH make -C "$ROOT" OUT="$WORK/bare" "$goal" 2>&1)
	like "make ${goal##*/} says that it could not install" "$said" 'could not install'
	is "make ${goal##*/} makes nothing before" "$(find "$WORK/bare" -type f | sed "s|$WORK/bare/||" | sort | tr '\n' ' ')" \
		"log/setup.log "
done
is "every package has its line once" "$(sed 's/#.*//; /^$/d; s/ .*//' "$ROOT/image/packages" | sort | uniq -d)" ""
done_testing
