#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prefill beside decode on the GPU model: each alone, together under several policies, and on changed machines. model.py SLUICE [--machine M.toml]

Runs configs/workloads/llm (a prompt of 1,024 tokens, and steps of decode at load 8) and writes model.json beside this file, and the rows "model" of
results.json. --runs FOLDER keeps what each simulation prints, as it ends; one that is there is not run again. Two programs run until one of them is
done; how far the other one is then follows from its instructions.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE.parent.parent / "configs/workloads/llm"
PROMPT, LOAD, PER_STEP = 1024, 8, 14  # tokens, sequences, launches of a step
ALONE = {"prefill": ("left_over", ["prefill.g"]), "decode": ("left_over", ["decode_2.g"])}
TOGETHER = {p: (p, ["prefill.g", "decode_4.g"]) for p in ("left_over", "spatial", "even", "warped_slicer", "balance")}
# What a change of the machine brings: the line of the machine file, and by how much.
CHANGED = {"registers": ("sm", "registers", 0.5), "l2": ("l2", "bytes", 2), "bandwidth": ("dram", "clock_mhz", 1.5)}
CHANGED_RUNS = {"prefill": ALONE["prefill"], "decode": ALONE["decode"], "even": TOGETHER["even"]}


def changed(machine, folder, name):
    """The machine file with one value changed."""
    section, key, factor = CHANGED[name]
    lines, inside = machine.read_text().splitlines(), ""
    for i, line in enumerate(lines):
        if line.startswith("["):
            inside = line.split("]")[0][1:]
        if inside == section and line.split("=")[0].strip() == key:
            lines[i] = f"{key} = {round(float(line.split('=')[1].split('#')[0]) * factor)}"
    out = pathlib.Path(folder) / f"{machine.stem}_{name}.toml"
    out.write_text("\n".join(lines) + "\n")
    return out


def run(sluice, machine, policy, lists, kept):
    if not kept.exists():
        command = [sluice, "trace", *(str(TRACES / g) for g in lists), "--machine", str(machine), "--policy", policy, "--json", *["--until-one"] * (len(lists) > 1)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return None
        kept.with_suffix(".new").write_text(done.stdout)
        kept.with_suffix(".new").replace(kept)
    return json.loads(kept.read_text())


def programs(result):
    """The launches of each list."""
    out = {}
    for k in result["kernels"]:
        out.setdefault(k["process"], []).append(k)
    return [out[p] for p in sorted(out)]


def work(launches, alone):
    """Cycles of the program alone that it has behind it."""
    return sum(cycles * min(1, k["warp_instructions"] / instructions) for i, k in enumerate(launches) for cycles, instructions in [alone[i % len(alone)]])


def lengths(launches):
    """Of each launch, with the gap before it, its cycles and instructions: what it takes of the program alone."""
    ends = [0] + [k["finish_cycle"] for k in launches]
    return [(end - before, k["warp_instructions"]) for k, before, end in zip(launches, ends, ends[1:])]


def main():
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("sluice", help="the program, or '-': --runs has all")
    asks.add_argument("--machine", type=pathlib.Path, default=HERE.parent.parent / "configs/machines/h200_sm90.toml")
    asks.add_argument("--runs", type=pathlib.Path)
    asks.add_argument("--jobs", type=int, default=os.cpu_count())
    asks.add_argument("--out", type=pathlib.Path, default=HERE)
    a = asks.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        kept = a.runs or pathlib.Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        plan = {**{f"{n}.alone": (a.machine, *r) for n, r in ALONE.items()}, **{f"both.{n}": (a.machine, *r) for n, r in TOGETHER.items()},
                **{f"{c}.{'both.' if n == 'even' else ''}{n}": (changed(a.machine, folder, c), *r) for c in CHANGED for n, r in CHANGED_RUNS.items()}}
        pending = {n: pool.submit(run, a.sluice, *r, kept / f"{n}.json") for n, r in plan.items() if a.sluice != "-" or (kept / f"{n}.json").exists()}
        results = {n: p.result() for n, p in pending.items() if p.result()}

    mhz = next(iter(results.values()))["core_mhz"]
    alone = {p: lengths(programs(results[f"{p}.alone"])[0])[PER_STEP if p == "decode" else 0:] for p in ALONE if f"{p}.alone" in results}
    length = {p: sum(cycles for cycles, _ in launches) for p, launches in alone.items()}
    rate = {p: (PROMPT if p == "prefill" else LOAD) * mhz * 1e6 / length[p] for p in alone}
    rows = []
    for name in TOGETHER:
        if f"both.{name}" not in results or len(alone) < len(ALONE):
            continue
        of_prefill, of_decode = programs(results[f"both.{name}"])
        end = results[f"both.{name}"]["cycles"]
        ends = [0] + [k["finish_cycle"] for k in of_decode[PER_STEP - 1::PER_STEP] if k["finish_cycle"]]
        itl = [b - a for a, b in zip(ends, ends[1:])] or [end]
        rows.append({"system": name, "load": LOAD, "decode_share": round(work(of_decode, alone["decode"]) / end, 4),
                     "prefill_share": round(work(of_prefill, alone["prefill"]) / end, 4), "itl_p50": round(statistics.median(itl) / length["decode"], 4),
                     "itl_p99": round(max(itl) / length["decode"], 4), "steps": len(ends) - 1})
    sweep = []
    for c, (_, _, factor) in CHANGED.items():
        for name, base in (("prefill", "prefill.alone"), ("decode", "decode.alone"), ("even", "both.even")):
            now = results.get(f"{c}.{base if name == 'even' else name}")
            if now and base in results and len(alone) == len(ALONE):  # tokens a second over those of the machine as it is
                over = [[work(k, alone[p]) / r["cycles"] for p, k in zip(ALONE if name == "even" else [name], programs(r))] for r in (now, results[base])]
                sweep.append({"changed": c, "factor": factor, "run": name, "over": [round(x / y, 4) for x, y in zip(*over)]})
    kernels = [{"program": p, "launch": i, "kernel": k["name"], "us": round((k["finish_cycle"] - k["begin_cycle"]) / mhz, 2), "dram_bytes": k["dram_bytes"]}
               for p in alone for i, k in enumerate(results[f"{p}.alone"]["kernels"][-PER_STEP if p == "decode" else 0:])]
    model = {"machine": a.machine.name, "alone": {p: round(r, 1) for p, r in rate.items()}, "model": rows, "sweep": sweep, "kernels": kernels}
    (a.out / "model.json").write_text(json.dumps(model, indent=1) + "\n")
    if (a.out / "results.json").exists():
        measured = json.loads((a.out / "results.json").read_text())
        measured["model"] = rows
        (a.out / "results.json").write_text(json.dumps(measured, indent=1) + "\n")


main()
