# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
exec unshare --net perl "$(dirname "$0")/forged.pl"
