#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What it takes to expand a plan of 100,000 cells, each a state of its own (the worst that many cells can be): CPU time, since
# this machine may be busy, and the most memory. Exit code 1: over a budget.
# usage: expand.sh       (after `make lab`)
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/plan.yaml" <<'YAML'
schema_version: 1
question: How long does a plan of 100,000 cells take to expand?
nodes: 2
base: {stack: drbd, nic.mtu: 9000}
cross:
  bond.mode: [active-backup, balance-rr, balance-xor, 802.3ad, balance-tlb]
  drbd.net.tcp-cork: ["yes", "no"]
  drbd.net.max-buffers: [512, 1024, 2048, 4096, 8000, 8192, 16384, 32768, 65536, 131072]
  drbd.net.max-epoch-size: [75, 150, 156, 312, 625, 1024, 2048, 8000, 10000, 20000]
  drbd.net.sndbuf-size: [0, 128KiB, 256KiB, 512KiB, 1MiB, 2MiB, 4MiB, 5MiB, 6MiB, 7MiB]
  drbd.net.unplug-watermark: [16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 131072]
workloads:
  - copy: {bs: 4MiB, size: 1GiB}
order: shuffled
YAML
TIMEFORMAT='%U %S'
{ time out/assay plan "$work/plan.yaml" >"$work/out"; } 2>"$work/time"
/usr/bin/time -f %M -o "$work/memory" out/assay plan "$work/plan.yaml" >/dev/null
cells=$(awk '$1 == "cell" {on = 1; next} on && !NF {exit} on {n++} END {print n}' "$work/out")
[ "$cells" = 100000 ] || { echo "bench: $cells cells instead of 100000" >&2; exit 1; }
awk -v kib="$(cat "$work/memory")" '{
	s = $1 + $2; mb = kib * 1024 / 1e6
	printf "expanding a plan of 100,000 cells: CPU time %24.2f s (budget 2)%s\n", s, (s > 2 ? "  OVER" : "")
	printf "expanding a plan of 100,000 cells: memory   %24.1f MB (budget 200)%s\n", mb, (mb > 200 ? "  OVER" : "")
	exit (s > 2 || mb > 200)
}' "$work/time"
