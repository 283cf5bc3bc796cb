#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps new measurements in these folders, and then makes results.json anew.

usage: take_in.py measured FOLDER           what measure.sh left in FOLDER
       take_in.py evaluated OUT FILE...     shared/OUT of what `sluice eval` wrote; of two runs that are alike it keeps the first
       take_in.py pages SLUICE              runs the model on the source pages (ten minutes)"""
import csv
import gzip
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

import rebuild
from rebuild import HERE, MODEL, PAGES, POLICIES, SHARED, lines, table

KEPT = ("launch", "cycles", "warp_instructions", "l1_miss_rate", "l2_miss_rate", "dram_bytes", "cpu_seconds", "peak_rss_mib")
COUNTED = ("Kernel Name", "gpc__cycles", "smsp__inst", "sass__inst", "dram__bytes", "lts__t_sectors", "l1tex__t_")
ORDER = "BLK BFS DXT HOT IMG KNN LBM MM MVP NN".split()  # in which the GPU's pairs are named
LONG = 100_000  # cycles of a window that gives an STP


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


if __name__ == "__main__":
    what, *arguments = sys.argv[1:] or sys.exit(__doc__)
    if what == "measured":
        keep_measured(pathlib.Path(arguments[0]))
    elif what == "evaluated":
        keep_evaluated(arguments[0], arguments[1:])
    elif what == "pages":
        import_pages(arguments[0])
    else:
        sys.exit(__doc__)
    rebuild.main()
