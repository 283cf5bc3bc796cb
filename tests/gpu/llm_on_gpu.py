#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prefill and decode of a language model on one GPU: each alone, then together in several ways. llm_on_gpu.py SLUICE PROGRAMS OUT.json

PROGRAMS has prefill and decode (tests/gpu/llm), or is torch_pair.py, whose kernels have no PTX. A round runs every load and, within it, every system
in turns; the figures of a system are medians over rounds of its rates over those of the same round alone. OUT.runs.jsonl keeps each run: a later call
goes on where this one ended, and no run begins that would not end within --limit seconds. Exit code 1 where outputs differ, a quota was exceeded or a
run failed.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import threading
import time

import sharing
from sharing import Command, Service

# Of the service: its options, those of its programs, and their priorities.
SERVED = {f"sluice_{s}": ([s], (), {"decode": 20, "prefill": 5}) for s in ("even", "adaptive", "piv", "spatial")}
SERVED["sluice_balance"] = (["balance", "--balance", "floor.decode=0.8"], (), {"decode": 20, "prefill": 5})
SERVED["sluice_hold"] = (["even"], ("--opaque", "hold"), {"decode": 20, "prefill": 5})
SERVED["sluice_piv_prefill"] = (["piv"], (), {"decode": 5, "prefill": 20})
SHARED = {"time_sliced": None, "mps": {}, "mps_50": {"decode": 50, "prefill": 50}}
FIXED = {"sluice_quota": {"decode": ("--quota", 4), "prefill": ("--quota", 1)}, "sluice_sms": {"decode": ("--sms", "0-65"), "prefill": ("--sms", "66-131")},
         "sluice_sms_swapped": {"decode": ("--sms", "66-131"), "prefill": ("--sms", "0-65")}}
FIXED.update({f"fixed_{d}_{p}": {"decode": ("--quota", d), "prefill": ("--quota", p)} for d in (2, 3, 4) for p in (1, 2)})  # CTAs of an SM
# SMs of decode, the others prefill's; decode may use prefill's as well, where those have room.
FIXED.update({f"sms_{n}": {"decode": ("--sms", f"0-{n - 1}"), "prefill": ("--sms", f"{n}-131")} for n in (72, 80, 88, 96, 112)})
FIXED.update({f"over_{n}": {"decode": ("--sms", "0-131"), "prefill": ("--sms", f"{n}-131")} for n in (66, 80, 96)})
IN_ONE_PROCESS = {"priorities": "priorities", "green_contexts": "green"}
asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
asks.add_argument("sluice")
asks.add_argument("programs")
asks.add_argument("out")
asks.add_argument("--loads", default="2,4,8,16,32")
asks.add_argument("--systems", default="time_sliced,mps,mps_50,priorities,green_contexts,sluice_even,sluice_adaptive,sluice_piv",
                  help="each, or as SYSTEM@LOAD/LOAD at these loads alone, of: " + " ".join([*SHARED, *IN_ONE_PROCESS, *FIXED, *SERVED]))
asks.add_argument("--also", default="sluice_alone,half_alone", help="of prefill alone, and of decode at the first load; '' for none")
asks.add_argument("--options", default="", help="of all programs, such as '--layers 1 --hidden 4096 --prompt 1024'")
asks.add_argument("--rounds", type=int, default=5)
asks.add_argument("--seconds", type=float, default=3, help="measured in each run")
asks.add_argument("--add", metavar="RUNS.jsonl", action="append", default=[], help="rounds of another call behind those that are there; with --rounds 0 nothing is run")
asks.add_argument("--limit", type=float, default=3600, help="seconds in which to be done; later rounds are left out first")
A = asks.parse_args()
LOADS = [int(n) for n in A.loads.split(",")]
SYSTEMS = {s: [int(n) for n in at.split("/")] if at else LOADS for s, _, at in (named.partition("@") for named in A.systems.split(","))}
BEGAN = time.monotonic()
RUNS_FILE = A.out.removesuffix(".json") + ".runs.jsonl"
sharing.begin(A.sluice, None, A.out)
sharing.settings.update(SLUICE_CACHE_DIR=os.environ.get("SLUICE_CACHE_DIR", sharing.FOLDER + "/cache"), XDG_STATE_HOME=sharing.FOLDER + "/state")
runs = []


def start(program, load, run=None, percentage=None, first=(), under=("--socket", sharing.SOCKET)):
    """Under Sluice with the options `run`, else as it is. Percentage: of the SMs, under MPS."""
    named = [sys.executable, A.programs, program] if A.programs.endswith(".py") else [os.path.join(A.programs, program)]
    command = [*named, *first, "--seconds", str(A.seconds), "--wait", *A.options.split()] + ([] if program == "prefill" else ["--load", str(load)])
    if percentage is not None:
        command = ["env", f"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE={percentage}", *command]
    return Command(command, run=run or (), native=run is None, under=under, stdin=subprocess.PIPE)


