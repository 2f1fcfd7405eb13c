#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every factor is proven by a boot test to be in force (tests/boot/proven), or is refused there for a reason that is given.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
listed=$(sed 's/#.*//; /^ *$/d' tests/boot/proven)
is 'each factor has its line, and each line its factor' "$(awk '{ print $1 }' <<<"$listed" | sort)" "$(out/assay factors --json | jq -r '.[].name' | sort)"
is 'a line is factor, test, and "refused" or nothing' "$(awk 'NF < 2 || NF > 3 || (NF == 3 && $3 != "refused")' <<<"$listed")" ''
is 'what is refused has a reason' "$(grep ' refused' tests/boot/proven | grep -v ' refused # .')" ''
for test in $(awk '{ print $2 }' <<<"$listed" | sort -u); do
	ok "$test.t asks for its proofs" grep -qx "factors_proven $test" "tests/boot/$test.t"
done
done_testing
