#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model beside silicon: results.json, of which the pages here are made, from the lines kept in these folders. Needs no GPU.
take_in.py puts new lines there."""
import json
import lzma
import pathlib
import statistics

from water_fill import water_fill

HERE = pathlib.Path(__file__).resolve().parent
SILICON, SHARED, PAGES = HERE.parent / "h200", HERE / "shared", HERE / "source_page"
MODEL = "model-h200_sm90.jsonl"
POLICIES = ("left_over", "even", "spatial", "warped_slicer")
QUOTAS = ("even", "warped_slicer")  # on the GPU these run in Sluice's runtime
ISSUE_BOUND = {"MM", "HOT", "BLK", "DXT", "IMG"}
CLOCK, SMS = 1.98e9, 132  # of the GPU
CURVES = (("sampled", "one look at all counts"), ("scaled", "and one at full occupancy"), ("refined", "and looks where the decision falls"), ("ctas", "what was in force"))


def lines(path):
    """Of FILE, as it was measured, or of FILE.xz, as it is kept."""
    packed = path.with_name(path.name + ".xz")
    text = path.read_text() if path.exists() else lzma.open(packed, "rt").read() if packed.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def table(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def kernels():
    recorded = {r["launch"]: r["kernels"][0] for r in lines(HERE / "recorded.jsonl")}
    model = {r["launch"]: r["cycles"] for r in lines(HERE / MODEL)}
    counted = {r["launch"]: r for r in lines(HERE / "counted.jsonl")}
    out = [{"name": name, "list": which, "source": "recorded", "h200_cycles": int(counted[name]["gpc__cycles_elapsed.max"].replace(",", "").split(" ")[0]),
            "model_cycles": model[name]} for name, which, _, _ in table(HERE / "launches.tsv")
           if name in model and name in counted and recorded.get(name, {}).get("warp_instructions")]
    pages = json.loads((PAGES / "model.json").read_text())
    for name, which, page, kernel, _ in table(PAGES / "launches.tsv"):
        k = pages[page][int(kernel)]
        out.append({"name": name, "list": which, "source": "ncu_source", "h200_cycles": k["measured"]["cycles"], "model_cycles": k["modelled"]["cycles"],
                    "gpu": "NVIDIA H100"})
    return out


def frequent(found):
    return {key: max(set(all_), key=all_.count) for key, all_ in found.items()}


def silicon():
    """Curves and what the runtime costs alone; of each pair under each policy progress, and the most frequent partition."""
    curves, slowdown, progress, ctas = {}, {}, {}, {}
    for line in lines(SILICON / "curves.jsonl"):
        curves[line["app"]] = [statistics.median(run) for run in zip(*line["blocks_per_second"])]
        slowdown[line["app"]] = statistics.median(line["native_blocks_per_second"]) / max(curves[line["app"]])
    for line in lines(SILICON / "pairs.jsonl"):
        key = ("_".join(line.get("kernels", [])), line["policy"])
        if "/finish/" in line["key"]:
            progress.setdefault(key, []).append([a / b for a, b in zip(line["alone_seconds"], line["finish_seconds"])])
        elif line["policy"] in QUOTAS and "ctas" in line:
            ctas.setdefault(key, []).append(tuple(line["ctas"]))
    return curves, slowdown, progress, frequent(ctas)


def pairs(model, slowdown, progress, ctas):
    """A pair under each policy; the decisions of the solo curves stand beside the silicon's Warped-Slicer."""
    out = []
    for run in model["pairs"]:
        key = ("_".join(run["kernels"]), "warped_slicer" if run["policy"] == "solo_curve" else run["policy"])
        each = [statistics.median(values) for values in zip(*progress[key])]
        entry = {"kernels": run["kernels"], "policy": run["policy"], "h200_stp": round(sum(each), 4), "model_stp": run["stp"]}
        if key[1] in QUOTAS:
            entry["h200_stp_same_runtime"] = round(sum(e * slowdown[k] for e, k in zip(each, run["kernels"])), 4)
            entry |= {"h200_ctas": list(ctas.get(key, ())), "model_ctas": run["ctas"]}
        out.append(entry)
    return out


