# SPDX-License-Identifier: Apache-2.0
"""What the scripts that share a GPU have in common: a service, programs under it, a line and a JSON row for each check."""
import glob
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDER = tempfile.mkdtemp(prefix="sluice_gpu_")
SOCKET = FOLDER + "/s"
number = itertools.count()
results = []
settings = {"SLUICE_COMPILE_WAIT_MS": "10000"}  # of the programs; a launch waits for its code: what is seen does not hang on the compiler's speed
one_at_a_time = threading.Lock()
sluice = worker = results_file = None


def begin(sluice_path, worker_path, file):
    """The program sluice with lib/sluice beside its folder, the program whose copies share, the file of results."""
    global sluice, worker, results_file
    sluice, worker, results_file = sluice_path, worker_path, file


def note(name, met, **figures):
    with one_at_a_time:
        results.append({"check": name, "met": bool(met), **figures})
        print(("ok      " if met else "NOT MET ") + name, json.dumps(figures), flush=True)
        told = json.dumps({"command": "tests/gpu/" + os.path.basename(sys.argv[0]), "results": results}, indent=1)
        with open(results_file, "w") as file:
            file.write(told.replace(FOLDER + "/", ""))  # what the programs said names the socket


def run(functions, parts):
    """The functions that `parts` names, one after another; ends the process with 1 when a check was not met."""
    for part in parts:
        try:
            functions[part]()
        except Exception as error:  # the other parts are worth their time
            note(part, False, error=repr(error))
    sys.exit(0 if all(r.get("met", True) for r in results) else 1)  # what was left out is no check


class Service:
    def __init__(self, scheduler, *options):
        self.log = f"{FOLDER}/log{next(number)}"
        self.errors = open(self.log + ".err", "w+")
        self.process = subprocess.Popen([sluice, "serve", "--executor", "gpu", "--scheduler", scheduler, "--socket", SOCKET, "--log",
                                         self.log, *options], stderr=self.errors)
        wait_for(lambda: subprocess.run([sluice, "serve", "status", "--socket", SOCKET], capture_output=True).returncode == 0, 5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(5)

    def status(self):
        return json.loads(subprocess.run([sluice, "serve", "status", "--json", "--socket", SOCKET], capture_output=True, check=True).stdout)

    def said(self, text):
        return text in self.lines_said()

    def lines_said(self):
        with open(self.log + ".err") as file:
            return file.read()

    def lines(self):
        with open(self.log) as file:
            return [json.loads(line) for line in file]


class Command:
    """A program as it is, by `sluice run` with the options `under` (those of the service) and `run`, or natively; its table of launches
    is in `report` at its end."""

    def __init__(self, command, run=(), native=False, folder=None, under=("--socket", SOCKET), stdin=subprocess.DEVNULL):
        self.command = command
        self.report_file = f"{FOLDER}/report{next(number)}"
        open(self.report_file, "w").close()
        if not native:
            command = [sluice, "run", *map(str, (*under, *run)), "--"] + command
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
                                        errors="replace", start_new_session=True, env={**os.environ, **settings, "SLUICE_REPORT": self.report_file})

    def end(self, limit=25):
        self.hung = False
        try:
            self.out, self.err = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.hung = True
            stacks = where_it_waits(self.process.pid)
            os.killpg(self.process.pid, signal.SIGKILL)  # and its children, which have its output
            self.out, self.err = self.process.communicate()
            self.err += " HUNG " + stacks
        self.seconds = time.monotonic() - self.began
        self.code = self.process.returncode
        with open(self.report_file) as file:
            text = file.read()
        self.report = json.loads(text) if text else {}
        kernels = self.report.get("kernels", {})
        self.quota, self.native = (kernels.get(way, {}).get("launches", 0) for way in ("quota", "native"))
        self.violations = self.report.get("quota_violations", 0)  # None: not known, as behind a reset
        return self


class Program(Command):
    """service_worker: it says how long its launches took, and how many words were wrong."""

    def __init__(self, *arguments, run=(), native=False):
        super().__init__([worker, *map(str, arguments)], run, native)

    def end(self, limit=25):
        super().end(limit)
        found = re.search(r"us_each (\S+) wrong (\d+)", self.out)
        self.us, self.wrong = (float(found[1]), int(found[2])) if found else (None, None)
        self.right = self.code == 0 and self.wrong == 0 and not self.violations
        return self

    def figures(self):
        return {"us_each": self.us, "wrong": self.wrong, "quota": self.quota, "violations": self.violations, "exit": self.code,
                "err": "" if self.right else self.err[-300:]}


def where_it_waits(pid):
    """Each thread of it and of its children: name, system call, where the kernel holds it, and what its first argument is."""
    said = []
    for task in glob.glob(f"/proc/{pid}/task/*"):
        try:
            said.append(" ".join([read(task + "/comm"), *read(task + "/syscall").split()[:2], read(task + "/wchan")]))
            call = read(task + "/syscall").split()
            said[-1] += " " + os.readlink(f"{task}/fd/{int(call[1], 16)}")
        except (OSError, ValueError, IndexError):
            pass
        said += [where_it_waits(int(child)) for child in read(task + "/children").split()]
    return "; ".join(said)


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


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
