#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nsight Compute's counters of a prompt's and a step's products and attention, at the size of small.json. counters.py PROGRAMS OUT.json [--csv FOLDER]

PROGRAMS is the folder of tests/gpu/llm as built. FOLDER keeps what ncu prints; what it has is not measured again. Caches and clocks are left as they are.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

SIZE = "--layers 1 --hidden 4096 --prompt 1024 --load 8 --seconds 0.02".split()
KERNELS = {"prefill": ("gemm|attend_prompt", 5), "decode": ("gemv|attend_token", 6)}  # of the second prompt or step: how many there are
COUNTERS = {"us": "gpu__time_duration.sum", "cycles": "sm__cycles_elapsed.max", "warp_instructions": "smsp__inst_executed.sum", "dram_bytes": "dram__bytes_read.sum",
            "scratchpad_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}


def measure(programs, program):
    kernels, count = KERNELS[program]
    return subprocess.run(["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(COUNTERS.values()), "-k",
                           f"regex:{kernels}", "-s", str(count), "-c", str(count), pathlib.Path(programs) / program, *SIZE],
                          check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("programs")
    asks.add_argument("out", type=pathlib.Path)
    asks.add_argument("--csv", type=pathlib.Path)
    a = asks.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for program in KERNELS:
            kept = (a.csv or pathlib.Path(folder)) / f"{program}.csv"
            if not kept.exists():
                kept.write_text(measure(a.programs, program))
            head, units, *launches = csv.reader(line for line in kept.read_text().splitlines() if line.startswith('"'))
            assert units[head.index(COUNTERS["us"])] == "ns" and len(launches) == KERNELS[program][1]
            for launch in launches:
                value = {name: int(launch[head.index(counter)].replace(",", "")) for name, counter in COUNTERS.items()}
                grid = launch[head.index("Grid Size")].strip("()").split(",")
                rows.append({"program": program, "kernel": launch[head.index("Kernel Name")].split("(")[0].removeprefix("void "), "grid": [int(n) for n in grid],
                             **value, "us": value["us"] / 1000})
    a.out.write_text(json.dumps(rows, indent=1) + "\n")


main()
