#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of aio-fio.init on stdin to a table: medians over the pairs of ours / fio's."""
import statistics
import sys

runs = {}
for line in sys.stdin:
    words = line.split()
    if len(words) == 6 and words[0] in ("rate", "agree"):
        runs.setdefault((words[0], words[1]), {}).setdefault(words[2], []).append([float(w) for w in words[3:]])

last = ""
for (part, case), both in runs.items():
    if part != last:
        print({"rate": "rate, as fast as it goes (ours / fio):", "agree": "each I/O takes 20 ms (ours / fio):"}[part])
        last = part
    pairs = list(zip(both["ours"], both["fios"]))
    text = f"  {case:24} {len(pairs):3} pairs"
    for i, name in enumerate(("IOPS", "p50", "p99")):
        ratios = sorted(a[i] / b[i] for a, b in pairs if b[i])
        ours = statistics.median(a[i] for a, _ in pairs)
        fios = statistics.median(b[i] for _, b in pairs)
        if i == 0 or part == "agree":
            text += f"   {name} {ours:.0f} / {fios:.0f} = {statistics.median(ratios):.3f} ({ratios[0]:.3f} - {ratios[-1]:.3f})"
    print(text)
