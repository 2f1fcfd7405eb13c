#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every factor is proven by a boot test to be in force (tests/boot/proven), or is refused there for a reason that is given.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
listed=$(sed 's/#.*//; /^ *$/d' tests/boot/proven)
known=$(out/assay factors --json | jq -r '.[].name' | sort)
is 'each factor has its line' "$(comm -23 <(echo "$known") <(awk '{ print $1 }' <<<"$listed" | sort))" ''
is 'each line has its factor, once' "$(comm -13 <(echo "$known") <(awk '{ print $1 }' <<<"$listed" | sort))" ''
ok 'there are factors' test "$(wc -l <<<"$known")" -gt 90
is 'a line is factor, test, and "unit", "own", "refused" with a unit test, or nothing' \
	"$(awk '!(NF == 2 || (NF == 3 && $3 ~ /^(unit|own)$/) || (NF == 4 && $3 == "refused"))' <<<"$listed")" ''
is 'what no boot test proves has a reason' "$(grep -E ' (refused|unit|own)( |$)' tests/boot/proven | grep -Ev '^#| (refused [a-z_]+|unit|own) # .')" ''
while read -r factor test; do
	ok "$factor: tests/unit/$test.c reads its levels back" grep -q "$factor" "tests/unit/$test.c"
done < <(awk '$3 == "unit" { print $1, $2 } $3 == "refused" { print $1, $4 }' <<<"$listed")
while read -r factor test; do
	ok "$factor: tests/boot/$test.yaml asks for a level" grep -qE "(^|[ {,-])$factor:" "tests/boot/$test.yaml"
done < <(awk '$3 == "own" { print $1, $2 }' <<<"$listed")
while read -r test; do
	ok "$test.t asks for its proofs" grep -qx "factors_proven $test" "tests/boot/$test.t"
done < <(awk '$3 != "unit" && $3 != "own" { print $2 }' <<<"$listed" | sort -u)
done_testing
