#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sharing service on a GPU does about programs that end, stand still or do wrong: a line for each fault.

faults_on_gpu.py SLUICE WORKER OUT.json [PART...]. SLUICE is the program with lib/sluice beside its folder; WORKER is
tests/gpu/service_worker.cu as nvcc builds it. While a fault happens a steady program shares the GPU: its results must be right. Kinds of
kernels and faults of single programs are those of programs_on_gpu.py. Exit code 1 when a check is not met.
"""
import glob
import os
import random
import signal
import socket
import subprocess
import sys
import time

import sharing
from sharing import SOCKET, Program, Service, memory_used, note, wait_for

sharing.begin(*sys.argv[1:4])
PARTS = sys.argv[4:] or ["long_blocks", "stopped", "crashes", "kills", "deaths_alone", "deaths_mps", "daemon", "words", "users"]


def steady(seconds):
    return Program(seconds, 1, 4000, 30, 8, run=("--name", "steady"))


def long_blocks():
    with Service("rr", "--mps") as service:
        beside = steady(5)
        time.sleep(1)
        p = Program(0.1, 1, 4000, 400000, 1, run=("--name", "long")).end()
        late = service.said("eviction late: ")
        beside.end()
        note("blocks of 0.4 s: the service says that their eviction is late, others go on", late and p.right and beside.right,
             out=p.out[-100:], quota=p.quota, reasons=p.report.get("reasons"), said=service.lines_said()[-300:],
             steady=beside.figures())


def stopped():
    for scheduler in ("rr", "even"):
        with Service(scheduler) as service:
            beside = steady(7)
            p = Program(3, 1, 4000, 30, 8, run=("--name", "sleepy"))
            time.sleep(2)
            p.process.send_signal(signal.SIGSTOP)
            before = service.status()
            time.sleep(3)
            p.process.send_signal(signal.SIGCONT)
            p.end()
            beside.end()
            note(f"a program stopped for 3 s and continued: {scheduler}", p.right and beside.right and before["lost"] == 0 and
                 (scheduler == "even" or service.said("nobody waits for it any more")), said=service.lines_said()[-300:],
                 states=[(c["name"], c["state"]) for c in before["clients"]], steady=beside.figures(), **p.figures())


def crashes():
    with Service("even") as service:
        beside = steady(6)
        time.sleep(1)
        p = Program(0.3, 1, 4000, 30, 8, "trap").end()
        note("a program that traps: it fails, with its driver's error", p.code == 3 and "error 7" in p.out, exit=p.code, out=p.out[-100:], err=p.err[-200:])
        beside.end()
        note("beside them: right", beside.right, lost=service.status()["lost"], **beside.figures())


def kills():
    """At any moment of a program's life: the driver's start, compilation, launches, shares that change, its end."""
    before, moment = memory_used(), random.Random(26)
    shared = set(os.listdir("/dev/shm"))
    with Service("rr") as service:
        beside = steady(58)
        time.sleep(1)
        open_before = len(os.listdir(f"/proc/{service.process.pid}/fd"))
        slowest = 0
        for k in range(50):
            victim = Program(9, 1 + k % 3, 4000, 30, 8, run=("--name", f"victim{k}"))
            time.sleep(moment.uniform(0.02, 1.6))
            victim.process.kill()
            victim.process.wait()
            begin = time.monotonic()
            wait_for(lambda: len(service.status()["clients"]) <= 1, 5)
            slowest = max(slowest, time.monotonic() - begin)
        opened = len(os.listdir(f"/proc/{service.process.pid}/fd"))
        lost = service.status()["lost"]
        beside.end(70)
        note("50 kills at random moments leave the other right", beside.right and slowest < 1, lost=lost, noticed_s=round(slowest, 3),
             **beside.figures())
        note("no descriptor of the daemon is left", opened == open_before, before=open_before, after=opened)
    note("device memory, sockets and shared memory as before", wait_for(lambda: memory_used() <= before + 1, 3) and set(
        os.listdir("/dev/shm")) <= shared and not glob.glob(SOCKET), before=before, after=memory_used(), left=sorted(set(os.listdir("/dev/shm")) - shared))


def daemon():
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
    with Service("even"):
        again = Program(0.5, 1, 4000, 30, 8).end()
        note("a new service on the dead one's socket", again.right and again.quota > 0, **again.figures())


WAYS_TO_DIE = ["killed", "killed asleep", "SIGSEGV", "trap", "reset", "killed early"]


def deaths(count, *options, ways=tuple(WAYS_TO_DIE)):
    """One of two programs ends in each way, while it runs and the other sleeps, or asleep, or before it has run: the other and a later
    one must be right. Under MPS the driver may take the other's context with it; then it must be told so, and the later one work within
    two seconds."""
    moment = random.Random(58)
    for k in range(count):
        how = ways[k % len(ways)]
        with Service("piv", *options) as service:
            beside = Program(2, 1, 4000, 30, 8, run=("--name", "beside", "--priority", 8))
            last = [how] if how in ("trap", "reset") else []
            victim = Program(0.5 if last else 9, 1, 4000, 30, 8, *last, run=("--name", "victim", "--priority", 5 if how == "killed asleep" else 9))
            if not last:
                time.sleep(moment.uniform(0.05, 0.6) if how == "killed early" else moment.uniform(1, 1.6))
                victim.process.send_signal(signal.SIGSEGV if how == "SIGSEGV" else signal.SIGKILL)
            victim.end()
            begin = time.monotonic()
            later = Program(0.2, 1, 400, 30, 8, run=("--name", "later"))
            wait_for(lambda: later.process.poll() is not None or any(
                c["name"] == "later" and c["kernels"] for c in service.status()["clients"]), 10)
            submitted = time.monotonic() - begin
            answers = asked_of_mps() if submitted > 2 else {}
            later.end()
            beside.end()
            told = "--mps" in options and beside.code != 0 and "sluice:" in beside.err
            ended = victim.right if how == "reset" else victim.code != 0
            met = ended and (beside.right or told) and later.right and submitted <= 2
            note(f"{' '.join(options)} {how}, {k}", met, submit_s=round(submitted, 2), load=os.getloadavg()[0], said=service.lines_said()[-600:],
                 victim=victim.figures(), beside=beside.figures(), later=later.figures(), mps=answers)


def asked_of_mps():
    """What its control daemon says, and what it writes."""
    def ask(words):
        try:
            return subprocess.run(["nvidia-cuda-mps-control"], input=words + "\n", capture_output=True, text=True, timeout=2,
                                  env={**os.environ, "CUDA_MPS_PIPE_DIRECTORY": SOCKET + ".mps"}).stdout.strip()
        except subprocess.TimeoutExpired:
            return "no answer in 2 s"
    servers = ask("get_server_list")
    said = {"servers": servers, **{f"{what} {s}": ask(f"{what} {s}") for s in servers.split() if s.isdigit() for what in ("get_server_status", "get_client_list")}}
    return {**said, **{os.path.basename(f): sharing.read(f)[-1500:] for f in glob.glob(SOCKET + ".mps/log/*")}}


def deaths_early():
    deaths(24, "--mps", ways=("killed early",))


def deaths_alone():
    deaths(24)


def deaths_mps():
    deaths(60, "--mps")


def words():
    """Commands that are refused, each with one line and exit code 2."""
    def refused(name, arguments, has):
        p = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, timeout=10)
        lines = p.stderr.strip().splitlines()
        note(f"refused: {name}", p.returncode == 2 and len(lines) == 1 and has in lines[0], exit=p.returncode, err=p.stderr[-300:])
    with Service("even"):
        refused("a second daemon", ["serve", "--executor", "gpu", "--scheduler", "even", "--socket", SOCKET], "another daemon")
        refused("priority 31", ["run", "--socket", SOCKET, "--priority", "31", "--", "true"], "30")
        refused("an unknown scheduler", ["serve", "--socket", SOCKET + "2", "--scheduler", "best"], "best")
        clients = []
        for _ in range(65):
            clients.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            clients[-1].settimeout(2)
            clients[-1].connect(SOCKET)
        note("refused: the 65th client", b"too many clients" in clients[-1].recv(4096))
        for c in clients:
            c.close()
    refused("no service", ["run", "--socket", SOCKET, "--require-service", "--", "true"], "service")


def users():
    with Service("even"):
        os.chmod(sharing.FOLDER, 0o755)
        os.chmod(SOCKET, 0o666)
        code = "import socket,os; os.setuid(65534); s=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(%r); print(s.recv(4096))" % SOCKET
        p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=10)
        note("another user's process is refused", "this service is user" in p.stdout, out=p.stdout[-200:], err=p.stderr[-200:])


sharing.run(globals(), PARTS)
