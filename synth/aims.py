#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far two aims are: 1,000 MHz with the shares of rtl/sluice.sdc, and the standard configuration below 110,000 um2. Maps the named configurations as
they are, for a shorter period, for area, and with registers counted in units of 64 and shared memory in units of 128 bytes; times each with no share of
the period for inputs and outputs (as if registers were at all ports), with 20 % and with 40 % each; 5 % uncertainty of the clock.

  synth/aims.py [--liberty F] [--json F] [--jobs N] [TRY ...]"""
import argparse
import concurrent.futures
import json
import pathlib

import liberty
import mapping
import timing
from command import positive, run, writable
from flow import STANDARD, values_of
from options import NAMED

UNITS = {"RegW": 11, "SharedW": 12}   # 65,536 / 64 and 228 KB / 128 bytes
TRIES = {   # configuration, period that the mapping aims at, script, fields
    "small": ("small", 0.7, "fast", {}), "standard": ("standard", 0.7, "fast", {}),
    "small_0.5": ("small", 0.5, "fast", {}), "small_units": ("small", 0.7, "fast", UNITS), "small_units_0.5": ("small", 0.5, "fast", UNITS),
    "standard_area": ("standard", 0.7, "small", {}), "standard_units": ("standard", 0.7, "fast", UNITS),
    "standard_units_area": ("standard", 0.7, "small", UNITS)}


def measure(name, library):
    configuration, period, script, fields = TRIES[name]
    work, stats = mapping.map_module("sluice_top", values_of("sluice_top", STANDARD | NAMED[configuration]), library, period, script, fields=fields)
    row = {"try": name, "configuration": configuration, "aimed_ns": period, "script": script, "fields": fields, "um2": stats["area_um2"]}
    for percent in (0, 20, 40):
        path = timing.analyse(work, "sluice_top", library, period, with_power=False, share=percent / 100, uncertainty=0.05)
        row[f"mhz_{percent}"] = path["fmax_mhz"]
        row[f"path_{percent}"] = [path["start"], path["end"]]
    print(f"{name:<22}{row['um2']:>9,.0f} um2" + "".join(f"{row[f'mhz_{p}']:>7,.0f} MHz at {p} %" for p in (0, 20, 40)), flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(prog="synth/aims.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tries", nargs="*", metavar="TRY", help=", ".join(TRIES))
    parser.add_argument("--liberty", default=str(mapping.ROOT / "synth/tech/sluice45.cells"))
    parser.add_argument("--json", metavar="FILE", help="rows of these tries; others that it has stay")
    parser.add_argument("--jobs", type=positive(int), default=2)
    args = parser.parse_args()
    for name in args.tries:
        if name not in TRIES:
            parser.error(f"{name}: no such try; there are: {', '.join(TRIES)}")
    writable("--json", args.json)
    library = liberty.Library(args.liberty)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = {r["try"]: r for r in pool.map(lambda name: measure(name, library), args.tries or list(TRIES))}
    if args.json:
        rows = {r["try"]: r for r in mapping.kept(pathlib.Path(args.json)) or []} | rows
        pathlib.Path(args.json).write_text(json.dumps([rows[name] for name in TRIES if name in rows], indent=1) + "\n")


if __name__ == "__main__":
    run(main)
