#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model beside silicon: results.json, of which the pages here are made, from the lines kept in these folders. Needs no GPU.

usage: rebuild.py                            results.json anew
       rebuild.py --measured FOLDER          first keeps what measure.sh left in FOLDER
       rebuild.py --evaluated OUT FILE...    first makes shared/OUT of what `sluice eval` wrote; of two runs that are alike it keeps the first
       rebuild.py --import SLUICE            first runs the model on the source pages (ten minutes)"""
import argparse
import csv
import gzip
import json
import lzma
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SILICON, SHARED, PAGES = HERE.parent / "h200", HERE / "shared", HERE / "source_page"
MODEL = "model-h200_sm90.jsonl"
KEPT = ("launch", "cycles", "warp_instructions", "l1_miss_rate", "l2_miss_rate", "dram_bytes", "cpu_seconds", "peak_rss_mib")
COUNTED = ("Kernel Name", "gpc__cycles", "smsp__inst", "sass__inst", "dram__bytes", "lts__t_sectors", "l1tex__t_")
POLICIES = ("left_over", "even", "spatial", "warped_slicer")
QUOTAS = ("even", "warped_slicer")  # on the GPU these run in Sluice's runtime
ORDER = "BLK BFS DXT HOT IMG KNN LBM MM MVP NN".split()  # in which the GPU's pairs are named
ISSUE_BOUND = {"MM", "HOT", "BLK", "DXT", "IMG"}
LONG = 100_000  # cycles of a window that gives an STP
CLOCK, SMS = 1.98e9, 132  # of the GPU
CAPACITY = {"registers": 65536, "shared_memory_bytes": 233472, "threads": 2048, "cta_slots": 32}
CURVES = (("sampled", "one look at all counts"), ("scaled", "and one at full occupancy"), ("refined", "and looks where the decision falls"), ("ctas", "what was in force"))


def lines(path):
    """Of FILE, as it was measured, or of FILE.xz, as it is kept."""
    packed = path.with_name(path.name + ".xz")
    text = path.read_text() if path.exists() else lzma.open(packed, "rt").read() if packed.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def table(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def keep_measured(folder):
    def keep(name, rows):
        with lzma.open(HERE / (name + ".xz"), "wt", preset=9 | lzma.PRESET_EXTREME) as out:
            out.writelines(json.dumps(r) + "\n" for r in rows)

    found, rank = {}, lambda p: (p.name.split("-")[1], int(re.search(r"(\d+)\.csv", p.name).group(1)))
    for path in sorted(folder.glob("ncu-*.csv"), key=rank):
        rows = list(csv.reader(line for line in path.read_text().splitlines() if line.startswith('"')))
        column = {name: i for i, name in enumerate(rows[0])} if rows else {}
        alike = {}  # a launch that came several times has its last
        for row in rows[2:]:
            name = re.sub(r"^void ", "", row[column["Kernel Name"]])
            alike[name, row[column["Grid Size"]], row[column["Block Size"]]] = {metric: row[i] for metric, i in column.items()}
        for (name, _, _), figures in alike.items():
            for launch, _, function, spec in table(HERE / "launches.tsv"):
                template = re.search(r"<(\w+)", spec)
                if function == re.match(r"\w+", name).group(0) and launch not in found and (template is None or f"<{template.group(1)}" in name):
                    found[launch] = figures
                    break
    keep("counted.jsonl", [{"launch": n, **{k: v for k, v in f.items() if k.startswith(COUNTED)}} for n, f in found.items()])
    keep("recorded.jsonl", lines(folder / "recorded.jsonl"))
    keep(MODEL, [{k: r[k] for k in KEPT} for r in lines(folder / MODEL) if "cycles" in r])


def keep_evaluated(name, files):
    curves, pairs, known = {}, [], set()
    for file in files:
        results = json.loads(pathlib.Path(file).read_text())
        for kernel in results["solo"]:
            if len(kernel["curve"]) > 1 and kernel["curve"][-1] > 0:
                curves.setdefault(kernel["kernel"], kernel["curve"])
        for run in results["runs"]:
            order = sorted(range(len(run["kernels"])), key=lambda k: ORDER.index(run["kernels"][k]))
            names, ctas = ([of[k] for k in order if k < len(of)] for of in (run["kernels"], run["partition"]["ctas"]))
            if run["policy"] in (*POLICIES, "solo_curve") and (*names, run["policy"]) not in known:
                known.add((*names, run["policy"]))
                long = results["meta"]["window_cycles"] >= LONG  # else the partition alone says something
                pairs.append({"kernels": names, "policy": run["policy"], "stp": round(run["stp"], 4) if long else None, "ctas": ctas})
    text = ",\n".join(" " + json.dumps(p) for p in pairs)
    (SHARED / name).write_text('{"curves": ' + json.dumps(curves) + ',\n"pairs": [\n' + text + "\n]}\n")


def import_pages(sluice):
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for page in ("unseen", "seen"):
            files = []
            for kind in ("raw", "source"):
                files.append(pathlib.Path(folder) / f"{page}.{kind}.csv")
                files[-1].write_bytes(gzip.decompress((PAGES / f"{page}.{kind}.csv.gz").read_bytes()))
            command = [sluice, "import", "ncu", files[0], "--source", files[1], "--machine", HERE.parents[1] / "configs/machines/h100_sm90.toml",
                       "--window", "300000", "--json"]
            out[page] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    (PAGES / "model.json").write_text(json.dumps(out, indent=1) + "\n")


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", type=pathlib.Path)
    parser.add_argument("--evaluated", nargs="+")
    parser.add_argument("--import", dest="sluice")
    options = parser.parse_args()
    if options.measured:
        keep_measured(options.measured)
    if options.evaluated:
        keep_evaluated(options.evaluated[0], options.evaluated[1:])
    if options.sluice:
        import_pages(options.sluice)
    model = json.loads((SHARED / "model.json").read_text())
    curves, slowdown, progress, ctas = silicon()
    every = pairs(model, slowdown, progress, ctas)
    parts = {"kernels": kernels(), "pairs": [p for p in every if p["policy"] in POLICIES], "solo_curve_pairs": [p for p in every if p["policy"] == "solo_curve"],
             "curves": list(curve_errors(model, curves)), "turnaround": turnaround(), "looks": looks(model), "older_first": list(older_first(curves))}
    text = ",\n ".join(json.dumps(name) + ": [\n" + ",\n".join("  " + json.dumps(entry) for entry in entries) + "\n ]" for name, entries in parts.items())
    (HERE / "results.json").write_text("{" + text + "}\n")


if __name__ == "__main__":
    main()
