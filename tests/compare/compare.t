#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# assay import and compare, as an engineer and a CI job use them.
. "$(dirname "$0")/../tap.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
db=$dir/a.db

# runs NAME FACTOR: six boots of two samples of three levels; FACTOR times 100 MB/s and a little noise of its own
make_csv()
{
	awk -v f="$1" 'BEGIN {
		print "level,boot,node,mb_per_s,p99_us"
		for (b = 1; b <= 6; b++) for (s = 0; s < 2; s++) {
			w = ((b * 7 + s * 3) % 5 - 2) / 10
			printf "plain,%d,n1,%.3f,%.3f\n", b, f * (100 + w), 1000 / f + w
			printf "quick,%d,n1,%.3f,%.3f\n", b, f * (150 + w), 700 / f + w
			printf "alike,%d,n1,%.3f,%.3f\n", b, f * (100.3 + w), 1001 / f + w
		}
	}'
}
# try COMMAND…: its output to $said, its exit code to $status
try()
{
	status=0
	said=$("$@" 2>&1) || status=$?
}

make_csv 1 >"$dir/before.csv"
make_csv 0.9 >"$dir/after.csv"
before=$(out/assay import "$dir/before.csv" --db "$db")
after=$(out/assay import "$dir/after.csv" --db "$dir/b.db" --name later --question 'Slower?')
like 'a run is named after its file' "$before" '^before-[0-9]{8}-[0-9]{4}-[0-9a-f]{4}$'
like 'or as asked' "$after" '^later-'
try out/assay report --db "$db"
is 'an imported run is complete' "$status" 0
like 'figures and their interval over boots' "$said" 'plain +12/12 +6 +99\.97 .* 96\.8 % +6 boots'
is 'no evidence, and it is said' "$(grep -c '^IMPORTED (csv)' <<<"$said")" 1

try out/assay compare "$db:$before" "$dir/b.db:$after"
is 'before and after in two databases: worse, exit code 1' "$status" 1
is 'all three' "$(grep -c ' worse$' <<<"$said")" 3
like 'by a tenth' "$said" ' 0\.9000 +\[0\.89[0-9], 0\.90[0-9]\] +9[5-9]\.[0-9] %'
like 'together, after Holm' "$said" '3 comparisons decided together \(Holm\)'
like 'the bootstrap says the same' "$said" 'bootstrap of the ratio of medians: 0\.9000 \[0\.89'
try out/assay compare "$db:$before" "$dir/b.db:$after" --margin 20%
is 'the same within 20 %: exit code 0' "$status/$(grep -c ' same$' <<<"$said")" 0/3
try out/assay compare "$dir/b.db" "$db"
is 'the other way round better; a database is its latest run' "$status/$(grep -c ' better$' <<<"$said")" 0/3
try out/assay compare "$db:$before" "$dir/b.db:$after" --figure p99_us
is 'of latencies less is better: longer ones are worse' "$status/$(grep -c ' worse$' <<<"$said")" 1/3
try out/assay compare --db "$db" "$before,level=plain" "$before"
is 'levels within a run: better, and the same' "$status/$(grep -cE 'quick .* better$' <<<"$said")/$(grep -cE 'alike .* same$' <<<"$said")" 0/1/1

try out/assay compare --db "$db" "$before,level=plain" "$before,level=quick" --margin 50%
is 'at the edge of the margin: undecided, exit code 5' "$status" 5
head -n 13 "$dir/before.csv" >"$dir/few.csv" # two boots
out/assay import "$dir/few.csv" --db "$dir/few.db" >"$dir/run"
try out/assay compare "$dir/few.db:,level=plain" "$dir/few.db:,level=quick"
is 'two boots a side decide nothing' "$status" 5
like 'and it is said how many would' "$said" 'undecided: about 4 boots a side would decide'
try out/assay compare "$dir/few.db" "$db"
is 'two boots against six neither, three at once' "$status" 5

