#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every format of `assay export`: byte for byte what tests/data/export has (UPDATE=1 writes that anew: read the difference before committing it), and read back
# by programs that are not ours: junitparser and xmllint, fio's own plot tools, ajv with OCP's published schemas.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/tap.sh
. tests/tap.sh
assay=${OUT:-out}/assay
golden=tests/data/export
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Debian's own interpreter has Debian's modules.
python=/usr/bin/python3
schemas=${ASSAY_OCP_SCHEMAS:-../shared/ocp-diag-json-spec}
modules=$(image/npm.sh tests/schema) || { echo "Bail out! npm could not install ajv"; exit 1; }

tests/export/run.pl "$dir/db"
export_to()
{
	"$assay" export --db "$dir/db" "$1" --to "$2"
}

for format in csv jsonl junit fio; do
	ok "$format: it is written" export_to $format "$dir/run.$format"
	is "$format: stdout has the same" "$("$assay" export --db "$dir/db" $format golden-1 | sha256sum)" "$(sha256sum <"$dir/run.$format")"
done
ok "ocp: a folder" export_to ocp "$dir/ocp"
ok "fio-logs: a folder" export_to fio-logs "$dir/logs"
if [ -n "${UPDATE:-}" ]; then
	rm -rf "$golden"
	mkdir -p "$golden/ocp"
	cp "$dir"/run.* "$golden"
	cp -r "$dir"/ocp/*.jsonl "$golden/ocp"
	cp -r "$dir/logs" "$golden"
fi
for file in run.csv run.jsonl run.junit run.fio ocp/campaign.jsonl ocp/boot-1.jsonl ocp/boot-2.jsonl ocp/boot-3.jsonl; do
	ok "$file: as it was" diff -u "$golden/$file" "$dir/$file"
done
ok "fio's logs: as they were" diff -r "$golden/logs" "$dir/logs"

# JUnit
ok "junit: XML" xmllint --noout "$dir/run.junit"
is "junit: what junitparser counts" "$($python - "$dir/run.junit" <<'P'
import sys, junitparser
xml = junitparser.JUnitXml.fromfile(sys.argv[1])
xml_counts = (xml.tests, xml.failures, xml.errors)
suite = next(iter(xml))
kinds = [type(r).__name__ for case in suite for r in (case.result or [])]
print(*xml_counts, suite.skipped, len(list(suite)), *(kinds.count(k) for k in ("Failure", "Error", "Skipped")))
print(next(c.name for c in suite if c.classname == "measured"))
P
)" "8 1 4 1 8 1 4 1
cell 1: drbd <max-buffers=\"8000\"> & it's ä
\\copy"

# JSON lines
ok "report --json" sh -c "'$assay' report --json --db '$dir/db' >'$dir/report.json'; test \$? -eq 4"
ok "jsonl: holds what the report holds" node tests/export/jsonl.mjs "$dir/run.jsonl" "$dir/report.json"

# fio
mkdir "$dir/csv"
ok "fio: fio_jsonplus_clat2csv reads it" timeout 60 $python "$(command -v fio_jsonplus_clat2csv)" "$dir/run.fio" "$dir/csv/run.csv"
is "fio: and validates what it wrote" "$(timeout 60 $python "$(command -v fio_jsonplus_clat2csv)" "$dir/run.fio" "$dir/csv/run.csv" --validate | grep -c validated)" 4
is "fio: longer than fio counts is in its last bin" "$(tail -n 1 "$dir/csv/run_job0.csv" | cut -d, -f 1,5,6)" "17112760320, 3, 999"
for figure in bw iops; do
	like "fio: fio2gnuplot reads $figure" "$(cd "$dir/logs" && timeout 60 $python "$(command -v fio2gnuplot)" --"$([ $figure = bw ] && echo bandwidth || echo iops)" -d "$dir/plot-$figure" -k 2>&1)" '^2 files Selected'
done
is "fio: and averages it" "$(grep -v '^[#D]' "$dir/plot-iops/result.average" | tr '\n' ' ')" "0 399 1 400 "
ok "fio: our own import takes it" "$assay" import --db "$dir/imported.db" --format fio "$dir/run.fio"
is "fio: with the figures that were measured: 999 and 1000 I/Os of 4096 bytes in 2.5 s, 100 written" \
	"$("$assay" report --csv --db "$dir/imported.db" | cut -d, -f 11,14 | sort -u | tr '\n' ' ')" "4091904,399.6 409600,40 4096000,400 bytes,iops "

# OCP
ok "ocp: stdout is one stream after the other" sh -c "'$assay' export ocp --db '$dir/db' >'$dir/all.jsonl'"
like "ocp: judged" "$(node tests/export/ocp.mjs "$modules" "$schemas" "$dir/all.jsonl" "$dir"/ocp/*.jsonl | tee "$dir/ocp.tap")" '^1\.\.'
is "ocp: nothing is amiss" "$(grep -c '^not ok' "$dir/ocp.tap" || :)" 0
is "ocp: streams, campaign first" "$(jq -r 'select(.schemaVersion) | .sequenceNumber' "$dir/all.jsonl" | tr '\n' ' ')" "0 0 0 0 "
is "ocp: ends" "$(jq -r '.testRunArtifact.testRunEnd // empty | "\(.status) \(.result)"' "$dir/all.jsonl" | tr '\n' ';')" \
	"ERROR NOT_APPLICABLE;ERROR NOT_APPLICABLE;COMPLETE PASS;ERROR NOT_APPLICABLE;"
is "ocp: results lie beside it, and are those of the store" "$(for f in "$dir"/ocp/results/*; do jq -r .node "$f"; done | sort | uniq -c | tr -s ' ' | tr '\n' ';')" " 8 n1; 8 n2;"
is "ocp: every file is there" "$(jq -r '.testStepArtifact.file.uri // empty' "$dir"/ocp/boot-*.jsonl | sort | while read -r f; do [ -f "$dir/ocp/$f" ] && echo there; done | sort | uniq -c | tr -d ' \n')" 16there
is "no token is in any of it" "$(grep -rl secret- "$dir"/run.* "$dir/ocp" "$dir/logs" || :)" ""

# The dashboard
ok "grafana: it is JSON" sh -c "'$assay' export grafana | jq -e '.panels | length > 5'"

# What cannot be
rc=0
"$assay" export --db "$dir/db" junitt 2>"$dir/err" || rc=$?
is "an unknown format: exit code" $rc 2
like "and the nearest" "$(cat "$dir/err")" 'the nearest is "junit"'
rc=0
"$assay" export --db "$dir/db" fio-logs 2>"$dir/err" || rc=$?
is "logs without a folder: exit code" $rc 2
rc=0
"$assay" export --db "$dir/db" junit --to "$dir/no/such/x" 2>"$dir/err" || rc=$?
is "a file that cannot be written: exit code" $rc 3
like "and why" "$(cat "$dir/err")" 'No such file or directory'
rc=0
"$assay" export --db "$dir/db" junit nothing-1 2>"$dir/err" || rc=$?
is "no such run: exit code" $rc 2
sqlite3 "$dir/db" "UPDATE cells SET body = replace(body, '\"aio\"', '\"copy\"')"
rc=0
"$assay" export --db "$dir/db" fio 2>"$dir/err" || rc=$?
is "a run without aio: exit code" $rc 2
like "and says so" "$(cat "$dir/err")" 'no valid sample of aio'
done_testing
