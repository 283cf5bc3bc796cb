#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of README.md: the 30 pairs with recorded kernels, beside those with the synthetic ones."""
import csv
import math
import pathlib
import statistics

HERE = pathlib.Path(__file__).resolve().parent


def runs(path):
    return {(r["kernels"], r["policy"]): r for r in csv.DictReader(path.open())}


def mean(values):
    return math.exp(statistics.mean(map(math.log, values)))


def rank(values):
    order = sorted(values)
    return [order.index(v) for v in values]


def main():
    recorded, synthetic = runs(HERE / "results.csv"), runs(HERE.parent / "results.csv")
    pairs = [kernels for kernels, policy in recorded if policy == "warped_slicer"]

    def over(table, policy):
        if (pairs[0], policy) not in table:
            return "-"
        return f"{100 * (mean(float(table[p, 'warped_slicer']['ipc']) / float(table[p, policy]['ipc']) for p in pairs) - 1):+.1f} %"

    for policy in ("left_over", "even", "spatial", "fcfs", "solo_curve"):
        print(f"Warped-Slicer over {policy}: recorded {over(recorded, policy)}, synthetic {over(synthetic, policy)}")
    gains = [[float(table[p, "warped_slicer"]["normalized_ipc"]) for p in pairs] for table in (recorded, synthetic)]
    for category in sorted({recorded[p, "warped_slicer"]["category"] for p in pairs}):
        some = [g for g, p in zip(gains[0], pairs) if recorded[p, "warped_slicer"]["category"] == category]
        print(f"{category}: {100 * (mean(some) - 1):+.1f} % over left_over")
    both = [(recorded[p, "warped_slicer"], synthetic[p, "warped_slicer"]) for p in pairs]
    apart = [max(abs(int(x) - int(y)) for x, y in zip(a["ctas"].split(), b["ctas"].split())) if a["mode"] == b["mode"] else math.inf for a, b in both]
    print(f"the same partition in {apart.count(0)} of {len(pairs)} pairs, within a CTA in {sum(d <= 1 for d in apart)}")
    print("Spatial by the loss guard: recorded", [p for p, (a, _) in zip(pairs, both) if a["mode"] != "intra_sm"],
          "synthetic", [p for p, (_, b) in zip(pairs, both) if b["mode"] != "intra_sm"])
    print(f"rank correlation of the gains {statistics.correlation(*map(rank, gains)):.2f}")


if __name__ == "__main__":
    main()
