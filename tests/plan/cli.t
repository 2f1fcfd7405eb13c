#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line: help of everything, exit codes, nearest names, the man page.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/tap.sh
. tests/tap.sh
assay=${OUT:-out}/assay
plan=tests/data/plans/good/least.yaml
commands=$("$assay" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')

# says RC PATTERN ARGUMENT…: exit code, and a line of stdout or stderr
says()
{
	local wanted=$1 pattern=$2 text rc=0
	shift 2
	text=$(timeout 20 "$assay" "$@" 2>&1) || rc=$?
	is "assay $*: exit code" "$rc" "$wanted"
	like "assay $*: says" "$text" "$pattern"
}

is "the commands" "$(echo "$commands" | tr '\n' ' ')" "plan run serve status report compare import export pack verify observers factors "
for command in $commands; do
	says 0 "^usage: assay $command" "$command" --help
	says 0 "^usage: assay $command" "$command" -h
	says 0 "^usage: assay $command" help "$command"
	says 2 "unknown.* --colour" "$command" --colour
	manual=$(awk -v c="$command" '/^\.S[sh]/ {on = $2 == "assay" && $3 == c} on' man/assay.1)
	like "the man page has $command" "$manual" "^\.Ss assay $command"
	while read -r option; do
		like "the man page has $command $option" "$manual" "Fl Fl ${option#--}( |\$)"
	done < <("$assay" "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | grep -vx -e --help)
done
says 0 '^assay [0-9.]+$' --version
says 0 '^usage: assay COMMAND' help
says 2 '^usage: assay COMMAND'
says 2 'there is no command "pln"; the nearest is "plan"' pln
says 2 'there is no command "servr"; the nearest is "serve"' help servr
says 2 'which plan\?' plan
says 2 'one plan at a time' plan "$plan" "$plan"
says 2 'the nearest is --seed' plan "$plan" --sead 3
says 2 '--json takes no value' plan "$plan" --json=3
says 2 '--seed needs a value' plan "$plan" --seed
says 2 '--seed takes a whole number' plan "$plan" --seed x
says 2 '--seed takes a whole number' plan "$plan" --seed -1
says 2 '--seed takes a whole number' plan "$plan" --seed 18446744073709551616
says 2 '--scale takes a fraction such as 1/1000, not "0.1"' plan "$plan" --scale 0.1
says 2 '--scale takes a fraction such as 1/1000, not "3/2"' plan "$plan" --scale 3/2
says 2 '--scale takes a fraction such as 1/1000, not "1/0"' plan "$plan" --scale 1/0
says 0 'SCALED: sizes are 1/2 of' plan "$plan" --scale 1/2
says 2 '--mb-per-s must be at least 1' plan "$plan" --mb-per-s 0
says 2 '--group needs --lab' plan "$plan" --group pair
says 2 'No such file or directory' plan tests/data/plans/none.yaml
says 2 'Is a directory' plan tests/data/plans
says 2 'No such file or directory' plan "$plan" --lab tests/data/labs/none.yaml
says 0 'drbd connected 4MiB' plan tests/matrix/smoke.yaml --lab lab/example-lab.yaml # the one that README says to copy
says 2 'the lab has several groups; say which with --group: pair single' plan "$plan" --lab tests/data/labs/good/two-groups.yaml
says 2 'the lab has no group "x"; it has: pair single' plan "$plan" --lab tests/data/labs/good/two-groups.yaml --group x
says 2 'group single has 1 nodes, the plan needs 2' plan tests/matrix/smoke.yaml --lab tests/data/labs/good/two-groups.yaml --group single
says 2 'node b has 1 storage NICs, the plan needs 2' plan tests/matrix/smoke.yaml --lab tests/data/labs/good/two-groups.yaml --group pair
says 2 'node c: its disk has no consent' plan "$plan" --lab tests/data/labs/good/two-groups.yaml --group single
says 2 'node c: its disk may be as small as min_bytes' plan "$plan" --lab tests/data/labs/good/two-groups.yaml --group single
says 0 'assumes 100 MB/s, 10 s a boot' plan "$plan" --mb-per-s 100 --boot-s 10
says 0 '^bond.mode$' factors bond.mode
says 2 'unknown factor "mtu"; the nearest is "nic.mtu"' factors mtu
says 0 '"unit": "bytes"' factors --json nic.mtu
says 2 'one of --text, --csv, --json, --html' report --csv --html x.html
says 2 '--columns and --value go with --rows' report --columns stack
says 2 'one run, please' report a b
says 3 'no database of assay there' report --db tests/data/none.db
rc=0
"$assay" plan "$plan" >/dev/full 2>/dev/null || rc=$?
is "a full disk under stdout is a system error" "$rc" 3
ok "the man page is clean" mandoc -T lint -W warning man/assay.1
done_testing
