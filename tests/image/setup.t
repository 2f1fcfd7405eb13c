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
is "every package has its line once" "$(sed 's/#.*//; /^$/d; s/ .*//' "$ROOT/image/packages" | sort | uniq -d)" ""
done_testing
