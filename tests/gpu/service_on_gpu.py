#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sharing service on a GPU: sharing, eviction. service_on_gpu.py SLUICE WORKER OUT.json [PART...]

SLUICE is the program with lib/sluice beside its folder, WORKER is tests/gpu/service_worker.cu as nvcc builds it. A line on standard
output for each check, with what was measured; exit code 1 when one is not met.
"""
import os
import subprocess
import sys
import time

import sharing
from sharing import SOCKET, Program, Service, note

sharing.begin(*sys.argv[1:4])
PARTS = sys.argv[4:] or ["alone", "share", "evict", "isolate"]


def alone():
    native = Program(2, 1, 33792, 30, 1, native=True).end()
    with Service("piv"):
        under = Program(2, 1, 33792, 30, 1).end()
    note("a program of 1 ms kernels alone is at most 2 % slower", under.right and under.quota > 0 and under.us <= 1.02 * native.us, native=native.us, **under.figures())


def share():
    for scheduler, options in (("even", ()), ("piv", ()), ("static", ("--ctas", "3,5"))):
        for mps in ((), ("--mps",)):
            with Service(scheduler, *options, *mps) as service:
                programs = [Program(2, 1, 4000, 30, 8, run=("--priority", 5, "--name", "a")), Program(2, 2, 3000, 50, 8, run=("--priority", 8))]
                time.sleep(2.5)
                states = [c["state"] for c in service.status()["clients"]]
                for p in programs:
                    p.end()
                lines = service.lines()
                note(f"two programs share: {scheduler} {' '.join(mps)}", all(p.right and p.quota > 0 for p in programs), states=states,
                     programs=[p.figures() for p in programs],
                     decisions=service.status()["decisions"], lost=service.status()["lost"],
                     log=[] if all(p.right for p in programs) else [(line["now_ps"] // 1000000, line["events"], line["shares"]) for line in lines[-8:]])


def evict():
    for mps, spin in ((("--mps",), ("--spin",)), (("--mps",), ()), ((), ())):
        with Service("rr", *mps) as service:
            programs = [Program(3, 1, 200000, 20, 1, run=spin) for _ in range(2)]
            for p in programs:
                p.end()
            ordered, took = {}, []
            for line in service.lines():
                held = {s["job"] for s in line["shares"]}
                for event in line["events"]:
                    if event["kind"] == "evicted" and event["job"] in ordered:
                        took.append((line["now_ps"] - ordered.pop(event["job"])) / 1e6)
                for share in line["before"]:
                    if share["job"] not in held:
                        ordered.setdefault(share["job"], line["now_ps"])
            took.sort()
            figures = {"evictions": len(took), "p50_us": took[len(took) // 2] if took else None, "p99_us": took[len(took) * 99 // 100] if took else None}
            decide = sorted(line["us"] for line in service.lines())
            note(f"order to the word that the last CTA left, p50 at most 40 us {' '.join(mps + spin)}", took and figures["p50_us"] <= 40 and
                 all(p.right for p in programs), **figures, decide_p99_us=decide[len(decide) * 99 // 100] if decide else None,
                 programs=[p.figures() for p in programs])


def isolate():
    with Service("even", "--isolate"):
        programs = [Program(2, 1, 4000, 30, 8), Program(2, 1, 4000, 30, 8)]
        for p in programs:
            p.end()
        note("isolated programs take turns", all(p.right for p in programs), programs=[p.figures() for p in programs])


def persistent():
    with Service("even", "--mps") as service:
        command = [os.path.join(os.path.dirname(sys.argv[2]), "persistent"), SOCKET, "5", "400000", "20"]
        with open(os.devnull) as nothing:
            programs = [subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                         env={**os.environ, "CUDA_MPS_PIPE_DIRECTORY": SOCKET + ".mps"}) for _ in range(2)]
        out = [p.communicate(timeout=25)[0] for p in programs]
        note("two persistent kernels written by hand share", all(p.returncode == 0 for p in programs), out=out, lost=service.status()["lost"])


sharing.run(globals(), PARTS)
