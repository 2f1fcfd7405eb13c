#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: report.sh ASSAY
# Budget of the page of a run: 10,000 samples with logs of 60 s and the observers' series in under 5 s and 300 MB, the file
# under 5 MB. Seconds are those of the CPU, so that a busy machine does not fail it. The database is made up
# (tests/report/database.pl).
set -euo pipefail
cd "$(dirname "$0")/../.."
assay=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

tests/report/database.pl "$dir/assay.db" 200 5 10 60
python3 - "$assay" "$dir" <<'X'
import os, resource, subprocess, sys, time
assay, folder = sys.argv[1:]
begin = time.monotonic()
subprocess.run([assay, "report", "--db", f"{folder}/assay.db", "--html", f"{folder}/page.html"], check=True)
seconds = time.monotonic() - begin
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu_seconds = usage.ru_utime + usage.ru_stime
memory_mb = usage.ru_maxrss * 1024 / 1e6
size_mb = os.path.getsize(f"{folder}/page.html") / 1e6
print(f"report --html, 10,000 samples of 60 s, database of {os.path.getsize(folder + '/assay.db') / 1e6:.0f} MB: "
      f"{cpu_seconds:.1f} s of CPU (budget 5), {seconds:.1f} s by the clock, {memory_mb:.0f} MB (300), page {size_mb:.1f} MB (5)")
sys.exit(cpu_seconds >= 5 or memory_mb >= 300 or size_mb >= 5)
X
