#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that share a GPU: the model beside an H200. Curves over CTA counts, and pairs under four policies.

usage: compare.py [--model FILE] [--take RESULTS.json ...]
prints tables from model.json and results/h200/{curves,pairs}.jsonl, and writes what README.md quotes into results.json; --model: from another
file, and writes none; --take: makes that file anew from what `sluice eval` wrote. Of two runs that are alike it keeps the first file's."""
import argparse
import json
import lzma
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
SILICON = HERE.parents[1] / "h200"
RESULTS = HERE.parent / "results.json"
sys.path.append(str(HERE.parent))
from errors import rank, write_results  # noqa: E402

POLICIES = ("left_over", "even", "spatial", "warped_slicer")
LONG = 100_000  # cycles of a window that gives an STP
CLOCK, SMS = 1.98e9, 132  # of the GPU
ORDER = "BLK BFS DXT HOT IMG KNN LBM MM MVP NN".split()  # in which the GPU's pairs are named
QUOTAS = ("even", "warped_slicer")  # on the GPU these run in Sluice's runtime


def lines(name):
    return [json.loads(line) for line in lzma.open(SILICON / (name + ".xz"), "rt")]


def take(files, out):
    curves, pairs, known = {}, [], set()
    for file in files:
        results = json.loads(pathlib.Path(file).read_text())
        for kernel in results["solo"]:
            if len(kernel["curve"]) > 1 and kernel["curve"][-1] > 0:
                curves.setdefault(kernel["kernel"], kernel["curve"])
        for run in results["runs"]:
            order = sorted(range(len(run["kernels"])), key=lambda k: ORDER.index(run["kernels"][k]))
            names, ctas = ([of[k] for k in order if k < len(of)] for of in (run["kernels"], run["partition"]["ctas"]))
            what = (*names, run["policy"])
            if run["policy"] in POLICIES + ("solo_curve",) and what not in known:
                known.add(what)
                long = results["meta"]["window_cycles"] >= LONG  # else the partition alone says something
                pairs.append({"kernels": names, "policy": run["policy"], "stp": round(run["stp"], 4) if long else None, "ctas": ctas})
    text = ",\n".join(" " + json.dumps(p) for p in pairs)
    (HERE / out).write_text('{"curves": ' + json.dumps(curves) + ',\n"pairs": [\n' + text + "\n]}\n")


def silicon():
    curves, slowdown = {}, {}
    for line in lines("curves.jsonl"):
        points = [statistics.median(run) for run in zip(*line["blocks_per_second"])]
        curves[line["app"]] = points
        slowdown[line["app"]] = statistics.median(line["native_blocks_per_second"]) / max(points)
    progress, ctas = {}, {}
    for line in lines("pairs.jsonl"):
        key = ("_".join(line.get("kernels", [])), line["policy"])
        if "/finish/" in line["key"]:
            progress.setdefault(key, []).append([a / b for a, b in zip(line["alone_seconds"], line["finish_seconds"])])
        elif line["policy"] in QUOTAS and "ctas" in line:
            ctas.setdefault(key, []).append(tuple(line["ctas"]))
    return curves, slowdown, progress, {k: max(set(v), key=v.count) for k, v in ctas.items()}


def correlation(a, b):
    return statistics.correlation(rank(a), rank(b))


def mean(values):
    return math.exp(statistics.mean(map(math.log, values)))


def print_curves(model, curves):
    """A line a kernel; the same as rows of results.json."""
    print("| kernel | CTA counts | mean error | largest |\n|---|---|---|---|")
    rows = []
    for name, points in model["curves"].items():
        common = min(len(points), len(curves[name]))
        errors = [abs(m / max(points) - s / max(curves[name])) for m, s in zip(points[:common], curves[name][:common])]
        rows.append({"kernel": name, "counts": common, "mean_error": round(statistics.mean(errors), 4), "largest_error": round(max(errors), 4)})
        print(f"| {name} | {common} | {rows[-1]['mean_error']:.3f} | {rows[-1]['largest_error']:.2f} |")
    every = [row["mean_error"] for row in rows]
    print(f"\ncurves: mean of the kernels {statistics.mean(every):.3f}, largest of a kernel {max(every):.3f}")
    return rows


