#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# The second implementation: writes reference.json, against which tests/unit/stats_reference.c holds lab/stats. Needs
# python3-scipy; run it by hand and commit what it writes: tests/data/stats/reference.py >tests/data/stats/reference.json
# Where scipy or numpy has the method, theirs is used; the rest is worked out another way than in lab/stats: intervals by
# inverting the test over a grid, levels of variance from mean squares, the change point by trying all.
import itertools
import json
import math
import sys

import numpy
import scipy.stats

rng = numpy.random.default_rng(2013)


def numbers(values):
    return [round(float(v), 6) for v in values]


def median_interval(values, confidence):
    x = sorted(values)
    n = len(x)
    inside = [(k, sum(math.comb(n, i) for i in range(k, n - k + 1)) / 2**n) for k in range(1, (n + 1) // 2 + 1)]
    inside = [c for c in inside if c[1] >= confidence] or inside[:1]
    k, covered = inside[-1]
    return {"values": values, "confidence": confidence, "low": x[k - 1], "high": x[n - k], "covers": covered,
            "median": float(numpy.median(x))}


def one_sided(a, b, factor, alternative):
    scaled = numpy.array(a) * factor
    return float(scipy.stats.mannwhitneyu(b, scaled, alternative=alternative, method="exact").pvalue)


def ratio(a, b, margin, confidence):
    alpha = (1 - confidence) * (1 + 1e-9)  # 0.1 is not 1 - 0.9
    quotients = sorted(y / x for x, y in itertools.product(a, b))
    # between each two quotients the test's outcome is the same: those factors that it does not reject, two-sided
    kept = [i for i, (q, p) in enumerate(zip(quotients, quotients[1:]))
            if one_sided(a, b, math.sqrt(q * p), "greater") > alpha / 2
            and one_sided(a, b, math.sqrt(q * p), "less") > alpha / 2]
    n = len(a), len(b)
    least = 1 / math.comb(sum(n), n[0])
    out = {"a": a, "b": b, "margin": margin, "confidence": confidence, "median": float(numpy.median(quotients)),
           "p_above": one_sided(a, b, 1 + margin, "greater"), "p_below": one_sided(a, b, 1 / (1 + margin), "less"),
           "p_apart": max(one_sided(a, b, 1 / (1 + margin), "greater"), one_sided(a, b, 1 + margin, "less")),
           "enough": least <= alpha / 2}
    if out["enough"]:
        out["low"], out["high"] = quotients[kept[0]], quotients[kept[-1] + 1]
    return out


def split(nodes, boots, samples):
    x = 800 + rng.normal(0, 20, (nodes, 1, 1)) + rng.normal(0, 9, (nodes, boots, 1)) + rng.normal(0, 4, (nodes, boots, samples))
    x = numpy.round(x, 4)
    within = ((x - x.mean(2, keepdims=True)) ** 2).sum() / (nodes * boots * (samples - 1))
    between = samples * ((x.mean(2) - x.mean((1, 2))[:, None]) ** 2).sum() / (nodes * (boots - 1))
    top = boots * samples * ((x.mean((1, 2)) - x.mean()) ** 2).sum() / (nodes - 1)
    return {"values": numbers(x.ravel()), "r": [nodes, boots, samples], "t2": [within, max((between - within) / samples, 0),
            max((top - between) / (boots * samples), 0)],
            "boot_p": float(scipy.stats.f.sf(between / within, nodes * (boots - 1), nodes * boots * (samples - 1)))}


def knee(x):
    n = len(x)
    x = numpy.array(x)
    two = {k: ((x[:k] - x[:k].mean()) ** 2).sum() + ((x[k:] - x[k:].mean()) ** 2).sum() for k in range(3, n - 2)}
    at = min(two, key=two.get)
    left = numpy.concatenate([x[:at] - x[:at].mean(), x[at:] - x[at:].mean()])
    rho = max(float((left[1:] * left[:-1]).sum() / (left**2).sum()), 0)
    worth = n * (1 - rho) / (1 + rho)
    line = numpy.polyfit(numpy.arange(n), x, 1, full=True)[1][0]
    gain, threshold = worth * math.log(x.var() * n / two[at]), 3 * math.log(n) + math.log(at / n) + math.log(1 - at / n)
    before, after = float(numpy.median(x[:at])), float(numpy.median(x[at:]))
    found = (gain > threshold and worth * math.log(line / two[at]) > math.log(n)
             and abs(before - after) >= 0.05 * max(before, after))
    return {"rounds": numbers(x), "found": bool(found), "at": int(at), "before": before, "after": after, "gain": gain,
            "threshold": threshold}


def rates(n, at, before, after, sd, rho):
    noise, last = [], 0.0
    for _ in range(n):
        last = rho * last + rng.normal(0, sd * math.sqrt(1 - rho**2))
        noise.append(last)
    return numbers([(before if i < at else after) + noise[i] for i in range(n)])


def series(n, ties):
    x = numpy.cumsum(rng.normal(0, 1, n)) + rng.normal(0, 2, n)
    x = numbers(numpy.round(x) if ties else x)
    group = [int(g) for g in rng.integers(0, 4, n)]
    d = numpy.array(x) - numpy.mean(x)
    s = sum(numpy.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
    t = numpy.unique(x, return_counts=True)[1]
    variance = (n * (n - 1) * (2 * n + 5) - sum(c * (c - 1) * (2 * c + 5) for c in t)) / 18
    h = scipy.stats.kruskal(*[[v for v, g in zip(x, group) if g == k] for k in sorted(set(group))])
    return {"values": x, "group": group, "lag1": float((d[1:] * d[:-1]).sum() / (d**2).sum()),
            "tau": float(scipy.stats.kendalltau(range(n), x).statistic),
            "drift_p": float(2 * scipy.stats.norm.sf((abs(s) - 1) / math.sqrt(variance))) if s else 1.0,
            "h": float(h.statistic), "groups_p": float(h.pvalue)}


def bootstrap(boots, samples):
    x = numpy.round(500 + rng.normal(0, 10, (boots, 1)) + rng.normal(0, 6, (boots, samples)), 3)
    draws = []
    for _ in range(40000):
        picked = x[rng.integers(0, boots, boots)]
        drawn = numpy.take_along_axis(picked, rng.integers(0, samples, (boots, samples)), 1)
        draws.append(numpy.median(numpy.median(drawn, 1)))
    return {"values": numbers(x.ravel()), "boots": boots, "low": float(numpy.quantile(draws, 0.025)),
            "high": float(numpy.quantile(draws, 0.975))}


json.dump({
    "made_with": f"scipy {scipy.__version__}, numpy {numpy.__version__}",
    "median": [median_interval(numbers(rng.lognormal(6, 0.1, n)), c) for n in (2, 5, 6, 7, 12, 25, 60) for c in (0.9, 0.95, 0.99)],
    "ratio": [ratio(numbers(rng.lognormal(6, 0.03, n)), numbers(rng.lognormal(6 + shift, 0.03, m)), margin, c)
              for n, m in ((3, 3), (4, 4), (5, 8), (9, 3), (12, 12)) for shift in (0, 0.05) for margin, c in ((0, 0.95), (0.02, 0.9))],
    "split": [split(3, 4, 5), split(2, 6, 3), split(5, 2, 2)],
    "knee": [knee(rates(*r)) for r in ((60, 8, 600, 240, 20, 0), (120, 100, 500, 450, 20, 0.3), (60, 30, 500, 500, 20, 0),
                                       (60, 30, 500, 490, 25, 0.9), (40, 5, 700, 500, 60, 0), (300, 20, 550, 300, 50, 0.5))]
            + [knee(numbers(600 - 4 * numpy.arange(60) + rng.normal(0, 10, 60)))],
    "series": [series(n, ties) for n in (8, 20, 100) for ties in (False, True)],
    "bootstrap": [bootstrap(6, 4), bootstrap(12, 3)],
}, sys.stdout, indent=1)
print()
