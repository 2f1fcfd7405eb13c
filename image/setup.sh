#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# setup.sh [STAMP]: installs those of image/packages that are missing. With none missing it is done in 30 ms and asks
# nobody. STAMP is made new when something was installed.
set -euo pipefail

stamp=${1:-}
[ -z "$stamp" ] || [ -e "$stamp" ] || { mkdir -p "$(dirname "$stamp")" && : >"$stamp"; }

here=$(dirname "$(readlink -f "$0")")
command -v dpkg-query >/dev/null || {
	echo "image/setup.sh: this is no Debian; install the equivalents of image/packages and set SETUP=skip" >&2
	[ "${SETUP:-}" = skip ]
	exit
}
[ "${SETUP:-}" != skip ] || exit 0

wanted=()
while read -r package unless; do
	[ -z "$unless" ] || ! command -v "${unless#\?}" >/dev/null || continue
	wanted+=("$package")
done < <(sed 's/#.*//; /^[[:space:]]*$/d' "${PACKAGES:-$here/packages}")
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
	sed -n 's/^installed //p' || true)
missing=()
for p in "${wanted[@]}"; do
	grep -qxF "$p" <<<"$installed" || missing+=("$p")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "Not installed: ${missing[*]}" >&2
	echo "Installing needs root. Run:  sudo make run" >&2
	exit 1
fi
echo "installing: ${missing[*]}" >&2
mkdir -p "$OUT/log" "$CACHE"
log=$OUT/log/setup.log
exec 9>"$CACHE/.lock-setup"
flock -w 1800 9
install() {
	DEBIAN_FRONTEND=noninteractive apt-get -y -o DPkg::Lock::Timeout=300 \
		install --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null
}
# The lists may be there and fresh; only when they are not are they fetched.
if ! install; then
	apt-get update >>"$log" 2>&1 || true
	install || {
		echo "apt-get could not install them; the end of $log:" >&2
		tail -n 20 "$log" >&2
		exit 1
	}
fi
[ -z "$stamp" ] || touch "$stamp"