# for programs
modules=$(image/npm.sh tests/schema)
# json COMMAND…: its document to $dir/json, the exit code to $status
json() { status=0; "$@" --json >"$dir/json" || status=$?; }
# get PATH: of the document
get() { sqlite3 "$dir/x.db" "SELECT json_extract(readfile('$dir/json'), '$1')"; }
json out/assay compare "$db:$before" "$dir/b.db:$after"
is 'JSON: the exit code is the verdict too' "$status" 1
ok 'JSON: by its schema' node tests/schema/one.mjs "$modules" compare.json "$dir/json"
is 'JSON: verdicts' "$(get '$.comparison.verdicts')" '{"better":0,"worse":3,"same":0,"undecided":0}'
is 'JSON: a pair, its cells, its figure' "$(get '$.pairs[0].label') $(get '$.pairs[0].figure') $(get '$.pairs[0].verdict')" 'level=plain mb_per_s worse'
is 'JSON: the ratio of the table' "$(printf %.4f "$(get '$.pairs[0].ratio.median')")" 0.9000
is 'JSON: its interval has it in it' "$(sqlite3 "$dir/x.db" "SELECT r ->> 'low' < 0.9001 AND r ->> 'high' > 0.8999 AND r ->> 'level' >= 0.95 FROM
	(SELECT json_extract(readfile('$dir/json'), '\$.pairs[0].ratio') AS r)")" 1
json out/assay compare "$dir/few.db:,level=plain" "$dir/few.db:,level=quick"
is 'JSON: undecided' "$status/$(get '$.pairs[0].verdict')/$(get '$.pairs[0].boots_needed')" 5/undecided/4
like 'JSON: and why' "$(get '$.pairs[0].why')" '^about 4 boots a side would decide'
ok 'JSON: by its schema too' node tests/schema/one.mjs "$modules" compare.json "$dir/json"
try out/assay compare "$db" "$dir/b.db" --json --text
is 'one form at a time' "$status" 2

# what is not asked about
sed 's/,n1,/,n2,/' "$dir/before.csv" >"$dir/other.csv"
out/assay import "$dir/other.csv" --db "$dir/other.db" >"$dir/run"
try out/assay compare "$db" "$dir/other.db"
is 'another node: not comparable, exit code 7' "$status" 7
like 'it is named, and what allows it' "$said" '^  node .*: A n1; B n2 .*--allow node'
try out/assay compare "$db" "$dir/other.db" --allow node
is 'allowed' "$status" 0
json out/assay compare "$db" "$dir/other.db" --allow node --allow nic
is 'JSON lists it' "$(get '$.comparison.differs')" '[{"name":"node","side":"B","asked":false,"a":"n1","other":"n2"}]'
is 'and what was allowed in vain' "$(get '$.comparison.allowed')" '[{"name":"node","differs":true},{"name":"nic","differs":false}]'
like 'the report lists it' "$said" '^Allowed to differ: node: A n1; B n2$'
try out/assay compare "$db:,node=n1" "$dir/other.db:,node=n2"
is 'picked: it is the question' "$status" 0
like 'the report has it' "$said" '^Asked to differ: node: A n1; B n2$'
evidence() { sqlite3 "$1" "UPDATE results SET body = CAST(json_set(CAST(body AS TEXT), '\$.evidence', json_object('$2', '$3')) AS BLOB)"; }
cp "$db" "$dir/kernel.db"
evidence "$db" kernel_release 6.1.1
evidence "$dir/kernel.db" kernel_release 6.1.2
try out/assay compare "$db" "$dir/kernel.db"
is 'another kernel: not comparable' "$status" 7
like 'named too' "$said" '^  kernel .*: A 6\.1\.1; B 6\.1\.2'
try out/assay compare "$db" "$dir/kernel.db" --allow kernel --allow nic
is 'allowed too' "$status" 0
like 'listed too' "$said" '^Allowed to differ: kernel: A 6\.1\.1; B 6\.1\.2$'
like 'what was allowed in vain is said' "$said" '^Allowed, but does not differ: nic$'
sed '1s/level/levels/' "$dir/before.csv" >"$dir/named.csv"
out/assay import "$dir/named.csv" --db "$dir/named.db" >"$dir/run"
evidence "$dir/named.db" kernel_release 6.1.1
try out/assay compare "$db" "$dir/named.db"
is 'cells that differ in a factor that is not asked about' "$status" 7
like 'which is named' "$said" '^  level: A plain, B has none'

# several sides; mistakes
try out/assay compare "$db:,level=plain" "$db:,level=quick" "$db:,level=alike"
like 'three sides' "$said" '^C level=alike .* same$'
for wrong in "$db" "$db $db:nosuch" "$db $db:,level=plian" "$db $db:,lvl=plain" "$db $db:,level" "$db $db --margin x" "$db $db --figure speed" \
	"$db $db --allow bond.mod" "$db $db --confidence 10%"; do
	# shellcheck disable=SC2086 # words are arguments
	try out/assay compare $wrong
	is "compare ${wrong//$dir\//}: exit code 2, and a word why" "$status/$(grep -c '^assay compare: ' <<<"$said")" 2/1
