#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole grids against samples of them: measure.py SLUICE OUT.json [--jobs N] [--again] [CASE ...]

A CASE is WORKLOAD:KERNELS:POLICY; all are ALONE, PAIRS and NEIGHBOURS: of each workload's list the first kernel with the second, the third with the
fourth and so on, under the next of POLICIES each. Each runs on a quarter of fermi_table1 (4 SMs, 2 DRAM channels) with grids of GRID CTAs, once
whole, and with --sample 20 and 50; one that is refused runs with fewer left out, by RETREAT. What OUT.json has is not run again, with --again only
its whole grids are not; it is written after every run.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading

GRID, SAMPLES, RETREAT = 20480, (20, 50), (14, 10, 7, 5, 3)
POLICIES = ("warped_slicer", "even", "spatial", "left_over", "fcfs")
CONFIGS = pathlib.Path(__file__).resolve().parents[3] / "configs"
KERNELS = {
    "table2": "BFS DXT HOT KNN LBM NN BLK IMG MM MVP", "effisha": "Triad FFT BFS NeuralNet Stencil2D Sort Reduction MD5Hash MD Scan Spmv",
    "phases": "HOT LOADDXT", "table2_recorded": "BLK BFS DXT HOT IMG KNN LBM MM MVP NN", "kernelet": "PC SAD SPMV ST BS MM MRIQ TEA",
    "slate": "BS GS MM RG TR", "sim": "BO FD LM MD NB PF TP", "table2_published": "LBM MM"}  # its others are traces of table2_recorded
ALONE = [f"{workload}:{kernel}:left_over" for workload, kernels in KERNELS.items() for kernel in kernels.split()]
PAIRS = ["table2:BFS_KNN:even", "table2:DXT_NN:warped_slicer", "table2:HOT_KNN:even", "table2:HOT_LBM:spatial", "table2:KNN_NN:left_over",
         "table2:DXT_BFS:fcfs", "effisha:FFT_Triad:even", "table2_recorded:DXT_KNN:even", "table2_recorded:HOT_BLK:warped_slicer",
         "table2_recorded:NN_BFS:spatial", "table2:LBM_NN:even", "table2:MVP_KNN:warped_slicer", "effisha:Scan_Reduction:warped_slicer",
         "effisha:Spmv_BFS:spatial", "kernelet:PC_ST:even", "kernelet:SPMV_BS:warped_slicer", "slate:BS_TR:even", "slate:RG_GS:warped_slicer",
         "sim:PF_NB:even", "table2_published:BFS_KNN:warped_slicer", "table2_published:NN_LBM:even", "kernelet:TEA_PC:left_over"]


NEIGHBOURS = [f"{workload}:{a}_{b}:{POLICIES[i % len(POLICIES)]}" for i, (workload, a, b) in enumerate(
    (workload, *pair) for workload, names in KERNELS.items() for pair in zip(names.split()[::2], names.split()[1::2]))]


class Rows:
    """OUT.json, written after each row."""
    def __init__(self, out, again):
        self.out, self.lock = out, threading.Lock()
        rows = json.loads(out.read_text()) if out.exists() else []
        self.whole = {r["name"]: r["whole"] for r in rows if "instructions" in r["whole"]}
        self.rows = [] if again else rows

    def add(self, row):
        with self.lock:
            self.rows.append(row)
            new = self.out.with_suffix(".new")
            new.write_text(json.dumps(self.rows, indent=1) + "\n")
            os.replace(new, self.out)


def measure(sluice, folder, rows, case):
    workload, kernels, policy = case.split(":")
    longer = folder / f"{workload}.toml"
    for sample in SAMPLES:
        if any(r["name"] == case and r["sample"] == sample for r in rows.rows):
            continue
        for used in (sample, *RETREAT):
            said = run(sluice, folder / "quarter.toml", longer, kernels, policy, used)
            if isinstance(said, dict):
                break
            print(case, used, "refused:", said, flush=True)
        else:
            rows.add({"name": case, "sample": sample, "refused": said})
            continue
        if case not in rows.whole:
            rows.whole[case] = figures(run(sluice, folder / "quarter.toml", longer, kernels, policy, 1))
        whole, part = rows.whole[case], figures(said)
        simulated = sum((k["sampled"]["ctas"] or GRID) / GRID * k["counters"]["warp_instructions"] for k in said["per_kernel"])
        rows.add({"name": case, "sample": sample, "used": used, "full_cycles": whole["cycles"], "sampled_cycles": part["cycles"],
                  "interval": max(k["sampled"]["cycles_interval"] for k in said["per_kernel"]),
                  "instructions_ratio": whole["instructions"] / simulated, "whole": whole, "part": part})
        print(case, sample, f"{part['cycles'] / whole['cycles'] - 1:+.2%}", f"STP {part['stp'] / whole['stp'] - 1:+.2%}", flush=True)


def main():
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("sluice")
    asks.add_argument("out", type=pathlib.Path)
    asks.add_argument("--jobs", type=int, default=os.cpu_count())
    asks.add_argument("--again", action="store_true")
    asks.add_argument("cases", nargs="*", default=[])
    a = asks.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        folder = pathlib.Path(name)
        text = (CONFIGS / "machines/fermi_table1.toml").read_text()
        for key, value in (("num_sms", 4), ("l2_slices", 4), ("channels", 2)):
            text = re.sub(rf"^{key} = \d+", f"{key} = {value}", text, flags=re.M)
        (folder / "quarter.toml").write_text(text)
        for workload in KERNELS:
            (folder / f"{workload}.toml").write_text(long_grids((CONFIGS / f"workloads/{workload}.toml").read_text()))
        rows = Rows(a.out, a.again)
        for done in [pool.submit(measure, a.sluice, folder, rows, case) for case in a.cases or dict.fromkeys(PAIRS + NEIGHBOURS + ALONE)]:
            done.result()


def figures(said):
    return {"cycles": said["cycles"], "stp": said["stp"], "ends": [k["finish_cycle"] for k in said["per_kernel"]],
            "instructions": sum(k["counters"]["warp_instructions"] for k in said["per_kernel"])}


def long_grids(text):
    """A trace that is shorter than its grid comes again and again."""
    folder = CONFIGS / "workloads"
    parts = text.split("[[kernel]]\n")
    for i, part in enumerate(parts[1:], 1):
        grid = re.search(r"^ctas = (\d+)", part, re.M) or re.search(r"grid_ctas = (\d+)", part)
        part = re.sub(r"^ctas = \d+\n", "", re.sub(r"grid_ctas = \d+", f"grid_ctas = {GRID}", part), flags=re.M)
        parts[i] = re.sub(r'\[kernel.trace\]\nfile = "(.*)"', rf'[kernel.trace]\nctas = {grid[1]}\nfile = "{folder}/\1"', part)
    return "[[kernel]]\n".join(parts)


def run(sluice, machine, workload, kernels, policy, sample):
    """@return what it prints, or why it was refused"""
    done = subprocess.run([sluice, "sim", "--machine", machine, "--workload", workload, "--kernels", kernels, "--policy", policy, "--whole",
                           "--sample", str(sample), "--partitioner", "twin", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 2):
        raise SystemExit(f"{kernels}: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


if __name__ == "__main__":
    main()
