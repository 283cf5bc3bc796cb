#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded against counted: the table of README.md from small.jsonl, full.jsonl, ncu.csv and, if there is one, model.jsonl.

usage: compare.py    exit code 1 when the warp instructions of a joined kernel are 1 % off, or outputs differ"""
import csv
import json
import lzma
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
TOOLS = re.compile(r"(fill|fingerprint|count_differences|seen_sms|sluice_windows)|.*__sluice_record")


def lines(name):
    path = HERE / (name + ".xz")
    return [json.loads(line) for line in lzma.open(path, "rt") if line.startswith("{")] if path.exists() else []


def counted():
    """By application, in the order of measure.sh: warp instructions, cycles where they were counted, instructions of each opcode sorted."""
    apps = re.search(r'apps="([^"]*)"', (HERE / "measure.sh").read_text()).group(1).split()
    rows = list(csv.reader(line for line in (HERE / "ncu.csv").read_text().splitlines() if line.startswith('"')))
    column = {name: i for i, name in enumerate(rows[0])}
    found, last = {}, None
    for row in rows[2:]:
        kernel = row[column["Kernel Name"]]
        if TOOLS.match(kernel) or kernel == last:
            continue
        last = kernel
        opcodes = re.search(r"\((.*)\)", row[column["sass__inst_executed_per_opcode"]]).group(1)
        each = sorted(int(part.split(":")[-1].replace(",", "")) for part in opcodes.split(";"))
        cycles = row[column["gpc__cycles_elapsed.max"]] if "gpc__cycles_elapsed.max" in column else "-"
        found[apps[len(found)]] = (int(row[column["smsp__inst_executed.sum"]].replace(",", "")), cycles, each)
    return found


def main():
    small = {k["name"]: k for r in lines("small.jsonl") for k in r["kernels"]}
    full = {k["name"]: k for r in lines("full.jsonl") for k in r["kernels"]}
    model = {r["app"]: r["cycles"] for r in lines("model.jsonl")}
    ncu, good = counted(), True
    print("| kernel | CTAs | warp instructions | counted | each opcode | joined % | unjoined | times as slow, 64 CTAs | cycles | model |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, k in small.items():
        total, cycles, each = ncu.get(name, (None, "-", None))
        same = k["bit_identical"] and full.get(name, k)["bit_identical"]
        good = good and same and (total is None or abs(k["warp_instructions"] / total - 1) < 0.01)
        equal = "-" if each is None else "equal" if each == sorted(k["opcodes"].values()) else "differs"
        unjoined = ", ".join(f"{reason} {count}" for reason, count in k["unjoined"].items()) or "-"
        slow = f"{full[name]['slowdown']:.2f}" if name in full else "-"
        print(f"| {name}{'' if same else ' OUTPUTS DIFFER'} | {k['ctas']} | {k['warp_instructions']} | {total or '-'} | {equal} | {k['joined_pct']:.2f} "
              f"| {unjoined} | {slow} | {cycles} | {model.get(name, '-')} |")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
