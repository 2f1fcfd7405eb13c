#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The schemas and their examples as ajv sees them; tests/unit/schema_examples.c asks our own checker the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}
modules=$cache/npm-schema-$(cat tests/schema/package.json tests/schema/package-lock.json | sha256sum | cut -c1-16)

if [ ! -e "$modules/complete" ]; then
	rm -rf "$modules"
	mkdir -p "$modules"
	cp tests/schema/package.json tests/schema/package-lock.json tests/schema/.npmrc "$modules"
	if ! (cd "$modules" && npm ci --ignore-scripts --no-audit --no-fund) >"$modules/log" 2>&1; then
		sed 's/^/# /' "$modules/log" >&2
		echo "Bail out! npm could not install ajv"
		exit 1
	fi
	touch "$modules/complete"
fi
exec node tests/schema/check.mjs "$modules"
