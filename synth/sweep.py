#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Area, fmax and leakage of the unit over its parameters: K = 2..8, N = 8, 16, 32, NUM_SM = 16, 64, 132, with and without regions.

  synth/sweep.py --liberty F --json results.json [--only K,N,SM,REGIONS] [--jobs N]

Each point maps the blocks by themselves; their sum stands for the unit (the counters once an SM), the slowest gives its fmax. Points that are in the JSON file
already are kept, so that it can be stopped and goes on; a point whose RTL changed is measured again with --again. The large ones take a long time."""
import argparse
import concurrent.futures
import json
import os
import pathlib

import liberty
import mapping
import timing
from command import positive, run, writable
from flow import BLOCKS, STANDARD

SWEEPS = {"K": ("MAX_KERNELS", range(2, 9)), "N": ("MAX_CTAS", (8, 16, 32)), "SM": ("NUM_SM", (16, 64, 132)), "REGIONS": ("REGION_UNITS", (0, 16, 64, 128))}
LEAVES = [b for b, (_, group) in BLOCKS.items() if group and b != "sluice_top"]


def block(name, parameters, library):
    values = {k: parameters[k] for k in BLOCKS[name][0]}
    work, stats = mapping.map_module(name, values, library, 0.7)
    path = timing.analyse(work, name, library, 0.7)
    count = parameters["NUM_SM"] if name == "profile_counters" else 1
    return name, {"area_um2": round(count * stats["area_um2"], 1), "flops": count * stats["flops"], "fmax_mhz": path["fmax_mhz"],
                  "leakage_mw": round(count * stats["leakage_mw"], 5)}


def measure(parameters, library, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        blocks = dict(pool.map(lambda n: block(n, parameters, library), LEAVES))
    slowest = min((n for n in LEAVES if blocks[n]["fmax_mhz"]), key=lambda n: blocks[n]["fmax_mhz"])
    return {"params": parameters, "area_um2": round(sum(b["area_um2"] for b in blocks.values()), 1), "fmax_mhz": blocks[slowest]["fmax_mhz"],
            "slowest": slowest, "leakage_mw": round(sum(b["leakage_mw"] for b in blocks.values()), 5), "blocks": blocks}


def earlier(file):
    """What an earlier sweep left."""
    try:
        results = json.loads(file.read_text())
        if all({"params", "blocks"} <= point.keys() for point in results["points"]):
            return results
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise SystemExit(f"synth: --json {file}: is not what synth/sweep.py writes; another name, or remove it")


def main():
    parser = argparse.ArgumentParser(prog="synth/sweep.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--liberty", default=str(mapping.ROOT / "synth/tech/sluice45.cells"))
    parser.add_argument("--json", required=True, metavar="FILE")
    parser.add_argument("--only", default=",".join(SWEEPS), metavar="LIST", help=f"of {','.join(SWEEPS)} (default: all)")
    parser.add_argument("--most", type=positive(int), default=256, metavar="NUM_SM", help="leave out points with more SMs")
    parser.add_argument("--again", action="store_true", help="measure points that are in the file, too")
    parser.add_argument("--jobs", type=positive(int), default=2)
    args = parser.parse_args()
    wrong = set(args.only.split(",")) - SWEEPS.keys()
    if wrong:
        parser.error(f"--only {args.only}: allowed are {','.join(SWEEPS)}")
    writable("--json", args.json)
    library, file = liberty.Library(args.liberty), pathlib.Path(args.json)
    results = {"liberty": library.path.name, "points": []}
    if file.exists():
        results = earlier(file)
        if results.get("liberty") != library.path.name:
            parser.error(f"--json {file}: of {results.get('liberty')}, not of {library.path.name}")
    for key in args.only.split(","):
        name, values = SWEEPS[key]
        for value in values:
            parameters = STANDARD | {name: value}
            others = [p for p in results["points"] if p["params"] != parameters]
            if parameters["NUM_SM"] > args.most or (len(others) < len(results["points"]) and not args.again):
                continue
            point = measure(parameters, library, args.jobs)
            results["points"] = [*others, point]
            written = file.with_suffix(".part")
            written.write_text(json.dumps(results, indent=1) + "\n")
            os.replace(written, file)
            print(f"{name} {value}: {point['area_um2']:,.0f} um2, {point['fmax_mhz']:.0f} MHz ({point['slowest']}), leakage {point['leakage_mw']:.2f} mW", flush=True)


if __name__ == "__main__":
    run(main)
