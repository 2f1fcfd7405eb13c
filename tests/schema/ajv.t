#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The schemas and their examples as ajv sees them; tests/unit/schema_examples.c asks our own checker the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! modules=$(image/npm.sh tests/schema); then
	echo "Bail out! npm could not install ajv"
	exit 1
fi
exec node tests/schema/check.mjs "$modules"
