#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `assay plan` says of every plan and lab file in tests/data, byte by byte. UPDATE=1 writes anew what it says
# now: read the difference before committing it.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/tap.sh
. tests/tap.sh
assay=${OUT:-out}/assay
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# golden FILE WANTED-RC STREAM-WITH-TEXT COMMAND…: the other stream must be empty
golden()
{
	local file=$1 wanted=$2 stream=$3 rc=0
	shift 3
	timeout 20 "$@" >"$work/out" 2>"$work/err" || rc=$?
	[ -z "${UPDATE:-}" ] || cp "$work/$stream" "$file"
	is "$*: exit code" "$rc" "$wanted"
	ok "$*: says what $file has" diff -u "$file" "$work/$stream"
	rm "$work/$stream"
	ok "$*: and nothing else" test ! -s "$work/$([ "$stream" = out ] && echo err || echo out)"
}

for plan in tests/data/plans/good/*.yaml; do
	golden "${plan%.yaml}.out" 0 out "$assay" plan "$plan"
done
for plan in tests/data/plans/bad/*.yaml; do
	golden "${plan%.yaml}.err" 2 err "$assay" plan "$plan"
done
for lab in tests/data/labs/bad/*.yaml; do
	golden "${lab%.yaml}.err" 2 err "$assay" plan tests/data/plans/good/smoke.yaml --lab "$lab"
done
for lab in tests/data/labs/good/*.yaml; do
	ok "$lab is good" "$assay" plan tests/data/plans/good/least.yaml --lab "$lab" --group pair
done
golden tests/data/plans/good/shuffled-unnamed.seed7 0 out "$assay" plan --seed 7 tests/data/plans/good/shuffled-unnamed.yaml
golden tests/data/plans/good/acceptance.published 0 out "$assay" plan --as-published tests/data/plans/good/acceptance.yaml
golden tests/data/plans/good/smoke.json 0 out "$assay" plan --json tests/data/plans/good/smoke.yaml
golden tests/data/factors.out 0 out "$assay" factors
golden tests/data/metrics.out 0 out "$assay" factors --metrics

ok "the smoke plan and its golden copy are the same" diff tests/matrix/smoke.yaml tests/data/plans/good/smoke.yaml
for plan in tests/matrix/*.yaml; do
	name=$(basename "$plan" .yaml)
	golden "tests/data/matrix/$name.out" 0 out "$assay" plan "$plan"
	golden "tests/data/matrix/$name.scaled" 0 out "$assay" plan --scale 1/1000 "$plan"
	! grep -q '^published:' "$plan" ||
		golden "tests/data/matrix/$name.published" 0 out "$assay" plan --as-published "$plan"
	ok "$plan names its seed" grep -q '^# Seed: ' "$plan"
	ok "$plan is in the index" grep -qF "($name.yaml)" tests/matrix/README.md
done
order() { sed -n '/^Order/,/^Boots/p' "$1" | grep block; }
is "a seed given is a seed in the plan" "$(order tests/data/plans/good/shuffled-unnamed.seed7)" \
    "$(order tests/data/plans/good/shuffled.out)"
done_testing
