# SPDX-License-Identifier: GPL-2.0-or-later
# For tests/image/*.t: TAP helpers, a scratch folder, and an out/ of its own with the cached builds.
# shellcheck shell=bash disable=SC2034
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${CACHE:-${ASSAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}}
mkdir -p "$CACHE"
CACHE=$(readlink -f "$CACHE")
WORK=$(mktemp -d "${TMPDIR:-/tmp}/assay-image.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
OUT=$WORK/out
mkdir -p "$OUT"
export CACHE OUT

# not COMMAND…: succeeds if it fails
not() {
	! "$@"
}
