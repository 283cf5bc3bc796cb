#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Area, clock and power of sluice_top at the standard point with DYNAMIC alone, with BALANCE beside it, and with BALANCE alone.

  synth/modes.py --activity FOLDER [--liberty F] [--json F] [--jobs N]

FOLDER is where SLUICE_FST_DIR=FOLDER build/release/bin/tb_balance_modes wrote what happens in each mode. Power is at the unit's own clock."""
import argparse
import concurrent.futures
import json
import pathlib

import liberty
import mapping
import power
from command import positive, writable
from options import measure

UNITS = {"DYNAMIC alone": ({}, {"dynamic": "dynamic"}), "both": ({"BALANCE": 1}, {"dynamic": "both_dynamic", "balance": "both_balance"}),
         "BALANCE alone": ({"BALANCE": 2}, {"balance": "only_balance"})}


def row(name, library, folder):
    options, modes = UNITS[name]
    found = measure(options, library)
    out = {"name": name, "parameters": options, "um2": found["area_um2"], "flops": found["flops"], "latches": found["latches"], "mhz": found["fmax_mhz"]}
    netlist = power.Netlist(found["work"] / "netlist.json", "sluice_top", library)
    for mode, what in modes.items():
        waveform = power.Waveform(power.changes(f"{folder}/activity_{what}.EachDecides.fst", "TOP.sluice_top"))
        at = power.calculate(netlist, waveform, out["mhz"])
        out[f"mw_{mode}"] = round(at["dynamic_mw"] + at["leakage_mw"], 2)
        out[f"cycles_{mode}"] = waveform.cycles
    print(json.dumps(out), flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(prog="synth/modes.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--activity", required=True, metavar="FOLDER")
    parser.add_argument("--liberty", default=str(mapping.ROOT / "synth/tech/sluice45.cells"))
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--jobs", type=positive(int), default=2)
    args = parser.parse_args()
    writable("--json", args.json)
    library = liberty.Library(args.liberty)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda name: row(name, library, args.activity), UNITS))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


main()
