#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The page of a run in headless Chromium, at a laptop's and a phone's width and as PDF: nothing in the console, no text over
# another or out of the window, nothing wider than the window; and texts from outside stay texts.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/tap.sh
. tests/tap.sh
assay=${OUT:-out}/assay
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# browser WIDTH FILE OPTION…: the console's lines go to $dir/console
browser()
{
	local width=$1 file=$2
	shift 2
	timeout 60 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking \
		--no-first-run --user-data-dir="$dir/profile" --enable-logging=stderr --window-size="$width,900" \
		--virtual-time-budget=5000 "$@" "file://$file" 2>"$dir/log"
	grep ':CONSOLE' "$dir/log" >"$dir/console" || :
}

# probe WIDTH FILE: what probe.js says of it; in a frame, since windows are not made as narrow as a phone
probe()
{
	{ cat "$2"; echo '<script>'; cat tests/report/probe.js; echo '</script>'; } >"$dir/probed.html"
	cat >"$dir/frame.html" <<X
<!DOCTYPE html><title>waiting</title><script>addEventListener("message", (e) => { document.title = e.data; });</script>
<iframe src="probed.html" width="$1" height="800" style="border:0"></iframe>
X
	browser 1400 "$dir/frame.html" --dump-dom | grep -o 'probe: width.*probe-end' | tail -n 1
}

hostile='</script></style></pre><script>console.error("hostile")</script><img src=x onerror=console.error("hostile")>"'\''&'
tests/report/database.pl "$dir/hostile.db" 5 2 3 8 "$hostile"
tests/report/database.pl "$dir/plain.db" 9 3 3 12
for kind in plain hostile; do
	ok "$kind: the page is made" "$assay" report --db "$dir/$kind.db" --html "$dir/$kind.html"
	for width in 1280 390; do
		title=$(probe $width "$dir/$kind.html")
		like "$kind, $width: it is that wide" "$title" "width $width "
		like "$kind, $width: nothing wider than the window" "$title" 'wide false'
		like "$kind, $width: pictures have their texts" "$title" 'texts [1-9][0-9]'
		like "$kind, $width: no text over another, cut off or tiny" "$title" 'overlaps 0 clipped 0 small 0'
		like "$kind, $width: rates are zoomable" "$title" 'zoomable [1-9]'
		is "$kind, $width: nothing in the console" "$(cat "$dir/console")" ''
	done
	browser 1280 "$dir/$kind.html" --no-pdf-header-footer --print-to-pdf="$dir/$kind.pdf"
	is "$kind: it prints" "$(head -c 5 "$dir/$kind.pdf")" '%PDF-'
	is "$kind: nothing in the console when printed" "$(cat "$dir/console")" ''
done
browser 390 "$dir/plain.html" --screenshot="$dir/phone.png" >/dev/null
is "a picture of it" "$(head -c 8 "$dir/phone.png" | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a

# What finds nothing must be able to.
echo '<!DOCTYPE html><body><div style="width:3000px">x</div><script>console.error("seen")</script>' >"$dir/bad.html"
title=$(probe 390 "$dir/bad.html")
like "the probe sees what is too wide" "$title" 'wide true'
like "and what the console says" "$(cat "$dir/console")" 'seen'

like "without JavaScript the rates are pictures" "$(cat "$dir/plain.html")" '<svg class="xy"'
is "nothing is loaded from elsewhere" "$(grep -Eic '(src|href)="?(https?:)?//|@import|url\(' "$dir/plain.html" || :)" 0
like "scaled results say so" "$(cat "$dir/plain.html")" 'Scaled.</b> Sizes are 1/10'
# section ID: of the page, on one line
section() { tr '\n' ' ' <"$dir/plain.html" | grep -o "<section id=\"$1\">.*" | sed 's:</section>.*::'; }
top=$(section verdict)
like "what a cache took is told apart, at the top" "$top" \
	'The rate fell for good</b> while <em>drbd max-buffers=1500 copy</em> was measured: 9 of 9 samples: [0-9.]+ MB/s for 6 s, then [0-9.]+ MB/s that last'