done
like 'the nearest factor is named' "$(out/assay compare "$db" "$db" --allow bond.mod 2>&1)" 'nearest factor is "bond.mode"'
try out/assay compare "$dir/none.db" "$db"
is 'no database: exit code 3' "$status" 3
like 'help names the exit codes' "$(out/assay compare --help)" '7 not comparable'

# transcripts and fio
printf '%s\n' 'Buffers 1024' '- 335544320000 bytes (336 GB) copied, 426.228 s, 787 MB/s' '80000+0 records in' '80000+0 records out' \
	'335544320000 bytes (336 GB, 312 GiB) copied, 437.364 s, 767 MB/s' 'reboot' '67108864 bytes (64.0MB) copied, 0.123456 seconds, 518.4MB/s' \
	'' 'Buffers 2048' '335544320000 bytes (336 GB) copied, 530.02 s, 633 MB/s (aborted)' '335544320000 bytes (336 GB) copied, 531.918 s, 631 MB/s' >"$dir/dd.txt"
try out/assay import "$dir/dd.txt" --db "$dir/dd.db"
is 'transcripts of dd: imported' "$status" 0
like 'what goes on after the rate is left out, by its line' "$said" 'dd.txt:10:.*left out.*aborted'
is 'boots, settings, bytes' "$(sqlite3 "$dir/dd.db" "SELECT label || '/' || boot || '/' || measured_bytes FROM results JOIN cells USING (run, cell_id) ORDER BY results.rowid" | xargs)" \
	'Buffers 1024/1/335544320000 Buffers 1024/1/335544320000 Buffers 1024/2/67108864 Buffers 2048/2/335544320000'
printf '%s\n' 'x' '335544320000 bytes (336 GB) copied, 42.228 s, 787 MB/s' >"$dir/wrong.txt"
try out/assay import "$dir/wrong.txt" --db "$dir/none.db"
is 'a rate that is not bytes over seconds: refused' "$status" 2
like 'by its line' "$said" 'wrong.txt:2:1: .*do not go together'
ok 'and nothing is made' test ! -e "$dir/none.db"
cat >"$dir/fio.json" <<'END'
fio: a warning above
{"fio version": "fio-3.33", "global options": {"ioengine": "libaio", "direct": "1"},
 "jobs": [{"jobname": "randread", "job options": {"rw": "randread", "bs": "4k", "iodepth": "32"},
  "read": {"io_bytes": 409600000, "runtime": 1000, "iops": 100000.5,
   "clat_ns": {"max": 900000, "percentile": {"50.000000": 300000, "99.000000": 500000, "99.900000": 700000}}},
  "write": {"io_bytes": 0, "runtime": 0}}]}
END
out/assay import "$dir/fio.json" "$dir/fio.json" --boot-per-file --db "$dir/fio.db" >"$dir/run"
csv=$(out/assay report --csv --db "$dir/fio.db")
is 'fio: a sample of each file and boot' "$(grep -c '409600000,1000000000,409.6,100000.5,300,500,700,900,' <<<"$csv")" 2
is 'a column of settings for each option' "$(sqlite3 "$dir/fio.db" "SELECT body ->> '\$.workload.bs' || (body ->> '\$.workload.ioengine') FROM cells")" 4klibaio
out/assay report --csv --db "$db" >"$dir/own.csv"
ok 'what report --csv prints can be imported' out/assay import "$dir/own.csv" --db "$dir/own.db"
is 'with every sample and boot' "$(sqlite3 "$dir/own.db" "SELECT count(*) || '/' || count(DISTINCT boot) FROM results")" 36/6
printf 'level,mb_per_s\nplain,fast\n' >"$dir/bad.csv"
try out/assay import "$dir/bad.csv" --db "$dir/none.db"
is 'a figure that is no number' "$status/$(grep -c 'bad.csv:2:2: mb_per_s: "fast"' <<<"$said")" 2/1
try out/assay import "$dir/nosuch" --db "$dir/none.db"
is 'no such file' "$status/$(grep -c 'No such file' <<<"$said")" 2/1
try out/assay import "$dir/before.csv" "$dir/dd.txt" --db "$dir/none.db"
is 'files of two kinds' "$status" 2
done_testing
