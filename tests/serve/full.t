# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
exec unshare --mount perl "$(dirname "$0")/full.pl"
