#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a prompt of prefill and a step of decode for the GPU model. record.py SLUICE PROGRAMS OUT ["OPTIONS OF BOTH PROGRAMS"]

OUT gets a trace for each launch, shortened where CTAs differ by addresses alone (shorten.py), and the lists prefill.g, decode.g and decode_N.g of N steps.
All launches of a program lie at the same addresses: no process gets random ones.
"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

import shorten

GEMM = {n: f"_Z4gemmIL2To{n}EEvPtPKtS3_ii" for n in range(3)}
GEMV = {(tiles, to): f"_Z4gemvILi{tiles}EL2To{to}EEvPvPKtS3_iii" for tiles in (1, 4) for to in range(4)}
EMBED, NORM, ROTATE = "_Z5embedPtPKtPKii", "_Z4normPtPKtS1_i", "_Z6rotatePt5CachePK6float2PKii"
CHOOSE, DIGEST, JOIN = "_Z6choosePiS_PKfi", "_Z6digestPyPKjl", "_Z10join_partsPtPKfi"
PROMPT, TOKEN = "_Z13attend_promptPtPKt5Cachei", "_Z12attend_tokenPfPKt5CachePKii"
# Of each program, in order: name, kernel, which of its launches, CTAs to keep in each dimension (0: all).
LAUNCHES = {
    "prefill": [("embed", EMBED, 1, ""), ("norm_1", NORM, 1, "1,1,1"), ("qkv", GEMM[0], 1, "1,1,1"), ("rotate", ROTATE, 1, ""), ("attention", PROMPT, 1, ""),
                ("out", GEMM[1], 1, "1,1,1"), ("norm_2", NORM, 2, "1,1,1"), ("gate_up", GEMM[2], 1, "1,1,1"), ("down", GEMM[1], 2, "1,1,1"),
                ("norm_3", NORM, 3, "1,1,1"), ("logits", GEMV[1, 3], 1, "2,1,1"), ("choose", CHOOSE, 1, ""), ("digest", DIGEST, 1, "1,1,1")],
    "decode": [("embed", EMBED, 1, ""), ("norm_1", NORM, 1, ""), ("qkv", GEMV[1, 0], 1, "4,1,1"), ("rotate", ROTATE, 1, ""), ("attention", TOKEN, 1, ""),
               ("join", JOIN, 1, ""), ("out", GEMV[1, 1], 1, "4,1,1"), ("norm_2", NORM, 2, ""), ("gate_up", GEMV[1, 2], 1, "8,1,1"),
               ("down", GEMV[1, 1], 2, "4,1,1"), ("norm_3", NORM, 3, ""), ("logits", GEMV[4, 3], 1, "2,1,1"), ("choose", CHOOSE, 1, ""), ("digest", DIGEST, 1, "1,1,1")]}
SOME = 17  # CTAs recorded where a few are kept: those next to them as well


def record(sluice, programs, program, whole, options, folder):
    """The launches of one program of which all CTAs are recorded, or SOME. @return their traces by kernel and launch"""
    wanted = [launch for launch in LAUNCHES[program] if (launch[3] == "") == whole]
    only = [word for kernel in dict.fromkeys(kernel for _, kernel, _, _ in wanted) for word in ("--only", kernel)]
    out = os.path.join(folder, f"{program}_{whole}")
    subprocess.run(["setarch", "-R", sluice, "gpu", "record", "--out", out, "--ctas", "all" if whole else str(SOME), "--limit", "4G", "--total", "60G",
                    "--launches", str(max(n for _, _, n, _ in wanted)), *only, "--json", "--", os.path.join(programs, program), "--seconds", "0.01", *options],
                   check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(out, "recorded.json")) as file:
        kernels = json.load(file)["kernels"]
    return {(program, k["name"], k["launch"]): f"{out}/kernel-{i + 1}.traceg.xz" for i, k in enumerate(kernels)}


def main(sluice, programs, out, options="--layers 1 --hidden 4096 --prompt 1024"):
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor() as pool:
        runs = [pool.submit(record, sluice, programs, p, whole, options.split(), folder) for p in LAUNCHES for whole in (True, False)]
        traces = {name: file for run in runs for name, file in run.result().items()}
        jobs = []
        for program, launches in LAUNCHES.items():
            names = [f"{program}_{name}.traceg.xz" for name, *_ in launches]
            for (_, kernel, n, keep), name in zip(launches, names):
                take = (shorten.main, traces[program, kernel, n], os.path.join(out, name), keep)
                jobs.append(pool.submit(*(take if keep else (shutil.copy, *take[1:3]))))
            for steps in (1,) if program == "prefill" else (1, 2, 4, 6):
                with open(os.path.join(out, f"{program}.g" if steps == 1 else f"{program}_{steps}.g"), "w") as file:
                    file.write("\n".join(names * steps) + "\n")
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main(*sys.argv[1:])