like "it is what the made-up cell was made to do: six tenths last" \
	"$(sed 's:.*9 of 9 samples\: \([0-9.]*\) MB/s for 6 s, then \([0-9.]*\) .*:\1 \2:' <<<"$top" | awk '{ print $2 / $1 }')" '^0\.(5[789]|6[0123])'
like "samples that came to no steady state are told of at the top" "$top" 'Not steady:</b> 9 of 18 samples'
like "and which" "$(section results)" 'cell 4, boot 1, sample 1: NOT steady; in rounds 2 to 6 of 6'
like "latency has its median and its longest" "$(section latency)" '<th>p50</th><th>p90</th><th>p99</th><th>p99\.9</th><th>p99\.99</th><th>most</th>'
like "the tests of order stand beneath their picture" "$(section order)" 'minutes since the run began.*Does the order of measuring explain anything'
"$assay" report --db "$dir/plain.db" --json >"$dir/json"
ok "JSON is by its schema" node tests/schema/one.mjs "$(image/npm.sh tests/schema)" report.json "$dir/json"
get() { sqlite3 "$dir/x.db" "SELECT json_extract(readfile('$dir/json'), '$1')"; }
is "and has what lasts apart from the burst" "$(get '$.cells[4].knee.fell') of $(get '$.cells[4].knee.samples') after $(get '$.cells[4].knee.at_s')" '9 of 9 after 6.0'
is "of that cell alone" "$(grep -c '"knee"' "$dir/json")" 1
is "and how many samples came to a steady state" "$(get '$.cells[3].steady') $(get '$.cells[7].steady')" '{"samples":9,"reached":0} {"samples":9,"reached":9}'
printf 'level,mb_per_s\na,1\na,2\n' >"$dir/i.csv"
"$assay" import "$dir/i.csv" --db "$dir/i.db" >"$dir/run"
"$assay" report --db "$dir/i.db" --html "$dir/i.html"
like "an imported run says so first" "$(grep -m1 "Imported</b>" "$dir/i.html")" 'Imported</b> \(csv\): no evidence'
like "what is invalid is there, and why" "$(cat "$dir/plain.html")" 'a link flapped'
like "and drbd.conf" "$(cat "$dir/plain.html")" 'max-buffers 8000'
like "and dd" "$(cat "$dir/plain.html")" 'dd if=/dev/zero'
is "hostile texts: none is markup" "$(grep -c '<img src=x' "$dir/hostile.html" || :)" 0
certificates=$(sed -n '/<section id="noise"/,/<\/section>/p' "$dir/plain.html")
is "noise: a row a cell" "$(grep -c '<th scope="row" role="rowheader">' <<<"$certificates")" 9
is "noise: of each sample a mark, and of the one that is invalid" "$(grep -o '<title>boot [1-3], sample [1-3]: [0-9]* ppm' <<<"$certificates" | wc -l)" 82
is "noise: the invalid one says so" "$(grep -o '<title>[^<]*invalid by it' <<<"$certificates" | wc -l)" 1
is "noise: the limit is a line in its cell's row alone" "$(grep -c 'class="ref"' <<<"$certificates")/$(grep -c 'limit 5000; <strong>1 invalid by noise' <<<"$certificates")" 1/1
like "noise: a silent CPU is told as such" "$certificates" '<b>0</b>, worst 0 <small>longest 0 µs; in a second at most 0 interrupts, 0 softirqs, 0 threads; during samples 0.0 timer'
like "noise: and another with its rates" "$certificates" 'in a second at most 252 interrupts, 36 softirqs, 8 threads; during samples 250.0 timer'
like "noise: what was kept off" "$certificates" 'CPUs 1-3 measure, CPUs 0 keep house \(cpu.quiet on: 23 kernel threads and 7 interrupts moved\); the kernel isolated CPUs 1-3, without a tick'
rc=0
"$assay" report --db "$dir/plain.db" --html "$dir/no/such/folder/x.html" 2>"$dir/err" || rc=$?
is "a page that cannot be written: exit code" "$rc" 3
like "and why" "$(cat "$dir/err")" 'No such file or directory'
done_testing
