#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workload of the launches that record.py has recorded, and a scenario of it.

workload.py configs/workloads/llm > configs/workloads/llm.toml: a kernel is PROGRAM-LAUNCH, as in decode-attention; prefill and decode share no memory.
workload.py STEPS [LAUNCH ...] > configs/scenarios/llm.toml: these launches of a prompt, or all, and beside them so many steps of decode; each comes
after the one before it.
"""
import lzma
import pathlib
import re
import sys

from record import LAUNCHES

UNIT = 256  # in which a warp gets registers
COMPUTES = {"prefill": ("qkv", "attention", "out", "gate_up", "down")}  # the others wait for memory


def fnv1a(data):
    hash = 0xcbf29ce484222325
    for byte in data:
        hash = (hash ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return hash


def scenario(steps, *launches):
    print(f"# SPDX-License-Identifier: Apache-2.0\n# Made by: tests/gpu/llm/workload.py {' '.join([steps, *launches])}\n# {', '.join(launches) or 'All'} of a prompt beside "
          f"{steps} step{'s'[steps == '1':]} of decode, on configs/workloads/llm.toml: the launches of each program one after the other.\nname = \"llm\"")
    for program, times in (("prefill", 1), ("decode", int(steps))):
        before = None
        for step in range(times):
            for name in [name for name, *_ in LAUNCHES[program] if program == "decode" or not launches or name in launches]:
                kernel = f"{program}-{name.replace('_', '-')}"
                job = kernel if times == 1 else f"{kernel}.{step + 1}"
                print(f"\n[[job]]\nname = \"{job}\"\nkernel = \"{kernel}\"\npriority = {20 if program == 'decode' else 5}" + (f"\nafter = \"{before}\"" if before else ""))
                before = job


def main(folder, *launches):
    if folder.isdigit():
        return scenario(folder, *launches)
    folder = pathlib.Path(folder)
    print(f"# SPDX-License-Identifier: Apache-2.0\n# Made by: tests/gpu/llm/workload.py {folder}\n# Prefill and decode of a language model, recorded on an H200: "
          f"tests/gpu/llm/record.py.\nname = \"{folder.name}\"")
    for process, (program, launches) in enumerate(LAUNCHES.items()):
        for name, kernel, *_ in launches:
            trace = folder / f"{program}_{name}.traceg.xz"
            head = lzma.open(trace, "rt").read(100000).split("#BEGIN_TB")[0]
            grid, block = ([int(n) for n in re.search(rf"-{what} = \((.*)\)", head)[1].split(",")] for what in ("recorded grid", "block dim"))
            registers, shared = (int(re.search(rf"-{what} = (\d+)", head)[1]) for what in ("nregs", "shmem"))
            threads = block[0] * block[1] * block[2]
            warp = -(-registers * 32 // UNIT) * UNIT
            kind = "compute" if name in COMPUTES.get(program, ()) else "memory"
            print(f"\n[[kernel]]\nname = \"{program}-{name.replace('_', '-')}\"\nfull_name = \"{kernel}\"\ntype = \"{kind}\"\n"
                  f"grid_ctas = {grid[0] * grid[1] * grid[2]}\nblock_threads = {threads}\nregisters_per_cta = {-(-threads // 32) * warp}\nshared_bytes_per_cta = {shared}\n"
                  f"[kernel.trace]\nfile = \"{folder.name}/{trace.name}\"\nhash = {fnv1a(trace.read_bytes()) >> 1}\nprocess = {process}")


main(*sys.argv[1:])
