#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pairs of figures.json under balance, each there twice: measured, and again when its rates are known. `known.py OUT [JOBS [PAIR...]]`
runs them, `known.py OUT 0` writes known.json beside this file from these runs. The variable SLUICE is the command."""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
FILES = HERE.parent.parent / "configs"
SLUICE = os.environ.get("SLUICE", "build/release/bin/sluice").split()
OTHERS = ("arrival", "left_over", "fcfs", "even", "warped_slicer")
AGAIN_MS = 2.5  # behind the end of every pair


def figures():
    data = json.loads((HERE / "figures.json").read_text())["figures"]["pairs"]["data"]
    return {scheduler: {pair: scene["makespan_ms"] for pair, scene in of["scenes"].items()} for scheduler, of in data.items()}


def alone_of(makespan):
    """Each kernel's time alone, from what pairs take one after the other."""
    dxt = (makespan["DXT_HOT"] + makespan["DXT_MVP"] - makespan["HOT_MVP"]) / 2
    return {"DXT": dxt} | {pair.split("_")[1]: t - dxt for pair, t in makespan.items() if pair.startswith("DXT_")}


def run(pair, alone, out):
    names = sorted(pair.split("_"), key=alone.get)
    priority = {names[0]: 20, names[1]: 10}
    jobs = [(f"{name}{turn}", name, turn * AGAIN_MS) for turn in (0, 1) for name in pair.split("_")]
    scenario, log = out / f"{pair}.toml", out / f"{pair}.decisions"
    scenario.write_text(f'name = "{pair}"\n' + "".join(
        f'[[job]]\nname = "{job}"\nkernel = "{name}"\narrival_ms = {at}\npriority = {priority[name]}\n' for job, name, at in jobs))
    told = json.loads(subprocess.run([*SLUICE, "schedule", "--scenario", scenario, "--scheduler", "balance", "--executor", "model", "--partitioner", "twin",
                                      "--machine", FILES / "machines/fermi_table1.toml", "--workload", out / "quarter.toml", "--decisions", log, "--jobs", "1", "--json"],
                                     capture_output=True, text=True, check=True).stdout)
    (out / f"{pair}.json").write_text(json.dumps(told))


def row(pair, out, makespan):
    told, log = json.loads((out / f"{pair}.json").read_text()), [json.loads(line) for line in (out / f"{pair}.decisions").read_text().splitlines()]
    jobs = {job["name"]: job for job in told["runs"][0]["jobs"]}
    ends = lambda turn: sorted(jobs[f"{name}{turn}"]["turnaround_ms"] for name in pair.split("_"))
    found = [d for d in log if "times as fast as in order" in d["reason"]]
    best = min(OTHERS, key=lambda s: makespan[s][pair])
    first = [d for d in found if d["now_ps"] < 1e9 * AGAIN_MS]
    return {"pair": pair, "best": best, "best_ms": makespan[best][pair], "first_ms": ends(0)[-1], "first_end_ms": ends(0)[0], "again_ms": ends(1)[-1],
            "known_ms": first[0]["now_ps"] / 1e9 if first else None, "known": found[-1]["reason"] if first else None}


def main():
    out, jobs = Path(sys.argv[1]), int((sys.argv + ["2"])[2])
    out.mkdir(parents=True, exist_ok=True)
    quarter = lambda found: f"grid_ctas = {max(1, (int(found[1]) + 2) // 4)}"
    (out / "quarter.toml").write_text(re.sub(r"grid_ctas = (\d+)", quarter, (FILES / "workloads/table2.toml").read_text()))
    makespan = figures()
    alone = alone_of(makespan["arrival"])
    pairs = [p for p in sys.argv[3:] or makespan["balance"] if not (out / f"{p}.json").exists()]
    with ThreadPoolExecutor(jobs or 1) as pool:
        list(pool.map(lambda p: run(p, alone, out), pairs if jobs else ()))
    if not jobs:
        rows = (json.dumps(row(p, out, makespan)) for p in makespan["balance"] if (out / f"{p}.json").exists())
        (HERE / "known.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")


main()
