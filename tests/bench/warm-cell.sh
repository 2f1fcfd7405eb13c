#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a cell with a new state costs on nodes that are up, beside what is measured in it: restore, apply, prove, and the
# talk with the lab, in seconds of guest time from the end of one sample to the evidence before the next, DRBD connected.
# usage: warm-cell.sh       (root; after `make image lab`)
set -euo pipefail
cd "$(dirname "$0")/../.."
vlab=lab/virtual/lab.sh
dir=out/bench/warm-cell
limit=5
trap '[ -z "${serve:-}" ] || kill -KILL "$serve" 2>/dev/null; "$vlab" down "$dir" 2>/dev/null' EXIT

"$vlab" down "$dir" 2>/dev/null || :
rm -rf "$dir"
mkdir -p "$dir"
"$vlab" up "$dir" 2>"$dir/up.log"
"$vlab" lab-file "$dir" >"$dir/lab.yaml"
"$vlab" exec "$dir" out/assay serve "$dir/lab.yaml" --db "$dir/assay.db" --image out >"$dir/serve.log" 2>&1 &
serve=$!
"$vlab" start "$dir" n1 n2
token=$(out/assay plan tests/bench/warm-cell.yaml --lab "$dir/lab.yaml" | sed -n 's/.* --wipe \([0-9a-f]*\)$/\1/p')
timeout 600 out/assay run tests/bench/warm-cell.yaml --db "$dir/assay.db" --lab "$dir/lab.yaml" --wipe "$token" >"$dir/run.log" 2>&1 ||
	{ cat "$dir/run.log" >&2; exit 1; }
echo "guest time of cells with a new state (budget $limit s in all):"
sqlite3 -separator ' ' "$dir/assay.db" "
	WITH sample AS (SELECT rowid AS place, cell_id, json_extract(text, '\$.evidence.uptime_ns') AS uptime, text
		FROM (SELECT rowid, cell_id, role, verdict, CAST(body AS TEXT) AS text FROM results) WHERE role = 'measure' AND verdict = 'valid'),
	cost AS (SELECT *, uptime - lag(uptime + json_extract(text, '\$.steps_ns.measure') + json_extract(text, '\$.steps_ns.evidence')) OVER (ORDER BY place) AS ns FROM sample)
	SELECT printf('  %5.2f s (apply %.2f, prove %.2f)%s  %s', ns / 1e9, json_extract(text, '\$.steps_ns.apply') / 1e9,
		json_extract(text, '\$.steps_ns.prove') / 1e9, CASE WHEN ns > $limit * 1e9 THEN '  OVER' ELSE '' END, label)
	FROM cost JOIN cells USING (cell_id) WHERE ns IS NOT NULL ORDER BY place" | tee "$dir/cells"
if grep -q OVER "$dir/cells"; then exit 1; fi
