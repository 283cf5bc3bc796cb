#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUDA programs as they are, natively and in three ways under Sluice: exit code and standard output must be the same.

programs_on_gpu.py SLUICE OUT.json [--programs FOLDER|LIST.json] [--mps] [--defaults] ... (--help has all)

  native   as it is
  quota    sluice run --quota 2
  flips    sluice run --quota-file, whose line changes every 5 ms: 4, 0 (evicted), 1, 2 on half of the SMs, 0, all
  service  a client of `sluice serve`, with other programs beside it

Without --programs, those of tests/gpu/programs are built (nvcc) and all their cases run. LIST.json has other people's programs:
[{"name": ..., "command": [...], "passes": REGEX, "folder": ...}]; of these the exit code and REGEX count, and --pairs N runs them in
N random pairs under MPS with each of the schedulers of --scheduler. With --coverage each runs twice under a quota of all that fits, and the table of its
launches is kept: kernel, way, reason, launches, milliseconds of the GPU. A launch waits for its code and short ones are under quota, unless --defaults.
A line for each case: it is not met where a way differs or hangs, where a case that says so has no launch under quota, where CTAs
exceeded theirs, or where it fails natively. Exit code 1 when one is not met.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import random
import re
import subprocess
import sys
import threading
import time

import sharing
from sharing import Command, Service, note

HERE = os.path.dirname(os.path.abspath(__file__))
asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
asks.add_argument("sluice")
asks.add_argument("out")
asks.add_argument("--programs")
asks.add_argument("--ways", default="native,quota,flips,service")
asks.add_argument("--case", default="", help="a regular expression: these alone")
asks.add_argument("--scheduler", default="even", help="for --pairs perhaps several: even,piv,adaptive")
asks.add_argument("--mps", action="store_true", help="one client at a time: one that faults may take the others with it")
asks.add_argument("--defaults", action="store_true", help="the product's own waits for code and limit of short launches")
asks.add_argument("--jobs", type=int, default=4)
asks.add_argument("--limit", type=float, default=25, help="seconds for each run")
asks.add_argument("--deadline", type=float, default=3600, help="seconds after which no case begins")
asks.add_argument("--pairs", type=int, default=0)
asks.add_argument("--coverage", action="store_true", help="how much of the GPU's time is under quota, without code in the cache and with it")
A = asks.parse_args()
WAYS = A.ways.split(",")
BEGAN = time.monotonic()
sharing.begin(A.sluice, None, A.out)
sharing.settings.update({"SLUICE_CACHE_DIR": sharing.FOLDER + "/cache", "CUDA_CACHE_PATH": sharing.FOLDER + "/cuda"},
                        **({} if A.defaults or A.coverage else {"SLUICE_COMPILE_WAIT_MS": "10000", "SLUICE_SHORT_US": "0"}))
if A.defaults or A.coverage:
    del sharing.settings["SLUICE_COMPILE_WAIT_MS"]
QUOTA = sharing.FOLDER + "/quota"
at_service = threading.Semaphore(1 if A.mps else A.jobs)


def listed():
    """The programs: name, command, way (what its launches are), and perhaps passes."""
    if A.programs and A.programs.endswith(".json"):
        with open(A.programs) as file:
            return json.load(file)
    folder = A.programs or os.path.join(HERE, "../../build/programs")
    if not A.programs:
        subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", HERE + "/programs", "OUT=" + os.path.abspath(folder)], check=True)
    found = []
    for file in sorted(os.listdir(folder)):
        program = os.path.abspath(os.path.join(folder, file))
        if os.access(program, os.X_OK) and not file.endswith(".so") and not (A.mps and file == "device"):  # MPS has no dynamic parallelism
            lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
            found += [{"name": f"{file}/{case}", "command": [program, case], "way": way} for case, way in (x.split() for x in lines if x)]
    return found


def start(program, way, run=()):
    under = {"native": None, "quota": ["--quota", 2], "flips": ["--quota-file", QUOTA],
             "service": ["--socket", sharing.SOCKET, "--name", program["name"][-40:]]}[way]
    return Command(program["command"], run=run, native=way == "native", under=under, folder=program.get("folder"))


def as_native(program, native, ended):
    if ended.hung or ended.code != native.code or ended.violations:
        return False
    return re.search(program["passes"], ended.out) is not None if "passes" in program else ended.out == native.out


def why(program, way, native, ended):
    """What is wrong with a run; empty: nothing."""
    if ended.hung:
        return "hangs"
    if way == "native":
        failed = re.search(program["passes"], ended.out) is None if "passes" in program else "wrong at line" in ended.out
        return "fails natively" if failed else ""
    if ended.violations:
        return f"{ended.violations} quota violations"
    if not as_native(program, native, ended):
        return "differs"
    if ended.report and program.get("way") == "quota" and ended.quota == 0 and not A.defaults:
        return "no launch under quota"
    return "a launch under quota" if program.get("way") == "native" and ended.quota > 0 else ""


