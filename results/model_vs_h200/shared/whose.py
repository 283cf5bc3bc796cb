#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose curve moves a partition: water-filling on the model's curves, on the H200's, and on one of each, for pairs that differ.

usage: whose.py [FILE]      FILE: as model.json; needs no GPU
With the H200's curve in place of one kernel's: is the partition then the H200's within a CTA? And where the two curves lie apart
most, up to the number of CTAs that the H200 gives."""
import json
import sys

from compare import HERE, lines, silicon, within_one

CAPACITY = {"registers": 65536, "shared_memory_bytes": 233472, "threads": 2048, "cta_slots": 32}


def water_fill(curves, demands):
    """Warped-Slicer's algorithm 1, as sw/partition/waterfill.h has it, without an epsilon."""
    left = {what: CAPACITY[what] - sum(d[what] for d in demands) for what in CAPACITY}
    ctas, full = [1] * len(curves), [False] * len(curves)
    while not all(full):
        worst = min((k for k in range(len(curves)) if not full[k]), key=lambda k: curves[k][ctas[k] - 1] / max(curves[k]))
        now = curves[worst][ctas[worst] - 1]
        more = next((n - ctas[worst] for n in range(ctas[worst] + 1, len(curves[worst]) + 1) if curves[worst][n - 1] > now), None)
        if more is None or any(demands[worst][what] * more > left[what] for what in left):
            full[worst] = True
            continue
        left = {what: left[what] - demands[worst][what] * more for what in left}
        ctas[worst] += more
    return ctas


def main():
    model = json.loads((HERE / (sys.argv[1] if len(sys.argv) > 1 else "model.json")).read_text())
    theirs, _, _, there = silicon()
    demand = {line["app"]: line["demand"] for line in lines("curves.jsonl")}
    ours = model["curves"]
    print("| pair | H200 | its solo curves | the model's | first kernel's from the H200 | second's | furthest apart |\n|---|---|---|---|---|---|---|")
    alike = 0
    for run in (r for r in model["pairs"] if r["policy"] == "solo_curve"):
        names, goal = run["kernels"], there["_".join(run["kernels"]), "warped_slicer"]
        demands = [demand[k] for k in names]
        choices = [[{"ours": ours, "theirs": theirs}[w][k] for w, k in zip(which, names)]
                   for which in (("theirs", "theirs"), ("ours", "ours"), ("theirs", "ours"), ("ours", "theirs"))]
        found = [water_fill(curves, demands) for curves in choices]
        alike += within_one(found[1], goal)
        if within_one(found[1], goal):
            continue
        apart = max(
                    (abs(ours[k][n] / max(ours[k]) - theirs[k][n] / max(theirs[k])), k, n + 1, ours[k][n] / max(ours[k]), theirs[k][n] / max(theirs[k]))
                    for k, most in zip(names, goal) for n in range(min(most + 1, len(ours[k]), len(theirs[k]))))
        cells = [f"{', '.join(map(str, f))}{' (ok)' if within_one(f, goal) else ''}" for f in found]
        print(f"| {'_'.join(names)} | {', '.join(map(str, goal))} | {' | '.join(cells)} | {apart[1]} at {apart[2]}: {apart[3]:.2f} for {apart[4]:.2f} |")
    print(f"\nwithin a CTA on the model's curves, with the runtime's demands: {alike} of 45")


if __name__ == "__main__":
    main()
