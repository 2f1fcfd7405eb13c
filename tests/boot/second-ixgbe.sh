#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# second-ixgbe.sh DIR VERSION: the kernel's own ixgbe once more, as the folder of an out-of-tree module that says it is
# VERSION: what a vendor's driver is to an operator.
set -euo pipefail
OUT=$(realpath "${OUT:-out}")
CACHE=$(realpath "${CACHE:-${ASSAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay}}")
export OUT CACHE
# shellcheck source=image/lib.sh
. "$(dirname "$0")/../../image/lib.sh"
linux_source
# shellcheck disable=SC2154
source=$linux/drivers/net/ethernet/intel/ixgbe
rm -rf "$1"
mkdir -p "$1"
cp "$source"/*.[ch] "$source/Makefile" "$1/"
printf 'MODULE_VERSION("%s");\n' "$2" >>"$1/ixgbe_main.c"
