#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives the unit with what its ports saw in a recorded run, in Icarus: its RTL with other parameters than the run's, or its netlist.

  synth/replay.py RUN.fst [--param K=V ...] [--gates] [--liberty F] --fst OUT.fst

RUN.fst comes from `sluice sim --partitioner rtl --fst`, whose unit has 32 CTA slots an SM and regions; on a machine with 8 slots the unit of the standard
point must answer alike, and every output is compared while it is valid, but for those that tell the parameters apart (register bases, PARAMS reads). A core
for 8 slots takes more cycles a sample and fewer a ratio than one for 32, so its decisions come some cycles later: --alike says how many cycles must agree
before the first of them. The first cycle is not compared: what no reset has cleared is random there. OUT.fst is for `synth/run.sh --activity`."""
import argparse
import pathlib
import re
import subprocess

import gate_level
import liberty
import mapping
import power
from command import readable, run, writable
from flow import STANDARD, elaboration

NOT_COMPARED = ("dispatch_register_base_o", "dispatch_shared_base_o", "s_axi_rdata_o")


def ports(parameters, work):
    """[(name, width, direction)] of sluice_top, and its RTL as plain Verilog in the folder: registers start at 0."""
    with_memories = ("\nmemory -nomap\nmemory_map\nopt_clean\nsetundef -init -zero\nwrite_verilog -noattr unit.v\nwrite_json unit.json")
    mapping.yosys(mapping.elaborate("sluice_top", parameters).replace("\nflatten", with_memories), work, "unit")
    top = mapping.json.loads((work / "unit.json").read_text())["modules"]["sluice_top"]
    return [(n, len(p["bits"]), p["direction"]) for n, p in top["ports"].items()]


def bench(inputs, outputs, cycles):
    width = lambda items: sum(w for _, w in items)
    concat = lambda items: "{" + ", ".join(n for n, _ in items) + "}"
    declare = lambda kind, items: "\n".join(f"  {kind} [{w - 1}:0] {n};" for n, w in items)
    when = lambda n: next((f"want_{p}_valid_o && " for p in ("profile", "dispatch") if n.startswith(p) and not n.endswith("valid_o")), "")
    checks = "\n".join(f'    if (cycle > 0 && {when(n)}{n} !== want_{n}) begin if (errors < 5) $display("cycle %0d: {n} %h, recorded %h", cycle, {n}, want_{n}); '
                       f'errors = errors + 1; if (first < 0) first = cycle; end'
                       for n, _ in outputs)
    pins = ", ".join(f".{n}({n})" for n, _ in [("clk_i", 1), *inputs, *outputs] )
    return f"""`timescale 1ns / 1ps
module TOP;
  reg clk_i;
{declare("reg", inputs)}
{declare("wire", outputs)}
{declare("reg", [("want_" + n, w) for n, w in outputs])}
  reg [{width(inputs) + width(outputs) - 1}:0] lines [0:{cycles - 1}];
  integer cycle, errors, first;
  sluice_top sluice_top ({pins});
  initial begin
    $readmemb("vectors.txt", lines);
    $dumpfile("replay.fst");
    $dumpvars(0, sluice_top);
    errors = 0; first = -1; clk_i = 0;
    {{{concat(inputs)[1:-1]}}} = lines[0][{width(inputs) + width(outputs) - 1}:{width(outputs)}];
    rst_ni = 1; #1 rst_ni = 0; #1;
    for (cycle = 0; cycle < {cycles}; cycle = cycle + 1) begin
      {{{concat(inputs)[1:-1]}, {concat([("want_" + n, w) for n, w in outputs])[1:-1]}}} = lines[cycle];
      #5;
{checks}
      clk_i = 1; #5; clk_i = 0;
    end
    if (first < 0) first = cycle;
    $display("%0d cycles, %0d output values differ, all before cycle %0d agree", cycle, errors, first);
    $finish;
  end
endmodule
"""


def main():
    parser = argparse.ArgumentParser(prog="synth/replay.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN.fst")
    parser.add_argument("--param", action="append", default=[], metavar="K=V", help=f"elaboration parameter; defaults: {STANDARD}")
    parser.add_argument("--gates", action="store_true", help="the mapped netlist instead of the RTL")
    parser.add_argument("--liberty", default=str(mapping.ROOT / "synth/tech/sluice45.cells"))
    parser.add_argument("--alike", type=int, metavar="N", help="cycles in which all outputs must agree (default: the whole run)")
    parser.add_argument("--fst", required=True, metavar="OUT.fst")
    args = parser.parse_args()
    parameters = elaboration(parser, args.param)
    readable("RUN.fst", args.run)
    writable("--fst", args.fst)
    work = mapping.BUILD / ("replay_gates" if args.gates else "replay")
    work.mkdir(parents=True, exist_ok=True)
    all_ports = ports(parameters, work)
    waveform = power.Waveform(power.changes(args.run, "TOP.sluice_top"))
    inputs = [(n, w) for n, w, d in all_ports if d == "input" and n != "clk_i"]
    outputs = [(n, w) for n, w, d in all_ports if d == "output" and n not in NOT_COMPARED]
    other = [n for n, w in outputs if f"{n}[{w}]" in waveform.bits or f"{n}[{w - 1}]" not in waveform.bits]   # not of that width in the run
    outputs = [(n, w) for n, w in outputs if n not in other]
    unknown = [n for n, w in inputs + outputs if f"{n}[{w - 1}]" not in waveform.bits]
    if unknown:
        raise SystemExit(f"replay.py: {args.run}: no signal {unknown[0]} of the width that the parameters ask for")
    rows = [format(waveform.bits[f"{n}[{i}]"], f"0{waveform.cycles}b") for n, w in inputs + outputs for i in reversed(range(w))]
    with open(work / "vectors.txt", "w") as out:
        out.writelines("".join(bits) + "\n" for bits in zip(*(reversed(r) for r in rows)))
    (work / "bench.v").write_text(bench(inputs, outputs, waveform.cycles))
    sources = ["unit.v"]
    if args.gates:
        library = liberty.Library(args.liberty)
        netlist, stats = mapping.map_module("sluice_top", parameters, library, 0.7)
        mapping.yosys("read_json netlist.json\nwrite_verilog -noattr gates.v\n", netlist, "gates")
        (work / "cells.v").write_text("`timescale 1ns / 1ps\n" + "\n".join(gate_level.model(library.cells[c]) for c in stats["counts"]) + "\n")
        sources = [str(netlist / "gates.v"), "cells.v"]
    subprocess.run(["iverilog", "-g2005", "-o", "replay.vvp", "bench.v", *sources], cwd=work, check=True)
    said = subprocess.run(["vvp", "-N", "replay.vvp", "-fst"], cwd=work, stdout=subprocess.PIPE, text=True).stdout
    print(said + f"not compared: {', '.join([*NOT_COMPARED, *other])}")
    agree = re.search(r"all before cycle (\d+) agree", said)
    if not agree or int(agree[1]) < (waveform.cycles if args.alike is None else args.alike):
        raise SystemExit(1)
    pathlib.Path(args.fst).write_bytes((work / "replay.fst").read_bytes())


if __name__ == "__main__":
    run(main)
