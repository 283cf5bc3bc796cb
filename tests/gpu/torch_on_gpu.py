#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch and Triton under the sharing service. torch_on_gpu.py SLUICE OUT.json [PART...]

torch_worker.py runs natively, alone under a fixed quota and under the service, and beside another of its kind. What it computes has to
be the same bit by bit. A Triton kernel has to be under quota, a graph of it as well; what PyTorch's own kernels get is told. Exit code 1
when a check is not met.
"""
import os
import re
import sys

import sharing
from sharing import Command, Service, note

sharing.begin(sys.argv[1], None, sys.argv[2])
WORKER = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_worker.py")]
KINDS = ("triton", "graph", "train")
NATIVE = {}


def start(kind, seconds=2.0, native=False, run=()):
    return Command(WORKER + [kind, str(seconds)], run=run, native=native)


def figures(kind, ended):
    found = re.search(r"checksum (-?\d+) same (\d+) other (\d+)", ended.out)
    said = [int(n) for n in found.groups()] if found else None
    right = ended.code == 0 and not ended.hung and said is not None and said[2] == 0 and ended.violations == 0
    return right and said[0] == NATIVE.setdefault(kind, said[0]), {
        "kind": kind, "said": said, "seconds": round(ended.seconds, 1), "quota": ended.quota, "native": ended.native,
        "violations": ended.violations, "exit": ended.code,
        "reasons": sorted(set(ended.report.get("reasons", {}).values())), "err": "" if ended.code == 0 else ended.err[-400:]}


def natively():
    for kind in KINDS:
        right, told = figures(kind, start(kind, native=True).end(60))
        note(f"natively: {kind}", right, **told)


def rate():
    """Steps in five seconds, natively and under the service in turns, both with MPS."""
    with Service("even", "--mps"):
        os.environ["CUDA_MPS_PIPE_DIRECTORY"] = sharing.SOCKET + ".mps"
        for kind in KINDS:
            steps = [[figures(kind, start(kind, 5.0, native=native).end(60))[1]["said"][1] for native in (True, False)] for _ in range(3)]
            ratios = sorted(under / native for native, under in steps)
            note(f"steps a second, at least 0.9 of what they are without the service: {kind}", ratios[1] >= 0.9, ratios=ratios, steps=steps)
        del os.environ["CUDA_MPS_PIPE_DIRECTORY"]


def alone():
    with Service("even", "--mps"):
        for kind in KINDS:
            right, told = figures(kind, start(kind).end(60))
            note(f"alone under the service: {kind}", right and (told["quota"] > 0 or kind == "train"), **told)
        right, told = figures("train", start("train", run=("--opaque", "hold")).end(60))
        note("alone, what has no PTX admitted by the scheduler: train", right, **told)


def together():
    for scheduler in ("even", "piv"):
        with Service(scheduler, "--mps") as service:
            for first, second in (("triton", "train"), ("graph", "triton")):
                began = [start(first, 5.0, run=("--priority", 3)), start(second, 5.0, run=("--priority", 8))]
                ended = [figures(kind, b.end(90)) for kind, b in zip((first, second), began)]
                note(f"{scheduler}: {first} and {second}", all(right for right, _ in ended), programs=[told for _, told in ended],
                     lost=service.status()["lost"])


sharing.run(globals(), sys.argv[3:] or ["natively", "alone", "rate", "together"])
