# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# make check-faults has N and SEED; make check does with fewer, always the same ones.
exec perl "$(dirname "$0")/sim.pl" "${N:-45}" "${SEED:-1}"
