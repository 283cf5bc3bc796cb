#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which kernel of a pair goes first on an H200: what each keeps of its own rate with as many CTAs alone.

usage: priority.py      prints a table from results/h200/{curves,pairs}.jsonl, without a GPU, and keeps it in results.json
The partitions are those of the search over all of them; of each pair the one nearest to half the SM for each."""
import json
import lzma
import pathlib
import statistics

from compare import RESULTS, write_results

SILICON = pathlib.Path(__file__).resolve().parents[2] / "h200"
ISSUE_BOUND = ("MM", "HOT", "BLK", "DXT", "IMG")


def lines(name):
    return [json.loads(line) for line in lzma.open(SILICON / (name + ".xz"), "rt")]


def main():
    alone, registers = {}, {}
    for line in lines("curves.jsonl"):
        alone[line["app"]] = [statistics.median(run) for run in zip(*line["blocks_per_second"])]
        registers[line["app"]] = line["demand"]["registers"]
    kept, rows = [], []
    print("| older, younger | CTAs | the older keeps | the younger keeps |\n|---|---|---|---|")
    for line in lines("pairs.jsonl"):
        if "sweep" not in line or not set(line["kernels"]) <= set(ISSUE_BOUND):
            continue
        names = line["kernels"]
        most = [len(alone[name]) for name in names]
        point = min(line["sweep"], key=lambda p: sum(abs(c / m - 0.5) for c, m in zip(p["ctas"], most)))
        each = [rate / alone[name][ctas - 1] for name, rate, ctas in zip(names, point["blocks_per_second"], point["ctas"])]
        order = sorted(range(2), key=lambda k: -registers[names[k]])  # as the runtime places them
        kept.append([each[k] for k in order])
        rows.append({"kernels": [names[k] for k in order], "ctas": [point["ctas"][k] for k in order], "keeps": [round(each[k], 4) for k in order]})
        print("| " + ", ".join(names[k] for k in order) + " | " + ", ".join(str(point["ctas"][k]) for k in order) +
              " | " + " | ".join(f"{each[k]:.2f}" for k in order) + " |")
    means = [statistics.mean(side) for side in zip(*kept)]
    print(f"\nmean of {len(kept)} pairs: the older keeps {means[0]:.2f}, the younger {means[1]:.2f}; "
          f"the older keeps more in {sum(a > b for a, b in kept)}")
    write_results(RESULTS, older_first=rows)


if __name__ == "__main__":
    main()