def in_all_ways(program):
    if time.monotonic() - BEGAN > A.deadline:
        return note(program["name"], False, not_run=True)
    native, figures, met = None, {}, True
    for way in ["native"] + [w for w in WAYS if w != "native"]:
        with at_service if way == "service" else threading.Semaphore():
            ended = start(program, way).end(A.limit)
        native = native or ended
        wrong = why(program, way, native, ended)
        figures[way] = {"s": round(ended.seconds, 2), **({"exit": ended.code} if ended.code != native.code or way == "native" else {}),
                        **({} if way == "native" else {"quota": ended.quota, "native": ended.native})}
        if wrong:
            met = False
            before = native.out.splitlines()
            figures[way].update(wrong=wrong, reasons=ended.report.get("reasons"), err=ended.err[-600:],
                                out=[line for line in ended.out.splitlines() if way == "native" or line not in before][:6],
                                missing=[line for line in before if line not in ended.out.splitlines()][:6])
        if way == "native" and wrong:
            break
    return note(program["name"], met, **figures)


def flip(over):
    sms = json.loads(subprocess.run([A.sluice, "gpu", "probe", "--json"], capture_output=True, text=True).stdout or "{}").get("sms", 132)
    for quota in itertools.cycle(["4", "0", "1", f"2 0-{sms // 2 - 1}", "0", "all"]):
        with open(QUOTA, "w") as file:
            file.write(quota + "\n")
        if over.wait(0.005):
            return


def cases():
    over = threading.Event()
    flips = threading.Thread(target=flip, args=(over,))
    flips.start()
    service = Service(A.scheduler, *(["--mps"] if A.mps else [])) if "service" in WAYS else None
    with concurrent.futures.ThreadPoolExecutor(A.jobs) as pool:
        list(pool.map(in_all_ways, PROGRAMS))
    over.set()
    flips.join()
    if service:
        alive = service.process.poll() is None
        note("the service is there at the end", alive, status=service.status() if alive else None, said=service.lines_said()[-600:])
        service.__exit__()
    bad = [r["check"] for r in sharing.results if not r["met"]]
    print(f"{len(PROGRAMS)} cases, {len(bad)} not met, {time.monotonic() - BEGAN:.0f} s", *bad, sep="\n  ", flush=True)


def pairs():
    chosen = random.Random(26)
    with concurrent.futures.ThreadPoolExecutor(A.jobs) as pool:
        natively = dict(zip((p["name"] for p in PROGRAMS), pool.map(lambda p: start(p, "native").end(A.limit), PROGRAMS)))
    usable = [p for p in PROGRAMS if not why(p, "native", None, natively[p["name"]])]
    for scheduler in A.scheduler.split(","):
        with Service(scheduler, "--mps") as service:
            for _ in range(A.pairs):
                pair = chosen.sample(usable, 2)
                ended = [b.end(A.limit) for b in [start(p, "service", run=("--priority", chosen.randint(0, 10))) for p in pair]]
                good = [as_native(p, natively[p["name"]], e) for p, e in zip(pair, ended)]
                note(f"{scheduler}: {pair[0]['name']} and {pair[1]['name']}", all(good), programs=[
                    {"seconds": round(e.seconds, 2), "exit": e.code, "quota": e.quota, "native": e.native, "violations": e.violations,
                     **({} if g else {"out": e.out[-300:], "err": e.err[-300:]})} for e, g in zip(ended, good)])
            note(f"{scheduler}: nobody was lost", service.status()["lost"] == 0, decisions=service.status()["decisions"])


def coverage():
    def one(program):
        ended = Command(program["command"], under=["--quota", 32], folder=program.get("folder")).end(A.limit)
        rows = [[r["kernel"], r["way"], r["reason"], r["launches"], round(r["gpu_ms"], 3)] for r in ended.report.get("table", [])]
        note(f"{program['name']}, {turn}", ended.code == 0 and not ended.violations, rows=rows)
        return rows
    for turn in ["without code in the cache", "with it"]:
        with concurrent.futures.ThreadPoolExecutor(A.jobs) as pool:
            rows = [r for rows in pool.map(one, PROGRAMS) for r in rows if r[4] > 0.025 * r[3] and "has no PTX" not in r[2]]
        under, all_ms = (sum(r[4] for r in rows if r[1] in ways) for ways in (["quota"], ["quota", "native"]))
        print(f"{turn}: {under / max(all_ms, 1e-9):.1%} of {all_ms:.0f} ms of kernels with PTX and launches above 25 us", flush=True)


PROGRAMS = [p for p in listed() if re.search(A.case, p["name"])]
sharing.run(globals(), ["coverage"] if A.coverage else ["pairs"] if A.pairs else ["cases"])