def together(*commands):
    """All begin to measure when all are warm. @return what each program told, and its table"""
    limit = 40 + 4 * A.seconds
    kill = threading.Timer(limit, lambda: [c.process.kill() for c in commands])
    kill.start()
    for c in commands:
        c.process.stdout.readline()
    kill.cancel()
    for c in commands:
        with contextlib.suppress(BrokenPipeError):
            c.process.stdin.write("go\n")
            c.process.stdin.flush()
    return dict(told for c in commands for told in all_told(c.end(limit)))


def all_told(ended):
    """Of each program of a process."""
    lines = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    for figures in lines or [{"program": next(p for p in ("prefill", "decode", "both") if any(c.endswith(p) for c in ended.command))}]:
        figures.update(exit=ended.code, err=ended.err[-500:] if ended.code != 0 else "")
        if ended.report:
            kernels = ended.report["kernels"]
            figures.update(quota_ms=kernels["quota"]["gpu_ms"], native_ms=kernels["native"]["gpu_ms"], violations=ended.report.get("quota_violations"),
                           reasons=ended.report.get("reasons"), table=ended.report.get("table"))
        yield figures.pop("program"), figures


@contextlib.contextmanager
def mps():
    folder = sharing.FOLDER + "/mps"
    os.makedirs(folder, exist_ok=True)
    ours = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
    os.environ.update(ours)
    # A server that sees some GPUs alone numbers them anew for its clients.
    subprocess.run(["nvidia-cuda-mps-control", "-d"], check=True, env={k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"})
    try:
        yield
    finally:
        subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, timeout=20, stdout=subprocess.DEVNULL)
        for name in ours:
            del os.environ[name]


def measure(system, load):
    alone = "prefill" if load == 0 else "decode"
    if system == "alone":
        return together(start(alone, load))
    if system.startswith("quota_alone_"):
        with mps():
            return together(start(alone, load, (), under=("--quota", system.removeprefix("quota_alone_"))))
    if system == "half_alone":
        with mps():
            return together(start(alone, load, percentage=50))
    if system == "sluice_alone":
        with Service("even", "--mps"):
            return together(start(alone, load, ("--name", alone)))
    if system in IN_ONE_PROCESS:
        return together(start("both", load, first=[IN_ONE_PROCESS[system]]))
    if system in SERVED:
        options, of_programs, priorities = SERVED[system]
        with Service(*options, "--mps"):
            return together(*(start(p, load, ("--priority", priorities[p], "--name", p, *of_programs)) for p in priorities))
    if system in FIXED:
        with mps():
            return together(*(start(p, load, (), under=quota) for p, quota in FIXED[system].items()))
    with mps() if SHARED[system] is not None else contextlib.nullcontext():
        return together(*(start(p, load, percentage=(SHARED[system] or {}).get(p)) for p in ("decode", "prefill")))


def interval(values):
    values = list(values)
    return [round(min(values), 4), round(max(values), 4)]


def result(system, load):
    """A row of results.json; None while there is no round of it."""
    rounds = []
    for r in {run["round"] for run in runs}:
        found = {(run["system"], run["load"]): run["programs"] for run in runs if run["round"] == r}
        mine, decode, prefill = found.get((system, load)), found.get(("alone", load)), found.get(("alone", 0))
        if mine and decode and prefill and all("tokens_per_s" in p for p in (*mine.values(), decode["decode"], prefill["prefill"])):
            over = lambda program, figure, alone: mine[program][figure] / alone[program][figure]
            rounds.append({"decode": over("decode", "tokens_per_s", decode), "prefill": over("prefill", "tokens_per_s", prefill),
                           "p50": over("decode", "itl_p50_ms", decode), "p99": over("decode", "itl_p99_ms", decode), "ttft": over("prefill", "ttft_p50_ms", prefill)})
    if not rounds:
        return None
    median = {name: round(statistics.median(r[name] for r in rounds), 4) for name in rounds[0]}
    ends = {name: interval(r[name] for r in rounds) for name in rounds[0]}
    return {"system": system, "load": load, "decode_share": median["decode"], "prefill_share": median["prefill"], "itl_p50": median["p50"], "itl_p99": median["p99"],
            "ttft_p50": median["ttft"], "interval": ends["decode"], "prefill_interval": ends["prefill"], "itl_p50_interval": ends["p50"],
            "itl_p99_interval": ends["p99"], "ttft_p50_interval": ends["ttft"], "rounds": len(rounds)}


def kernels(load):
    """Of each program's kernels under Sluice, in the rounds where most launches ran natively and in the others: microseconds of a launch, as the runtime
    timed some, and the program's rates there."""
    of = {}
    for run in runs:
        for name, p in run["programs"].items():
            if run["load"] in (0, load) and p.get("table") and "tokens_per_s" in p:
                for kernel in {k["kernel"] for k in p["table"]}:
                    parts = [k for k in p["table"] if k["kernel"] == kernel]
                    count = sum(k["launches"] for k in parts)
                    native = 2 * sum(k["launches"] for k in parts if k["way"] == "native") > count
                    of.setdefault((run["system"], name, kernel, native), []).append((1000 * sum(k["gpu_ms"] for k in parts) / count, p["tokens_per_s"]))
    return [{"system": s, "program": p, "kernel": k, "native": native, "rounds": len(each), "us": round(statistics.median(us for us, _ in each), 1),
             "tokens_per_s": [min(rate for _, rate in each), max(rate for _, rate in each)]} for (s, p, k, native), each in sorted(of.items())]


def write():
    """@return whether outputs were as alone, without violations"""
    loads = sorted({run["load"] for run in runs} - {0})
    parts = {"decode": [], "prefill": []}
    checksums, wrong, failed, violations = {}, 0, 0, 0
    for run in runs:
        for name, p in run["programs"].items():
            failed += p["exit"] != 0 or "checksum" not in p
            if "checksum" in p:
                wrong += p["wrong"] + (p["checksum"] != checksums.setdefault((name, run["load"] if name == "decode" else 0), p["checksum"]))
            violations += p.get("violations") or 0
            if "quota_ms" in p:
                parts[name].append((p["quota_ms"], p["native_ms"]))
    share = {name: round(100 * sum(q for q, _ in p) / sum(q + n for q, n in p), 2) if p else None for name, p in parts.items()}
    alone = [{"program": name, "load": load, "rounds": len(p), **{f: statistics.median(x[f] for x in p) for f in ("tokens_per_s", *figures)},
              "interval": interval(x["tokens_per_s"] for x in p)}
             for name, load, figures in [("prefill", 0, ("ttft_p50_ms", "ttft_p99_ms")), *(("decode", n, ("itl_p50_ms", "itl_p99_ms")) for n in loads)]
             if (p := [run["programs"][name] for run in runs if (run["system"], run["load"]) == ("alone", load) and "tokens_per_s" in run["programs"][name]])]
    otherwise = {key: [{"program": name, "load": run["load"], "tokens_per_s": p.get("tokens_per_s")} for run in runs if run["system"] == system
                       for name, p in run["programs"].items()]
                 for key, system in {"alone_under_sluice": "sluice_alone", "alone_on_half": "half_alone",
                                     **{f"alone_under_quota_{n}": f"quota_alone_{n}" for n in (1, 2, 4)}}.items()}
    rows = [row for system, at in SYSTEMS.items() for n in loads if n in at and (row := result(system, n))]
    told = {"kernels": kernels(loads[0])} if len(loads) == 1 else {}
    model = []  # of results/llm/model.py
    with contextlib.suppress(OSError), open(A.out) as file:
        model = json.load(file)["model"]
    with open(A.out, "w") as file:
        json.dump({"command": "tests/gpu/llm_on_gpu.py", "seconds": A.seconds, "alone": alone, **{k: v for k, v in otherwise.items() if v}, "silicon": rows, "model": model,
                   **told, "quota_time_pct": share, "violations": violations, "wrong_outputs": wrong, "failed": failed}, file, indent=1)
    return wrong == 0 and failed == 0 and violations == 0


def main():
    if os.path.exists(RUNS_FILE):
        with open(RUNS_FILE) as file:
            runs.extend(json.loads(line) for line in file)
    for added in A.add:
        first = max((run["round"] for run in runs), default=-1) + 1
        with open(added) as file, open(RUNS_FILE, "a") as out:
            for run in map(json.loads, file):
                runs.append(run | {"round": run["round"] + first})
                out.write(json.dumps(runs[-1]) + "\n")
    wanted = [(r, system, n) for r in range(A.rounds) for n in (0, *LOADS)
              for system in ("alone", *(filter(None, A.also.split(",")) if n in (0, LOADS[0]) else ()), *(s for s, at in SYSTEMS.items() if n in at))]
    longest = 0
    for r, system, n in wanted:
        now = time.monotonic()
        if now - BEGAN + longest > A.limit:
            print(f"no more time: {system} at load {n} in round {r} and what comes after it are left out", flush=True)
            break
        if any((run["round"], run["system"], run["load"]) == (r, system, n) and all(p["exit"] == 0 for p in run["programs"].values()) for run in runs):
            continue
        try:
            run = {"round": r, "system": system, "load": n, "programs": measure(system, n)}
        except (OSError, subprocess.SubprocessError, AttributeError) as error:  # the other systems are worth their time
            print(f"{system} at load {n}: {error!r}", flush=True)
            continue
        runs.append(run)
        longest = max(longest, time.monotonic() - now)
        with open(RUNS_FILE, "a") as file:
            file.write(json.dumps(run) + "\n")
        write()
        said = {name: {k: v for k, v in p.items() if k != "table"} for name, p in run["programs"].items()}
        print(f"{time.monotonic() - BEGAN:6.1f} s", r, system, n, said, flush=True)
    sys.exit(0 if runs and write() else 1)


main()
