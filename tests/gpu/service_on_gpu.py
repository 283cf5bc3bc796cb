#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sharing service on a GPU: sharing, eviction, deaths. service_on_gpu.py SLUICE WORKER OUT.json [PART...]

SLUICE is the program with lib/sluice beside its folder, WORKER is tests/gpu/service_worker.cu as nvcc builds it. A line on standard
output for each check, with what was measured; exit code 1 when one is not met.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

SLUICE, WORKER, OUT = sys.argv[1:4]
PARTS = sys.argv[4:] or ["alone", "share", "evict", "isolate", "kills", "mps"]
FOLDER = tempfile.mkdtemp(prefix="sluice_gpu_")
SOCKET = FOLDER + "/s"
results = []


def note(name, met, **figures):
    results.append({"check": name, "met": bool(met), **figures})
    print(("ok      " if met else "NOT MET ") + name, json.dumps(figures), flush=True)
    with open(OUT, "w") as file:
        json.dump({"command": "tests/gpu/service_on_gpu.py", "results": results}, file, indent=1)


class Service:
    def __init__(self, scheduler, *options):
        self.log = f"{FOLDER}/log{len(os.listdir(FOLDER))}"
        self.errors = open(self.log + ".err", "w+")
        self.process = subprocess.Popen([SLUICE, "serve", "--executor", "gpu", "--scheduler", scheduler, "--socket", SOCKET, "--log",
                                         self.log, *options], stderr=self.errors)
        wait_for(lambda: subprocess.run([SLUICE, "serve", "status", "--socket", SOCKET], capture_output=True).returncode == 0, 5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(5)

    def status(self):
        return json.loads(subprocess.run([SLUICE, "serve", "status", "--json", "--socket", SOCKET], capture_output=True, check=True).stdout)

    def said(self, text):
        with open(self.log + ".err") as file:
            return text in file.read()

    def lines(self):
        with open(self.log) as file:
            return [json.loads(line) for line in file]


class Program:
    def __init__(self, *arguments, run=(), native=False):
        command = [WORKER, *map(str, arguments)]
        if not native:
            command = [SLUICE, "run", "--socket", SOCKET, *map(str, run), "--"] + command
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self, limit=25):
        try:
            self.out, self.err = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            stacks = subprocess.run(["sh", "-c", f"cat /proc/{self.process.pid}/task/*/wchan /proc/{self.process.pid}/task/*/comm"], capture_output=True, text=True).stdout
            self.process.kill()
            self.out, self.err = self.process.communicate()
            self.err += " HUNG " + " ".join(stacks.split())
        self.code = self.process.returncode
        found = re.search(r"us_each (\S+) wrong (\d+)", self.out)
        self.us, self.wrong = (float(found[1]), int(found[2])) if found else (None, None)
        found = re.search(r"(\d+) launches under quota", self.err)
        self.quota = int(found[1]) if found else 0
        found = re.search(r"(\d+) quota violations", self.err)
        self.violations = int(found[1]) if found else 0
        self.right = self.code == 0 and self.wrong == 0 and self.violations == 0
        return self

    def figures(self):
        return {"us_each": self.us, "wrong": self.wrong, "quota": self.quota, "violations": self.violations, "exit": self.code,
                "err": "" if self.right else self.err[-300:]}


def wait_for(condition, limit):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def memory_used():
    return int(subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True,
                              text=True).stdout.split()[0])


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


def kills():
    before = memory_used()
    with Service("even") as service:
        steady = Program(14, 1, 4000, 30, 8)
        time.sleep(1.5)
        for k in range(12):
            victim = Program(9, 1 + k % 3, 4000, 30, 8)
            time.sleep(0.15 + 0.2 * k)
            victim.process.kill()
            victim.process.wait()
        trapped = Program(0.2, 1, 400, 30, 8, "trap").end()
        steady.end()
        note("12 kills and a trap without MPS leave the other right", steady.right, lost=service.status()["lost"], trap=trapped.out[-80:],
             **steady.figures())
    note("device memory as before", wait_for(lambda: memory_used() <= before + 1, 3), before=before, after=memory_used())
    service = Service("even")
    program = Program(3, 1, 4000, 30, 8)
    needy = Program(3, 1, 4000, 30, 8, run=("--require-service",))
    time.sleep(2.8)
    service.process.kill()
    service.process.wait()
    begin = time.monotonic()
    needy.end()
    needed = time.monotonic() - begin
    program.end()
    note("the service killed: goes on natively, or ends with 2 at once", program.right and needy.code == 2 and needed < 1, seconds=needed,
         needy=needy.code, **program.figures())


def mps():
    with Service("even", "--mps") as service:
        others = [Program(6, 1, 4000, 30, 8) for _ in range(2)]
        victim = Program(6, 1, 4000, 30, 8)
        time.sleep(3)
        victim.process.kill()
        begin = time.monotonic()
        restarted = wait_for(lambda: service.said("MPS was started anew"), 3)
        up = time.monotonic() - begin
        after = Program(0.2, 1, 400, 30, 8)
        served = wait_for(lambda: service.status()["clients"] or after.process.poll() is not None, 10)
        submitted = time.monotonic() - begin
        after.end()
        for p in others:
            p.end()
        note("a death under MPS is told, and the next program works within 2 s", restarted and served and after.right and submitted <= 2,
             restart_s=up, submit_s=submitted, others=[p.figures() for p in others], after=after.figures())


def persistent():
    with Service("even", "--mps") as service:
        command = [os.path.join(os.path.dirname(WORKER), "persistent"), SOCKET, "5", "400000", "20"]
        with open(os.devnull) as nothing:
            programs = [subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                         env={**os.environ, "CUDA_MPS_PIPE_DIRECTORY": SOCKET + ".mps"}) for _ in range(2)]
        out = [p.communicate(timeout=25)[0] for p in programs]
        note("two persistent kernels written by hand share", all(p.returncode == 0 for p in programs), out=out, lost=service.status()["lost"])


for part in PARTS:
    try:
        globals()[part]()
    except Exception as error:  # the other parts are worth their time
        note(part, False, error=repr(error))
sys.exit(0 if all(r["met"] for r in results) else 1)
