#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partitions of the model that are not the H200's within a CTA, and what they are worth on the H200's own solo curves.

usage: misses.py [FILE]      FILE: as model.json; needs no GPU
Worth is the worst-off kernel's part of its own best, which water-filling makes as large as it can. Of the H200 it also counts how
often its repetitions decide as most of them do."""
import json
import sys

from compare import HERE, lines, silicon, within_one

CLOSE = 0.01


def main():
    model = json.loads((HERE / (sys.argv[1] if len(sys.argv) > 1 else "model.json")).read_text())
    curves, _, _, ctas = silicon()
    runs = [line for line in lines("pairs.jsonl") if line["policy"] == "warped_slicer" and "ctas" in line]
    again = sum(within_one(run["ctas"], ctas["_".join(run["kernels"]), "warped_slicer"]) for run in runs)
    print(f"H200: {again} of {len(runs)} repetitions within a CTA of their pair's most frequent partition")

    def worth(kernels, counts):
        return min(curves[k][min(n, len(curves[k])) - 1] / max(curves[k]) for k, n in zip(kernels, counts)) if counts else 0  # none decided

    for policy in ("warped_slicer", "solo_curve"):
        some = [run for run in model["pairs"] if run["policy"] == policy]
        there = {id(run): ctas["_".join(run["kernels"]), "warped_slicer"] for run in some}
        missed = [run for run in some if not within_one(run["ctas"], there[id(run)])]
        if not some:
            continue
        ties = [run for run in missed if worth(run["kernels"], run["ctas"]) > worth(run["kernels"], there[id(run)]) - CLOSE]
        print(f"\n{policy}: {len(some) - len(missed)} of {len(some)} within a CTA; of the others {len(ties)} are worth as much within {CLOSE}\n")
        print("| pair | model | H200 | worth | worth of the H200's |\n|---|---|---|---|---|")
        for run in missed:
            print(f"| {'_'.join(run['kernels'])} | {', '.join(map(str, run['ctas']))} | {', '.join(map(str, there[id(run)]))} | "
                  f"{worth(run['kernels'], run['ctas']):.3f} | {worth(run['kernels'], there[id(run)]):.3f} |")


if __name__ == "__main__":
    main()
