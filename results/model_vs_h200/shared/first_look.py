#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compares like with like: partitions of one look at all CTA counts, on the H200 and by the model's unit.

usage: first_look.py [FILE]      FILE: as model.json; needs no GPU. Without it the table goes into results.json
The H200's runtime keeps the curves of its first window, of the second one (each kernel at full occupancy) and those refined where its decision falls. Each
decides here by itself; of five repetitions the most frequent partition counts."""
import json
import sys

from compare import HERE, RESULTS, lines, within_one, write_results
from whose import water_fill

CURVES = (("sampled", "one look at all counts"), ("scaled", "and one at full occupancy"), ("refined", "and looks where the decision falls"), ("ctas", "what was in force"))


def main():
    demand = {line["app"]: line["demand"] for line in lines("curves.jsonl")}
    there = {}
    for line in lines("pairs.jsonl"):
        if line.get("policy") != "warped_slicer" or "sampled" not in line:
            continue
        names = line["kernels"]
        for what, _ in CURVES:
            ctas = line[what] if what == "ctas" else water_fill(line[what], [demand[name] for name in names])
            there.setdefault((what, "_".join(names)), []).append(tuple(ctas))
    there = {key: max(set(found), key=found.count) for key, found in there.items()}
    model = json.loads((HERE / (sys.argv[1] if len(sys.argv) > 1 else "model.json")).read_text())
    ours = {(run["policy"], "_".join(run["kernels"])): run["ctas"] for run in model["pairs"] if run["policy"] in ("warped_slicer", "solo_curve")}
    print("| the H200 decides from | its own final partition | the model's unit | the model's solo curves |\n|---|---|---|---|")
    rows = []
    for what, words in CURVES:
        pairs = [pair for curve, pair in there if curve == what]
        alike = [sum(within_one(there["ctas", pair], there[what, pair]) for pair in pairs)]
        alike += [sum(within_one(ours[policy, pair], there[what, pair]) for pair in pairs if (policy, pair) in ours) for policy in ("warped_slicer", "solo_curve")]
        rows.append({"h200_decides_from": words, "h200_final": alike[0], "unit": alike[1], "solo_curves": alike[2]})
        print(f"| {words} | " + " | ".join(map(str, alike)) + " |")
    if len(sys.argv) == 1:
        write_results(RESULTS, looks=rows)


if __name__ == "__main__":
    main()