def print_turnaround():
    """Cycles of a block beside its own, at the clock of `curves.jsonl`; the same as rows of results.json."""
    beside, rows = {}, []
    for line in map(json.loads, lzma.open(HERE / "turnaround.jsonl.xz", "rt")):
        each = line["seconds"] * CLOCK * SMS * line["quota"] / line["blocks"] - line["cycles"]
        beside.setdefault((line["quota"], " of warps apart" if line["threads"] % 32 else ""), []).append(each)
    for (quota, apart), cycles in beside.items():
        print(f"a block{apart} beside its own time, quota {quota}: {min(cycles):.0f} to {max(cycles):.0f} cycles, median {statistics.median(cycles):.0f}")
        rows.append({"quota": quota, "warps_apart": bool(apart), "least": round(min(cycles)), "median": round(statistics.median(cycles)), "most": round(max(cycles))})
    return rows


def compare(model, slowdown, progress, ctas):
    """A pair under each policy; the decisions of the solo curves stand beside the silicon's Warped-Slicer."""
    out = []
    for run in model["pairs"]:
        key = ("_".join(run["kernels"]), "warped_slicer" if run["policy"] == "solo_curve" else run["policy"])
        each = [statistics.median(values) for values in zip(*progress[key])]
        there = ctas.get(key, ())
        entry = {"kernels": run["kernels"], "policy": run["policy"], "h200_stp": round(sum(each), 4), "model_stp": run["stp"]}
        if key[1] in QUOTAS:
            entry["h200_stp_same_runtime"] = round(sum(e * slowdown[k] for e, k in zip(each, run["kernels"])), 4)
            entry |= {"h200_ctas": list(there), "model_ctas": run["ctas"]}
        out.append(entry)
    return out


def within_one(ours, theirs):
    return len(ours) == 2 and all(abs(a - b) <= 1 for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="model.json")
    parser.add_argument("--take", nargs="+")
    options = parser.parse_args()
    if options.take:
        take(options.take, options.model)
    model = json.loads((HERE / options.model).read_text())
    curves, slowdown, progress, ctas = silicon()
    parts = {"curves": print_curves(model, curves), "turnaround": print_turnaround()} if model["curves"] else {}
    pairs = compare(model, slowdown, progress, ctas)
    print("\n| policy | pairs | STP, H200 | model | rank correlation | mean absolute error | same runtime: STP, H200 | rank correlation | error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for policy in POLICIES + ("solo_curve",):
        some = [p for p in pairs if p["policy"] == policy]
        if len(some) < 3 or any(p["model_stp"] is None for p in some):
            continue
        model_stp = [p["model_stp"] for p in some]
        cells = [policy, str(len(some))]
        for key in ("h200_stp", "h200_stp_same_runtime"):
            if key not in some[0]:
                cells += ["-"] * 3
                continue
            there = [p[key] for p in some]
            error = statistics.mean(abs(m / s - 1) for m, s in zip(model_stp, there))
            cells += [f"{mean(there):.3f}"] + ([f"{mean(model_stp):.3f}"] if key == "h200_stp" else [])
            cells += [f"{correlation(there, model_stp):.3f}", f"{100 * error:.1f} %"]
        print("| " + " | ".join(cells) + " |")
    for policy, text in (("warped_slicer", "Warped-Slicer's decisions"), ("solo_curve", "the model's solo curves' decisions")):
        some = [r for r in model["pairs"] if r["policy"] == policy]
        same = [within_one(r["ctas"], ctas["_".join(r["kernels"]), "warped_slicer"]) for r in some]
        if some:
            print(f"\n{text} beside the H200's: within a CTA in {sum(same)} of {len(same)}")
            print("others: " + ", ".join(f"{'_'.join(r['kernels'])} ({','.join(map(str, r['ctas']))}; H200 "
                                         f"{','.join(map(str, ctas['_'.join(r['kernels']), 'warped_slicer']))})" for r, ok in zip(some, same) if not ok))
    if options.model != "model.json":
        return
    write_results(RESULTS, pairs=[p for p in pairs if p["policy"] in POLICIES], solo_curve_pairs=[p for p in pairs if p["policy"] == "solo_curve"], **parts)


if __name__ == "__main__":
    main()
