#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places and routes blocks of the RTL with what Debian has: qflow (Yosys, graywolf, qrouter, Magic, Netgen) and the cells of osu018, 180 nm.

  synth/layout.py BLOCK ... [-GNAME=value ...] [--density D] [--json F]     apt-get install qflow qflow-tech-osu018 graywolf qrouter magic netgen-lvs

A row a block: cells, size, length of wires, nets without a route, clock before and after the delays of the wires, what Magic's design rules and Netgen's
comparison of layout and netlist say. Work is kept in build/layout/<block>. Exit code 1 where a block does not route, or is not its netlist."""
import argparse
import json
import pathlib
import re
import subprocess

from command import run, writable

ROOT = pathlib.Path(__file__).resolve().parents[1]
TECH, CELLS = "osu018", "/usr/share/qflow/tech/osu018/osu018_stdcells.lef"
LIMIT_S = 3600   # of a step
WHY = f"lef read {CELLS}\nload {{}}\ndrc on\nselect top cell\nexpand\ndrc check\ndrc catchup\nputs stdout \"why: [drc listall why]\"\nquit -noprompt\n"


def wires(text):
    """Length of all routed wires in um, from a DEF file: each path is points ( x y ), a * is the coordinate before."""
    scale, total = int(re.search(r"MICRONS (\d+)", text)[1]), 0
    for path in re.findall(r"(?:ROUTED|NEW) metal\d (.*)", text[text.index("\nNETS"):]):
        last = None
        for x, y in re.findall(r"\( ([-\d*]+) ([-\d*]+) \)", path):
            here = (last[0] if x == "*" else int(x), last[1] if y == "*" else int(y))
            total += abs(here[0] - last[0]) + abs(here[1] - last[1]) if last else 0
            last = here
    return total / scale


def lay_out(block, parameters, density):
    work = ROOT / "build/layout" / block
    for folder in ("source", "synthesis", "layout", "log"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    (work / "project_vars.sh").write_text("#!/usr/bin/tcsh -f\n" + (f"set initial_density = {density}\n" if density else ""))
    subprocess.run([ROOT / "rtl/to_verilog.sh", block, *parameters, "-o", work / "source" / f"{block}.v"], check=True)

    def step(*names):
        return subprocess.run(["timeout", str(LIMIT_S), "qflow", "-T", TECH, "-p", str(work), *names, block], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode

    log = lambda name: (work / "log" / f"{name}.log").read_text(errors="replace") if (work / "log" / f"{name}.log").exists() else ""
    clock = lambda name: next((round(float(m), 1) for m in re.findall(r"maximum clock frequency .*= ([\d.]+) MHz", log(name))), None)
    row = {"block": block, "parameters": parameters, "cells": None, "unrouted": None} | ({"density": density} if density else {})
    if step("synthesize", "place", "sta"):
        return row
    row["cells"] = int(re.findall(r"Number of cells: +(\d+)", log("synth"))[-1])
    step("route")
    failed = re.findall(r"Final: (?:Failed net routes: (\d+)|No failed routes)", log("route"))
    row |= {"unrouted": int(failed[-1] or 0) if failed else None, "mhz_placed": clock("sta")}
    if row["unrouted"] != 0:
        return row
    for name in ("backanno", "migrate", "lvs", "gdsii"):
        step(name)
    layout = (work / "layout" / f"{block}.def").read_text()
    corner = re.search(r"DIEAREA \( (\S+) (\S+) \) \( (\S+) (\S+) \)", layout).groups()
    scale = int(re.search(r"MICRONS (\d+)", layout)[1])
    (work / "layout/why.tcl").write_text(WHY.format(block))
    why = subprocess.run(["magic", "-dnull", "-noconsole", "why.tcl"], cwd=work / "layout", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
    rules = {rule: len(re.findall(r"\{[-\d ]+\}", places)) for rule, places in re.findall(r"\{([^{}]*[a-z][^{}]*)\} (\{\{[-\d {}]+\}\})", why)}
    return row | {"um": [round((int(corner[i + 2]) - int(corner[i])) / scale, 1) for i in (0, 1)], "wire_um": round(wires(layout)), "mhz_routed": clock("post_sta"),
                  "drc": rules, "drc_errors": sum(rules.values()), "lvs": "LVS reports no net, device, pin, or property mismatches" in log("lvs")}


def main():
    parser = argparse.ArgumentParser(prog="synth/layout.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("block", nargs="+")
    parser.add_argument("-G", metavar="NAME=value", action="append", default=[], dest="parameters")
    parser.add_argument("--density", type=float, help="share of the rows that cells fill, the rest is left to wires (default: nearly all)")
    parser.add_argument("--json", metavar="F", help="rows are added to those of other blocks there")
    args = parser.parse_args()
    writable("--json", args.json)
    rows = []
    for block in args.block:
        rows.append(lay_out(block, [f"-G{p}" for p in args.parameters], args.density))
        print(json.dumps(rows[-1]), flush=True)
        if args.json:
            file = pathlib.Path(args.json)
            before = json.loads(file.read_text() or "[]") if file.exists() else []
            file.write_text(json.dumps([r for r in before if (r["block"], r.get("density")) != (block, args.density)] + rows[-1:], indent=1) + "\n")
    if not all(r["unrouted"] == 0 and r["lvs"] for r in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    run(main)
