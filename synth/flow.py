#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Area, timing and leakage of the partition unit: Yosys and ABC map every block and the whole unit to a Liberty library, OpenSTA times them.

Figures are cell area before layout, without a clock tree or wires; area / 0.7 is what a floorplan at 70 % utilisation takes.
The dispatcher is mapped twice: with count-only admission (REGION_UNITS = 0), and with contiguous regions for area (script small). Work is kept in build/synth: a
block whose inputs did not change is not mapped again."""
import argparse
import concurrent.futures
import json
import pathlib
import sys

import equivalence
import liberty
import mapping
import power
import report
import timing
from command import positive, readable, run, writable

STANDARD = {"NUM_SM": 16, "MAX_KERNELS": 4, "MAX_CTAS": 8, "NUM_SCHED": 2, "REGION_UNITS": 0}
# Options of the unit, off where --param does not name them, and the blocks that take each beside sluice_top.
OPTIONS = {"SM_ENABLE": ["cta_dispatcher", "sluice_csr", "partition_sequencer"], "SM_READY": ["cta_dispatcher"], "LAUNCH_QUEUE": ["sluice_csr"],
           "FLUSH": ["cta_dispatcher", "sluice_csr"], "PRIORITY": ["cta_dispatcher", "sluice_csr"], "PATIENCE": ["cta_dispatcher"], "TAIL": ["cta_dispatcher", "sluice_csr"],
           "CHURN": ["partition_sequencer", "partition_core", "sluice_csr"], "BALANCE": ["sluice_csr"]}
RANGES = {"NUM_SM": (1, 256), "MAX_KERNELS": (2, 8), "MAX_CTAS": (4, 32), "NUM_SCHED": (1, 4), "REGION_UNITS": (0, 128),
          **dict.fromkeys(OPTIONS, (0, 1)), "LAUNCH_QUEUE": (0, 8), "FLUSH": (0, 20), "PATIENCE": (0, 20), "CHURN": (0, 19), "BALANCE": (0, 2)}
NOT_REGIONS = {f"REGION_UNITS={n}" for n in range(1, 16)}
# Blocks, with the parameters each takes and the group it is counted in.
BLOCKS = {
    "profile_counters": (["NUM_SCHED", "MAX_KERNELS"], "counters"),
    "perf_table": (["MAX_KERNELS", "MAX_CTAS"], ""),
    "serial_unit": (["MAX_CTAS"], ""),
    "decision_steps": (["MAX_KERNELS", "MAX_CTAS"], ""),
    "partition_core": (["MAX_KERNELS", "MAX_CTAS"], "algorithm"),
    "balance_search": (["MAX_KERNELS", "MAX_CTAS"], ""),
    "balance_table": (["MAX_KERNELS"], ""),
    "balance_rounds": (["NUM_SM", "MAX_KERNELS", "MAX_CTAS", "NUM_SCHED"], ""),
    "balance_unit": (["NUM_SM", "MAX_KERNELS", "MAX_CTAS", "NUM_SCHED"], ""),
    "occupancy_counter": (["MAX_KERNELS", "MAX_CTAS"], "algorithm"),
    "partition_sequencer": (["NUM_SM", "MAX_KERNELS", "MAX_CTAS"], "algorithm"),
    "phase_monitor": (["MAX_KERNELS", "NUM_SCHED"], "monitor"),
    "cta_dispatcher": (["NUM_SM", "MAX_KERNELS", "MAX_CTAS", "REGION_UNITS"], "dispatcher"),
    "kernel_slots": (["MAX_KERNELS"], ""),
    "sm_resource_table": (["NUM_SM", "MAX_KERNELS", "MAX_CTAS"], ""),
    "dispatch_picker": (["NUM_SM", "MAX_KERNELS"], ""),
    "sluice_csr": (["NUM_SM", "MAX_KERNELS", "MAX_CTAS", "NUM_SCHED", "REGION_UNITS"], "registers"),
    "sluice_top": (["NUM_SM", "MAX_KERNELS", "MAX_CTAS", "NUM_SCHED", "REGION_UNITS"], "total"),
}
REGIONS = "cta_dispatcher, regions"
REGIONS_SCRIPT = "small"   # it is not in the unit of the standard point, and its search is one long cycle: area is what it is measured for
# Where a block is in a waveform of the unit.
SCOPES = {"profile_counters": "i_decision_unit.gen_counters[0].i_profile_counters", "sluice_top": "", "cta_dispatcher": "i_launch_unit.i_cta_dispatcher",
          **{b: f"i_decision_unit.i_{b}" for b in ("partition_core", "occupancy_counter", "partition_sequencer", "phase_monitor")},
          **{b: f"i_decision_unit.i_partition_core.i_{b}" for b in ("perf_table", "serial_unit", "decision_steps")},
          **{b: f"i_launch_unit.i_cta_dispatcher.i_{b}" for b in ("kernel_slots", "sm_resource_table", "dispatch_picker")}}


def elaboration(parser, items):
    """The parameters of the standard point, with those of --param."""
    parameters = dict(STANDARD)
    for item in items:
        name, _, value = item.partition("=")
        if name not in RANGES or not value.isdecimal() or not RANGES[name][0] <= int(value) <= RANGES[name][1] or item in NOT_REGIONS:
            parser.error(f"--param {item}: allowed are " + ", ".join(f"{k}={a}..{b}" for k, (a, b) in RANGES.items()) + "; REGION_UNITS not 1..15")
        parameters[name] = int(value)
    return parameters


def arguments():
    parser = argparse.ArgumentParser(prog="synth/run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--liberty", default=str(mapping.ROOT / "synth/tech/sluice45.cells"), help="cell library (default: synth/tech/sluice45.cells)")
    parser.add_argument("--top", action="append", metavar="MODULE", choices=BLOCKS, help="only this block; may be repeated (default: all)")
    parser.add_argument("--param", action="append", default=[], metavar="K=V", help=f"elaboration parameter; defaults: {STANDARD}")
    parser.add_argument("--period", type=positive(float), default=0.7, metavar="NS", help="clock period the mapping aims at (default 0.7)")
    parser.add_argument("--script", default=mapping.DEFAULT, choices=mapping.SCRIPTS, help=f"ABC script (default {mapping.DEFAULT})")
    parser.add_argument("--no-clock-gates", action="store_true", help="registers with an enable become multiplexers")
    parser.add_argument("--prove", action="store_true", help="prove each netlist equivalent to its RTL, and that a broken one is refused")
    parser.add_argument("--most", action="append", default=[], metavar="BLOCK=UM2", help="fail when a block is larger than this")
    parser.add_argument("--activity", metavar="FST", help="adds power from a waveform of the unit with these parameters: synth/replay.py "
                        "makes it of a recorded run")
    parser.add_argument("--clock", type=positive(float), default=1400, metavar="MHZ", help="clock that power is given at (default 1400)")
    parser.add_argument("--saif", metavar="FOLDER", help="also write the activity of each block there, as SAIF")
    parser.add_argument("--json", metavar="FILE", help="also write the results as JSON")
    parser.add_argument("--jobs", type=positive(int), default=2)
    args = parser.parse_args()
    parameters = elaboration(parser, args.param)
    for item in args.most:
        name, _, value = item.partition("=")
        if name not in BLOCKS or not value.replace(".", "", 1).isdigit():
            parser.error(f"--most {item}: a block and square micrometres, like serial_unit=2300; blocks: {', '.join(BLOCKS)}")
    readable("--activity", args.activity)
    writable("--json", args.json)
    return args, parameters


def values_of(module, parameters):
    """The parameters that a block takes; options that are off are left out."""
    options = [k for k, blocks in OPTIONS.items() if parameters.get(k) and module in [*blocks, "sluice_top"]]
    return {k: parameters[k] for k in [*BLOCKS[module][0], *options]}


def one(name, parameters, library, args):
    module = name.split(",")[0]
    values = values_of(module, parameters)
    if name == REGIONS:
        values["REGION_UNITS"] = parameters["REGION_UNITS"] or 64
    script = REGIONS_SCRIPT if name == REGIONS else args.script
    work, stats = mapping.map_module(module, values, library, args.period, script, not args.no_clock_gates)
    path = timing.analyse(work, module, library, args.period, with_power=script != "small")
    theirs = path.pop("sta_leakage_mw")
    if theirs is not None and abs(theirs - stats["leakage_mw"]) > 0.002 * stats["leakage_mw"] + 1e-6:
        raise SystemExit(f"synth: {name}: leakage {stats['leakage_mw']} mW, OpenSTA says {theirs}")
    found = {}
    if args.prove:
        proven, registers, said = equivalence.compare(module, values, library, work)
        refused = not equivalence.compare(module, values, library, work, seed=1)[0]
        found["equivalence"] = {"proven": proven, "registers": registers, "mutant_refused": refused}
        if not (proven and refused):
            raise SystemExit(f"synth: {name}: netlist {'proven, but a broken one too' if proven else 'differs from its RTL: ' + said}")
    if args.activity and name != REGIONS:   # the waveform is of a unit without regions
        inside = SCOPES.get(module, f"i_{module}")
        waveform = power.Waveform(power.changes(args.activity, "TOP.sluice_top" + ("." + inside if inside else "")))
        netlist = power.Netlist(work / "netlist.json", module, library)
        found.update(power.calculate(netlist, waveform, args.clock))
        found["rest_mw"] = power.calculate(netlist, waveform.rest(), args.clock)["dynamic_mw"]
        if args.saif:
            power.write_saif(pathlib.Path(args.saif) / f"{module}.saif", netlist, waveform, module, 1000 / args.clock)
    print(f"{name}: {stats['area_um2']:.0f} um2, {path['fmax_mhz']} MHz", file=sys.stderr, flush=True)
    return {"name": name, "parameters": values, "script": script, **{k: stats[k] for k in ("area_um2", "cells", "flops", "latches", "leakage_mw")}, **path, **found,
            "work": str(work.relative_to(mapping.ROOT))}


def groups(blocks):
    area = {b["name"]: b["area_um2"] for b in blocks}
    if not {*BLOCKS, REGIONS} <= set(area):
        return {}
    return {"counters_per_sm_um2": area["profile_counters"],
            "global_algorithm_um2": round(sum(area[n] for n, (_, group) in BLOCKS.items() if group == "algorithm"), 1),
            "dispatcher_um2": area["cta_dispatcher"], "dispatcher_regions_um2": area[REGIONS], "total_um2": area["sluice_top"]}


def main():
    args, parameters = arguments()
    library = liberty.Library(args.liberty)
    if args.saif:
        pathlib.Path(args.saif).mkdir(parents=True, exist_ok=True)
    names = args.top or [*BLOCKS, REGIONS]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:   # the longest first
        order = sorted(names, key=lambda n: list(BLOCKS).index(n.split(",")[0]), reverse=True)
        done = dict(zip(order, pool.map(lambda n: one(n, parameters, library, args), order)))
    blocks = [done[n] for n in names]
    top = next((b for b in blocks if b["name"] == "sluice_top"), {})
    results = {"liberty": library.path.name, "params": parameters, "period_ns": args.period, "script": args.script,
               "clock_gates": not args.no_clock_gates, "blocks": blocks, "groups": groups(blocks),
               "fmax_mhz": top.get("fmax_mhz"), "leakage_mw": top.get("leakage_mw"),
               "dynamic_mw": top.get("dynamic_mw"), "rest_mw": top.get("rest_mw"), "annotated_nets_pct": top.get("annotated_nets_pct"),
               "clock_mhz": args.clock if args.activity else None}
    print(report.table(results))
    limits = dict(item.split("=") for item in args.most)
    grown = [f"{b['name']}: {b['area_um2']} um2, at most {limits[b['name']]} allowed" for b in blocks if b["area_um2"] > float(limits.get(b["name"], "inf"))]
    if args.json:
        open(args.json, "w").write(json.dumps(results, indent=1) + "\n")
    if grown:
        print("\n".join(grown), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    run(main)
