#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other people's CUDA programs under the sharing service. programs_on_gpu.py SLUICE PROGRAMS.json OUT.json [PAIRS]

PROGRAMS.json: [{"name": ..., "suite": ..., "command": [...], "passes": REGEX, "folder": ...}]. Each runs natively, alone under the
service, and in PAIRS (10) random pairs under each of the schedulers even, piv and adaptive, with MPS. Its own check has to pass as it
does natively (REGEX in its output, the same exit code), and no CTA may take a slot beyond its quota. A program whose check does not
pass natively is left out, and listed. Exit code 1 when a check is not met.
"""
import json
import random
import re
import sys

import sharing
from sharing import Command, Service, note

sharing.begin(sys.argv[1], None, sys.argv[3])
PAIRS = int(sys.argv[4]) if len(sys.argv) > 4 else 10
with open(sys.argv[2]) as listed:
    PROGRAMS = json.load(listed)


def start(program, native=False, run=()):
    return Command(program["command"], run=("--name", program["name"], *run), native=native, folder=program.get("folder"))


def passes(program, ended):
    return not ended.hung and ended.code == program["exit"] and re.search(program["passes"], ended.out) is not None and ended.violations == 0


def figures(program, ended):
    good = passes(program, ended)
    return {"program": program["name"], "seconds": round(ended.seconds, 2), "exit": ended.code, "quota": ended.quota, "native": ended.native,
            "violations": ended.report.get("quota_violations"), **({} if good else {"out": ended.out[-300:], "err": ended.err[-300:]})}


def alone():
    usable = []
    for program in PROGRAMS:
        ended = start(program, native=True).end(40)
        program["exit"], program["native_s"] = ended.code, round(ended.seconds, 2)
        if passes(program, ended):
            usable.append(program)
        else:
            print("left out:", program["name"], ended.code, ended.out[-200:], ended.err[-200:], flush=True)
            sharing.results.append({"left_out": program["name"], "exit": ended.code})
    PROGRAMS[:] = usable
    with Service("even", "--mps"):
        for program in PROGRAMS:
            ended = start(program).end(40)
            note(f"alone: {program['name']}", passes(program, ended), suite=program["suite"], native_s=program["native_s"], **figures(program, ended),
                 reasons=sorted(set(ended.report.get("reasons", {}).values())))


def pairs():
    chosen = random.Random(26)
    for scheduler in ("even", "piv", "adaptive"):
        with Service(scheduler, "--mps") as service:
            for _ in range(PAIRS):
                pair = chosen.sample(PROGRAMS, 2)
                began = [start(p, run=("--priority", chosen.randint(0, 10))) for p in pair]
                ended = [b.end(40) for b in began]
                note(f"{scheduler}: {pair[0]['name']} and {pair[1]['name']}", all(map(passes, pair, ended)), programs=list(map(figures, pair, ended)))
            note(f"{scheduler}: nobody was lost", service.status()["lost"] == 0, decisions=service.status()["decisions"])


sharing.run(globals(), ["alone", "pairs"])
