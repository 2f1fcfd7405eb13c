#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: npm.sh FOLDER
# Installs what FOLDER's package-lock.json pins into the cache, once, and prints the folder that has node_modules.
set -euo pipefail
folder=$1
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}
modules=$cache/npm-$(basename "$folder")-$(cat "$folder/package.json" "$folder/package-lock.json" | sha256sum | cut -c1-16)

mkdir -p "$cache"
exec 9>"$cache/.lock-npm"
flock -w 600 9
if [ ! -e "$modules/complete" ]; then
	rm -rf "$modules"
	mkdir -p "$modules"
	cp "$folder/package.json" "$folder/package-lock.json" "$folder/.npmrc" "$modules"
	if ! (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund) >"$modules/log" 2>&1; then
		cat "$modules/log" >&2
		echo "npm could not install what $folder/package-lock.json pins; is the package registry reachable?" >&2
		exit 1
	fi
	touch "$modules/complete"
fi
echo "$modules"
