#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What rates of other mixes would tell a pair that was never measured, by steady rates of every partition and range on the H200
(../h200/*.jsonl.xz) and of the pairs that balance measured (h200/pairs.jsonl.xz). Writes h200/remembered.json.

A kernel's rate beside another at a share of its CTAs, or of the SMs, is guessed from all pairs but this one: the logarithm of its own
mean beside others, plus what that other does to the rest of the kernels, less what kernels do to each other on average."""
import json
import lzma
import math
from pathlib import Path
from statistics import geometric_mean, mean, median

HERE = Path(__file__).parent


def lines(path):
    with lzma.open(HERE / f"{path}.jsonl.xz", "rt") as file:
        return [json.loads(line) for line in file]


def rates(entry, solo):
    return [b / s for b, s in zip(entry["blocks_per_second"], solo)]


def tables(found, key):
    return {tuple(x["kernels"]): {key(c): rates(c, x["solo_blocks_per_second"]) for c in x["sweep"]
                                  if c.get("settled", True) and not sum(c.get("missing", [])) and min(c["blocks_per_second"]) > 0}
            for x in found if x["policy"] == "sweep"}


def score(r):
    return 2 * max(r) / (2 * max(r) - sum(r) + 1)


def antt(r):
    """Two kernels of the same length; None: in order."""
    if r is None:
        return 1.5
    first = 1 / max(r)
    return (2 * first + 1 - min(r) * first) / 2


def line_through(points):
    points = sorted(points)

    def at(u):
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            if x0 <= u <= x1 and x0 < x1:
                return y0 + (y1 - y0) * (u - x0) / (x1 - x0)
        return points[0][1] if u < points[0][0] else points[-1][1]
    return at


def guesses(found, share):
    """@param share  (A, B, key of an entry) to the shares of both"""
    curve = {}
    for (a, b), entries in found.items():
        for own, other, k in ((a, b, 0), (b, a, 1)):
            curve[own, other] = line_through([(share(a, b, c)[k], math.log(r[k])) for c, r in entries.items()])
    names = sorted({k for pair in found for k in pair})

    def rate(own, other, u):
        rest = [k for k in names if k not in (own, other)]
        alike = mean(curve[a, b](u) for a in rest for b in rest if a != b)
        return min(1, math.exp(mean(curve[own, k](u) for k in rest) + mean(curve[k, other](u) for k in rest) - alike))
    return {(a, b): {c: [rate(own, other, share(a, b, c)[k]) for own, other, k in ((a, b, 0), (b, a, 1))] for c in entries}
            for (a, b), entries in found.items()}


def chosen(guess):
    """As balance chooses: of the scores within 1 / 32 of the highest the largest sum; None: in order."""
    highest = max(score(r) for r in guess.values())
    near = [c for c, r in guess.items() if score(r) >= highest * 31 / 32]
    return max(near, key=lambda c: sum(guess[c])) if highest >= 1 else None


def by_sum(known, keep=1.1):
    """The largest sum of rates, for the sake of waiting; None: in order."""
    best = max(known, key=lambda c: sum(known[c]))
    return best if sum(known[best]) > keep else None


def summary(held):
    return {"sooner": geometric_mean(score(r) if r else 1 for r in held), "antt": geometric_mean(antt(r) for r in held),
            "lose": sum(r is not None and score(r) < 0.99 for r in held)}


def main():
    within = tables(lines("../h200/pairs"), lambda c: tuple(c["ctas"]))
    within = {p: {c: r for c, r in t.items() if not any(o != c and o[0] >= c[0] and o[1] >= c[1] for o in t)} for p, t in within.items()}
    most = {}
    for pair, entries in within.items():
        for k, name in enumerate(pair):
            most[name] = max([most.get(name, 0), *(c[k] for c in entries)])
    ranges = tables(lines("../h200/ranges"), lambda c: ("sms", c["sms"][0] / sum(c["sms"])))
    guess = guesses(within, lambda a, b, c: (c[0] / most[a], c[1] / most[b]))
    guess_ranges = guesses(ranges, lambda a, b, c: (c[1], 1 - c[1]))
    out = {}
    for name, both in (("partitions", False), ("partitions_and_ranges", True)):
        known = {p: within[p] | (ranges[p] if both else {}) for p in within}
        told = {p: guess[p] | (guess_ranges[p] if both else {}) for p in within}
        pick = {p: chosen(told[p]) for p in told}
        best = {p: chosen(known[p]) for p in known}
        top = {p: sorted(told[p], key=lambda c: -score(told[p][c])) for p in told}
        out[name] = {"guessed": summary([known[p].get(pick[p]) for p in pick]), "known": summary([known[p].get(best[p]) for p in best]),
                     "guessed_by_sum": summary([known[p].get(by_sum(told[p])) for p in told]), "known_by_sum": summary([known[p].get(by_sum(known[p])) for p in known])}
        for n in (2, 3):
            out[name][f"best_of_{n}"] = summary([known[p][c] if (c := chosen({c: known[p][c] for c in top[p][:n]})) else None for p in top])
    again, held, windows = {}, {}, {}
    for x in lines("h200/pairs"):
        pair = tuple(x["kernels"])
        if x["policy"] == "balance_again":
            again.setdefault(pair, []).append(sum(x["alone_seconds"]) / max(x["finish_seconds"]))
            if "decisions" in x:
                held[pair] = tuple(x["decisions"][0]["ctas"])
        for c in x["decisions"][0].get("candidates", []) if x["policy"] == "balance" and "decisions" in x else []:
            steady = within[pair].get(tuple(c["ctas"] or ()))
            for k, kernel in enumerate(pair) if steady and c["tried"] == "confirmed" else ():
                windows.setdefault(kernel, []).append(c["rates"][k] / steady[k])
    both = [p for p in held if held[p] in within[p]]
    out["again"] = {"pairs": len(both), "sooner": geometric_mean(median(again[p]) for p in both), "steady": geometric_mean(score(within[p][held[p]]) for p in both),
                    "best": geometric_mean(max(1, *map(score, within[p].values())) for p in both)}
    out["windows"] = {k: median(v) for k, v in sorted(windows.items())}
    (HERE / "h200/remembered.json").write_text(json.dumps(out, indent=1) + "\n")
    print(json.dumps(out, indent=1))


main()
