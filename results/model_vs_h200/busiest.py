#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the busiest pipeline of the busiest scheduler takes of each launch at least, from Nsight Compute's counts of every opcode.

usage: busiest.py [LAUNCH ...]      prints cycles beside those of the H200 and of the model, from counted.jsonl and results.json
A scheduler's share is the mean times smsp__inst_executed.max / .avg. Launch and end are not in it."""
import json
import pathlib
import sys

from compare import opcodes

HERE = pathlib.Path(__file__).parent
SCHEDULERS = 132 * 4
# Cycles of a scheduler's pipeline, as [sm.sub_core] of h200_sm90.toml has them.
INTERVALS = {2: "IADD3 LOP3 LEA ISETP SHF PRMT SEL VIADD VIMNMX FMNMX FSETP FSEL MOV SGXT PLOP3 IMNMX IABS I2FP P2R R2P VOTE BMSK",
             1: "FFMA FMUL FADD", 8: "MUFU F2I I2F POPC FLO BREV F2F"}
NAMES = {2: "int", 1: "fma", 8: "xu"}


def main():
    cycles = {k["name"]: k for k in json.loads((HERE / "results.json").read_text())["kernels"]}
    print("| launch | busiest pipeline | cycles | H200 | model |\n|---|---|---|---|---|")
    for line in map(json.loads, (HERE / "counted.jsonl").read_text().splitlines()):
        name = line["launch"]
        if name not in cycles or (len(sys.argv) > 1 and name not in sys.argv[1:]):
            continue
        counts = opcodes(line["sass__inst_executed_per_opcode"])
        skew = float(line["smsp__inst_executed.max"].replace(",", "")) / float(line["smsp__inst_executed.avg"].replace(",", ""))
        busy = {NAMES[i]: i * skew * sum(counts.get(op, 0) for op in ops.split()) / SCHEDULERS for i, ops in INTERVALS.items()}
        pipe = max(busy, key=busy.get)
        print(f"| {name} | {pipe} | {busy[pipe]:.0f} | {cycles[name]['h200_cycles']} | {cycles[name]['model_cycles']} |")


if __name__ == "__main__":
    main()
