#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a plain-Verilog bench of the RTL (tb/verilog/<module>_tb.v) on the mapped netlist, in Icarus.

  synth/gate_level.py [sluice_top | sluice_csr] [--liberty F] [--script S]

Cells are models written from the library's functions. Registers that no reset clears start with random values, so that a result which needs one is
seen; their outputs move 1 ns after the clock, so that gated and ungated registers agree on which side of the edge they are."""
import argparse
import re
import subprocess

import liberty
import mapping
from command import positive, run


def verilog(text):
    return liberty.expression(text).replace("ONE", "1'b1").replace("ZERO", "1'b0")


def model(cell):
    ports = ", ".join([f"input {p}" for p in cell.inputs] + [f"output {p}" for p in cell.outputs])
    lines = [f"module {cell.name} ({ports});"]
    state = cell.flop or cell.latch
    if state:
        names = state.args[:2]
        lines += [f"  reg {names[0]};", f"  wire {names[1]} = !{names[0]};" if len(names) > 1 else ""]
        if not state.get("clear") and not state.get("preset"):
            lines.append(f"  initial {names[0]} = $random;")
    if cell.flop:
        edges, forced = [f"posedge clock"], ""
        lines.append(f"  wire clock = {verilog(state.get('clocked_on'))};")
        for kind, value in (("clear", 0), ("preset", 1)):
            if state.get(kind):
                lines.append(f"  wire {kind} = {verilog(state.get(kind))};")
                edges.append(f"posedge {kind}")
                forced += f"if ({kind}) {names[0]} <= 1'b{value}; else "
        lines.append(f"  always @({' or '.join(edges)}) {forced}{names[0]} <= #1 {verilog(state.get('next_state'))};")
    elif cell.latch:
        lines.append(f"  always @* if ({verilog(state.get('enable'))}) {names[0]} = {verilog(state.get('data_in'))};")
    lines += [f"  assign {p} = {verilog(cell.function(p))};" for p in cell.outputs if cell.function(p)]
    return "\n".join([*lines, "endmodule"])


def main():
    parser = argparse.ArgumentParser(prog="synth/gate_level.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="?", default="sluice_top", choices=["sluice_top", "sluice_csr"])
    parser.add_argument("--liberty", default=str(mapping.ROOT / "synth/tech/sluice45.cells"), help="cell library (default: synth/tech/sluice45.cells)")
    parser.add_argument("--period", type=positive(float), default=0.7, metavar="NS", help="clock period the mapping aims at (default 0.7)")
    parser.add_argument("--script", default=mapping.DEFAULT, choices=mapping.SCRIPTS, help=f"ABC script (default {mapping.DEFAULT})")
    args = parser.parse_args()
    library = liberty.Library(args.liberty)
    bench = mapping.ROOT / f"tb/verilog/{args.module}_tb.v"
    given = re.findall(r"-G(\w+)=(\d+)", next(iter(re.findall(r"^// parameters: (.*)", bench.read_text(), re.M)), ""))
    work, stats = mapping.map_module(args.module, {k: int(v) for k, v in given}, library, args.period, args.script)
    mapping.yosys("read_json netlist.json\nwrite_verilog -noattr gates.v\n", work, "gates")
    used = [library.cells[name] for name in stats["counts"]]
    (work / "cells.v").write_text("`timescale 1ns / 1ps\n" + "\n".join(model(c) for c in used) + "\n")
    subprocess.run(["iverilog", "-g2005", "-o", "gates.vvp", str(bench), "gates.v", "cells.v"], cwd=work, check=True)
    said = subprocess.run(["vvp", "gates.vvp"], cwd=work, stdout=subprocess.PIPE, text=True).stdout
    print(f"{args.module} {dict(given)} in {library.path.name}: {stats['cells']} cells, {stats['flops']} flops, {stats['latches']} latches\n{said}", end="")
    if not re.search("^PASS", said, re.M):
        raise SystemExit(1)


if __name__ == "__main__":
    run(main)
