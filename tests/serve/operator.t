# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
exec perl "$(dirname "$0")/operator.pl"
