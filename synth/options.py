#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each option of the unit costs: area, flops, latches and clock of sluice_top at the standard point, mapped with no option, with each alone, and
with all of them; or the named configurations, with 20 % of the period for inputs and outputs each, and 5 % uncertainty of the clock.

  synth/options.py [--liberty F] [--only OPTION ... | --named [NAME ...]] [--json F] [--jobs N]

Equal designs differ by ABC's choices: some 0.3 % of area, 3 to 10 % of clock. What was mapped before is kept, as synth/run.sh does."""
import argparse
import concurrent.futures
import json
import pathlib

import liberty
import mapping
import power
import timing
from command import positive, run, writable
from flow import OPTIONS, STANDARD, values_of

SIZES = {"LAUNCH_QUEUE": 2, "PATIENCE": 16, "CHURN": 15}   # of options that have one

USUAL = {"SM_READY": 1, "FLUSH": 12, "PRIORITY": 1, "PATIENCE": 16, "LAUNCH_QUEUE": 2}
NAMED = {"small": {}, "standard": USUAL, "full": USUAL | {"SM_ENABLE": 1, "CHURN": 15, "TAIL": 1, "REGION_UNITS": 64}}


def measure(options, library, share=0.0, uncertainty=0.0):
    values = values_of("sluice_top", STANDARD | options)
    work, stats = mapping.map_module("sluice_top", values, library, 0.7)
    return {"work": work, "options": options, "area_um2": stats["area_um2"], "flops": stats["flops"], "latches": stats["latches"],
            "fmax_mhz": timing.analyse(work, "sluice_top", library, 0.7, with_power=False, share=share, uncertainty=uncertainty)["fmax_mhz"]}


def named(names, library, pool, file, activity):
    """The configurations, as results/synth/configurations.json has them: what is measured here, and no more. What else that file says stays."""
    def row(name):
        found = measure(NAMED[name], library, share=0.2, uncertainty=0.05)
        out = {"name": name, "parameters": STANDARD | found["options"], "um2": found["area_um2"], "mhz": found["fmax_mhz"]}
        if activity:
            waveform = power.Waveform(power.changes(f"{activity}/activity_{name}.NamedConfigurationsDecide.fst", "TOP.sluice_top"))
            at = power.calculate(power.Netlist(found["work"] / "netlist.json", "sluice_top", library), waveform, out["mhz"])
            out |= {"mw": round(at["dynamic_mw"] + at["leakage_mw"], 2), "mw_at_mhz": out["mhz"]}
        print(f"{name:<10}{out['um2']:>9,.0f} um2{out['mhz']:>7,.0f} MHz" + (f"{out['mw']:>8,.1f} mW" if activity else ""), flush=True)
        return out

    rows = {r["name"]: r for r in pool.map(row, names)}
    if file:
        before = {r["name"]: r for r in mapping.kept(pathlib.Path(file)) or []}
        rows = [before.get(name, {}) | rows.get(name, {}) for name in NAMED if name in before or name in rows]
        pathlib.Path(file).write_text(json.dumps(rows, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(prog="synth/options.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--liberty", default=str(mapping.ROOT / "synth/tech/sluice45.cells"))
    parser.add_argument("--only", nargs="+", choices=[*OPTIONS, "all"], default=[*OPTIONS, "all"], help="beside the unit without options")
    parser.add_argument("--named", nargs="*", choices=NAMED, metavar="NAME", help=f"of the configurations {', '.join(NAMED)}, or all")
    parser.add_argument("--activity", metavar="FOLDER", help="with --named: power too, from what tb_sluice_top's SluiceTop.NamedConfigurationsDecide "
                        "writes with SLUICE_FST_DIR=FOLDER")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--jobs", type=positive(int), default=2)
    args = parser.parse_args()
    writable("--json", args.json)
    library = liberty.Library(args.liberty)
    every = {k: SIZES.get(k, 1) for k in OPTIONS}
    together = {k: v for k, v in every.items() if k != "BALANCE"}   # not with CHURN
    points = [{}, *({k: every[k]} for k in OPTIONS if k in args.only), *([together] if "all" in args.only else [])]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if args.named is not None:
            return named(args.named or list(NAMED), library, pool, args.json, args.activity)
        results = list(pool.map(lambda p: measure(p, library), points))
    base = results[0]
    print(f"{library.path.name}, {STANDARD}: cell area before layout")
    print(f"{'option':<18}{'um2':>9}{'more':>8}{'flops':>7}{'more':>6}{'latches':>9}{'MHz':>7}")
    for r in results:
        name = "all" if len(r["options"]) > 1 else "".join(f"{k} = {v}" for k, v in r["options"].items()) or "none"
        print(f"{name:<18}{r['area_um2']:>9,.0f}{r['area_um2'] - base['area_um2']:>+8,.0f}{r['flops']:>7,}{r['flops'] - base['flops']:>+6,}"
              f"{r['latches']:>9,}{r['fmax_mhz']:>7,.0f}")
    if args.json:
        points = [{k: v for k, v in r.items() if k != "work"} for r in results]
        pathlib.Path(args.json).write_text(json.dumps({"liberty": library.path.name, "params": STANDARD, "points": points}, indent=1) + "\n")


if __name__ == "__main__":
    run(main)