def curve_errors(model, curves):
    for name, points in model["curves"].items():
        errors = [abs(m / max(points) - s / max(curves[name])) for m, s in zip(points, curves[name])]
        yield {"kernel": name, "counts": len(errors), "mean_error": round(statistics.mean(errors), 4), "largest_error": round(max(errors), 4)}


def turnaround():
    """Cycles of a block beside its own, at the clock of the curves."""
    beside = {}
    for line in lines(SHARED / "turnaround.jsonl"):
        each = line["seconds"] * CLOCK * SMS * line["quota"] / line["blocks"] - line["cycles"]
        beside.setdefault((line["quota"], line["threads"] % 32 > 0), []).append(each)
    return [{"quota": quota, "warps_apart": apart, "least": round(min(c)), "median": round(statistics.median(c)), "most": round(max(c))}
            for (quota, apart), c in beside.items()]


def looks(model):
    """Like with like: partitions of one look at all CTA counts, on the H200 and by the model's unit. The H200's runtime keeps the curves of its first
    window, of the second one and those refined where its decision falls; each decides here by itself."""
    demand = {line["app"]: line["demand"] for line in lines(SILICON / "curves.jsonl")}
    there = {}
    for line in lines(SILICON / "pairs.jsonl"):
        if line.get("policy") == "warped_slicer" and "sampled" in line:
            for what, _ in CURVES:
                ctas = line[what] if what == "ctas" else water_fill(line[what], [demand[name] for name in line["kernels"]])
                there.setdefault((what, "_".join(line["kernels"])), []).append(tuple(ctas))
    there = frequent(there)
    ours = {(run["policy"], "_".join(run["kernels"])): run["ctas"] for run in model["pairs"]}

    def alike(what, partition):
        near = lambda a, b: len(a) == 2 and all(abs(x - y) <= 1 for x, y in zip(a, b))  # noqa: E731
        return sum(near(partition(pair), there[what, pair]) for curve, pair in there if curve == what and partition(pair))

    return [{"h200_decides_from": words, "h200_final": alike(what, lambda pair: there["ctas", pair]),
             "unit": alike(what, lambda pair: ours.get(("warped_slicer", pair))), "solo_curves": alike(what, lambda pair: ours.get(("solo_curve", pair)))}
            for what, words in CURVES]


def older_first(alone):
    """Which kernel of a pair goes first on an H200: what each keeps of its own rate with as many CTAs alone, nearest to half the SM for each."""
    registers = {line["app"]: line["demand"]["registers"] for line in lines(SILICON / "curves.jsonl")}
    for line in lines(SILICON / "pairs.jsonl"):
        if "sweep" in line and set(line["kernels"]) <= ISSUE_BOUND:
            names = line["kernels"]
            point = min(line["sweep"], key=lambda p: sum(abs(c / len(alone[name]) - 0.5) for c, name in zip(p["ctas"], names)))
            each = [rate / alone[name][ctas - 1] for name, rate, ctas in zip(names, point["blocks_per_second"], point["ctas"])]
            order = sorted(range(2), key=lambda k: -registers[names[k]])  # as the runtime places them
            yield {"kernels": [names[k] for k in order], "ctas": [point["ctas"][k] for k in order], "keeps": [round(each[k], 4) for k in order]}


def main():
    model = json.loads((SHARED / "model.json").read_text())
    curves, slowdown, progress, ctas = silicon()
    every = pairs(model, slowdown, progress, ctas)
    parts = {"kernels": kernels(), "pairs": [p for p in every if p["policy"] in POLICIES], "solo_curve_pairs": [p for p in every if p["policy"] == "solo_curve"],
             "curves": list(curve_errors(model, curves)), "turnaround": turnaround(), "looks": looks(model), "older_first": list(older_first(curves))}
    text = ",\n ".join(json.dumps(name) + ": [\n" + ",\n".join("  " + json.dumps(entry) for entry in entries) + "\n ]" for name, entries in parts.items())
    (HERE / "results.json").write_text("{" + text + "}\n")


if __name__ == "__main__":
    main()
