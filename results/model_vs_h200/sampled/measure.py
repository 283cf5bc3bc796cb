#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole grids against samples of them: measure.py SLUICE OUT.json [CASE ...]

A CASE is WORKLOAD:KERNELS:POLICY. Each runs on a quarter of fermi_table1 (4 SMs, 2 DRAM channels) with grids of GRID CTAs, once
whole, and with --sample 20 and 50. What OUT.json has is not run again; it is written after every case.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GRID, SAMPLES = 20480, (20, 50)
CONFIGS = pathlib.Path(__file__).resolve().parents[3] / "configs"
KERNELS = {
    "table2": "BFS DXT HOT KNN LBM NN BLK IMG MM MVP", "effisha": "Triad FFT BFS NeuralNet Stencil2D Sort Reduction MD5Hash MD Scan Spmv",
    "phases": "HOT LOADDXT", "table2_recorded": "BLK BFS DXT HOT IMG KNN LBM MM MVP NN", "kernelet": "PC SAD SPMV ST BS MM MRIQ TEA",
    "slate": "BS GS MM RG TR", "sim": "BO FD LM MD NB PF TP", "table2_published": "BLK BFS DXT HOT IMG KNN LBM MM MVP NN"}
ALONE = [f"{workload}:{kernel}:left_over" for workload, kernels in KERNELS.items() for kernel in kernels.split()]
PAIRS = ["table2:BFS_KNN:even", "table2:DXT_NN:warped_slicer", "table2:HOT_KNN:even", "table2:HOT_LBM:spatial", "table2:KNN_NN:left_over",
         "table2:DXT_BFS:fcfs", "effisha:FFT_Triad:even", "table2_recorded:DXT_KNN:even", "table2_recorded:HOT_BLK:warped_slicer",
         "table2_recorded:NN_BFS:spatial", "table2:LBM_NN:even", "table2:MVP_KNN:warped_slicer", "effisha:Scan_Reduction:warped_slicer",
         "effisha:Spmv_BFS:spatial", "kernelet:PC_ST:even", "kernelet:SPMV_BS:warped_slicer", "slate:BS_TR:even", "slate:RG_GS:warped_slicer",
         "sim:PF_NB:even", "table2_published:BFS_KNN:warped_slicer", "table2_published:NN_LBM:even", "kernelet:TEA_PC:left_over"]


def main(sluice, out, *cases):
    out = pathlib.Path(out)
    rows = json.loads(out.read_text()) if out.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        machine = pathlib.Path(folder) / "quarter.toml"
        text = (CONFIGS / "machines/fermi_table1.toml").read_text()
        for key, value in (("num_sms", 4), ("l2_slices", 4), ("channels", 2)):
            text = re.sub(rf"^{key} = \d+", f"{key} = {value}", text, flags=re.M)
        machine.write_text(text)
        for case in cases or ALONE + PAIRS:
            workload, kernels, policy = case.split(":")
            longer = pathlib.Path(folder) / f"{workload}.toml"
            longer.write_text(long_grids((CONFIGS / f"workloads/{workload}.toml").read_text()))
            for sample in SAMPLES:
                whole = next((r["whole"] for r in rows if r["name"] == case and "instructions" in r["whole"]), None)
                if any(r["name"] == case and r["sample"] == sample for r in rows):
                    continue
                whole = whole or figures(run(sluice, machine, longer, kernels, policy, 1))
                said = run(sluice, machine, longer, kernels, policy, sample)
                part = figures(said)
                simulated = sum(k["sampled"]["ctas"] / GRID * k["counters"]["warp_instructions"] for k in said["per_kernel"])
                rows.append({"name": case, "sample": sample, "full_cycles": whole["cycles"], "sampled_cycles": part["cycles"],
                             "interval": max(k["sampled"]["cycles_interval"] for k in said["per_kernel"]),
                             "instructions_ratio": whole["instructions"] / simulated, "whole": whole, "part": part})
                print(case, sample, f"{part['cycles'] / whole['cycles'] - 1:+.2%}", f"STP {part['stp'] / whole['stp'] - 1:+.2%}", flush=True)
                new = out.with_suffix(".new")
                new.write_text(json.dumps(rows, indent=1) + "\n")
                os.replace(new, out)


def figures(said):
    return {"cycles": said["cycles"], "stp": said["stp"], "ends": [k["finish_cycle"] for k in said["per_kernel"]],
            "instructions": sum(k["counters"]["warp_instructions"] for k in said["per_kernel"])}


def long_grids(text):
    """A trace that is shorter than its grid comes again and again."""
    folder = CONFIGS / "workloads"
    parts = text.split("[[kernel]]\n")
    for i, part in enumerate(parts[1:], 1):
        grid = re.search(r"grid_ctas = (\d+)", part)[1]
        part = re.sub(r"grid_ctas = \d+", f"grid_ctas = {GRID}", part)
        parts[i] = re.sub(r'\[kernel.trace\]\nfile = "(.*)"', rf'[kernel.trace]\nctas = {grid}\nfile = "{folder}/\1"', part)
    return "[[kernel]]\n".join(parts)


def run(sluice, machine, workload, kernels, policy, sample):
    return json.loads(subprocess.run(
        [sluice, "sim", "--machine", machine, "--workload", workload, "--kernels", kernels, "--policy", policy, "--whole",
         "--sample", str(sample), "--partitioner", "twin", "--json"], check=True, stdout=subprocess.PIPE).stdout)


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
