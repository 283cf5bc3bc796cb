#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of unit.csv, the form of `balance` that the RTL has, from evaluations that ran it beside its twin or alone.

  results/balance/unit.py RESULTS.json ...

RESULTS.json is what `sluice eval --policies balance --balance unit=true --partitioner both --window 2000000 --pairs MIX` writes. A row of the same mix and
workload is replaced; those of other mixes stay."""
import csv
import json
import pathlib
import sys

FILE = pathlib.Path(__file__).parent / "unit.csv"


def row(run, meta):
    decision = [d for d in run["decisions"] if len(d["kernels"]) == len(run["kernels"])][-1]   # not of those that are left
    kept = decision["candidates"][decision["kept"]] if decision["kept"] >= 0 else None
    counts = kept["ctas"] if kept else []
    partition = "(" + ",".join(map(str, counts)) + ")" if counts else "FCFS" if kept else "in order"
    return {"workload": meta["workload"], "mix": "_".join(run["kernels"]), "partitioner": meta["partitioner"], "cycles": run["cycles"], "stp": run["stp"],
            "antt": run["antt"], "partition": partition, "reason": decision["reason"], "promised": kept["score"] if kept else "", "decided": decision["decided_at"]}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with FILE.open() as file:
        rows = {(r["workload"], r["mix"]): r for r in csv.DictReader(file)}
    for path in sys.argv[1:]:
        data = json.loads(pathlib.Path(path).read_text())
        for run in data["runs"]:
            if run["policy"] == "balance" and run["decisions"]:
                new = row(run, data["meta"])
                rows[new["workload"], new["mix"]] = new
    names = ["workload", "mix", "partitioner", "cycles", "stp", "antt", "partition", "reason", "promised", "decided"]
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[k] for k in sorted(rows, key=lambda k: (k[0], k[1].count("_"), k[1])))


main()
