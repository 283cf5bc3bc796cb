#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prefill beside decode on the GPU model: each alone, together under several policies, and on changed machines. model.py SLUICE [--machine M.toml] [--mhz N]

Runs configs/workloads/llm (a prompt of 1,024 tokens, and steps of decode at load 8) and writes model.json beside this file, and the rows "model" of
results.json. --runs FOLDER keeps what each simulation prints, as it ends; one that is there is not run again.

Together, a step of decode runs beside each of PARTS of the prompt, until one of the two is done or WINDOW cycles are over; how far a launch is then
follows from its instructions. A system's shares are those over the whole prompt: each part counts as long as it takes there.
"""
import argparse
import concurrent.futures
import json
import lzma
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
TRACES = HERE.parent.parent / "configs/workloads/llm"
PROMPT, LOAD, PER_STEP, WINDOW = 1024, 8, 14, 1000000  # tokens, sequences, launches of a step, cycles
ALONE = {"prefill": ["prefill.g"], "decode": ["decode_2.g"]}
# Of a prompt's launches; the products of the feed-forward part are by themselves.
PARTS = {"up": (7, 8), "down": (8, 13), "first": (0, 7)}
POLICIES = ("even", "spatial", "left_over", "warped_slicer", "balance")
# What a change of the machine brings: the line of the machine file, and by how much. No machine has more registers: launches that need half as many
# stand for a register file twice as large.
CHANGED = {"registers": None, "l2": ("l2", "bytes", 2), "bandwidth": ("dram", "clock_mhz", 1.5), "sms": ("", "num_sms", 0.5)}
CHANGED_RUNS = {"even": ("even", ["up.g", "decode.g"]), "decode": ("left_over", ["decode.g"]), "prefill": ("left_over", ["up.g"])}


def changed(machine, folder, name, section, key, factor):
    """The machine file with one value changed."""
    lines, inside = machine.read_text().splitlines(), ""
    for i, line in enumerate(lines):
        if line.startswith("["):
            inside = line.split("]")[0][1:]
        if inside == section and line.split("=")[0].strip() == key:
            lines[i] = f"{key} = {round(float(line.split('=')[1].split('#')[0]) * factor)}"
    out = pathlib.Path(folder) / f"{machine.stem}_{name}.toml"
    out.write_text("\n".join(lines) + "\n")
    return out


def with_half(folder, name):
    """The list with launches that need half the registers."""
    files = []
    for trace in (next(f for f in (TRACES / name, folder / name) if f.exists())).read_text().split():
        files.append(folder / f"half_{pathlib.Path(trace).stem}")
        with lzma.open(TRACES / trace, "rt") as file, open(files[-1], "w") as out:
            for line in file:
                out.write(re.sub(r"^-nregs = (\d+)", lambda m: f"-nregs = {-(-int(m[1]) // 2)}", line))
    (folder / f"half_{name}").write_text("\n".join(map(str, files)) + "\n")


def parts(folder):
    """Lists of the prompt's parts."""
    traces = [TRACES / line for line in (TRACES / "prefill.g").read_text().split()]
    for name, (begin, end) in PARTS.items():
        (pathlib.Path(folder) / f"{name}.g").write_text("\n".join(map(str, traces[begin:end])) + "\n")


def run(sluice, folder, machine, policy, lists, kept):
    if not kept.exists():
        for g in lists:
            if g.startswith("half_"):
                with_half(pathlib.Path(folder), g.removeprefix("half_"))
        files = [str(next(f for f in (TRACES / g, pathlib.Path(folder) / g) if f.exists())) for g in lists]
        command = [sluice, "trace", *files, "--machine", str(machine), "--policy", policy, "--json", *["--until-one", "--window", str(WINDOW)] * (len(lists) > 1)]
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
    return sum(cycles * min(1, k["warp_instructions"] / instructions) for k, (cycles, instructions) in zip(launches, alone))


def lengths(launches):
    """Of each launch, with the gap before it, its cycles and instructions: what it takes of the program alone."""
    ends = [0] + [k["finish_cycle"] for k in launches]
    return [(end - before, k["warp_instructions"]) for k, before, end in zip(launches, ends, ends[1:])]


def together(of, alone, earlier):
    """A row of results.json, of one system's runs by part; a part that did not run has the shares of an earlier call."""
    takes, shares = {}, {part: (earlier[part]["prefill_share"], earlier[part]["decode_share"]) for part in PARTS if part in earlier}
    for part, result in of.items():
        of_prefill, of_decode = programs(result)
        prompt = alone["prefill"][slice(*PARTS[part])]
        shares[part] = tuple(work(k, a) / result["cycles"] for k, a in ((of_prefill, prompt), (of_decode, alone["decode"])))
    for part, (share, _) in shares.items():
        takes[part] = sum(cycles for cycles, _ in alone["prefill"][slice(*PARTS[part])]) / share
    whole = sum(takes.values())
    share = [sum(shares[part][i] * takes[part] for part in shares) / whole for i in (0, 1)]
    return {"load": LOAD, "decode_share": round(share[1], 4), "prefill_share": round(share[0], 4), "itl_p50": round(statistics.median(1 / d for _, d in shares.values()), 4),
            "itl_p99": round(max(1 / d for _, d in shares.values()), 4),
            "parts": {part: {"decode_share": round(d, 4), "prefill_share": round(p, 4)} for part, (p, d) in shares.items()}}


def limits(machine):
    """Of each launch in configs/workloads/llm.toml: CTAs that an SM holds, and what allows no more."""
    sm, kernels = tomllib.loads(machine.read_text())["sm"], tomllib.loads(TRACES.with_suffix(".toml").read_text())["kernel"]
    out = {}
    for k in kernels:
        fit = {"registers": sm["registers"] // k["registers_per_cta"], "threads": sm["threads"] // k["block_threads"], "slots": sm["cta_slots"]}
        if k["shared_bytes_per_cta"]:
            fit["shared memory"] = sm["shared_memory_bytes"] // k["shared_bytes_per_cta"]
        most = min(fit.values())
        out.setdefault(k["name"].split("-")[0], []).append(
            {"name": k["name"], "ctas": k["grid_ctas"], "ctas_per_sm": most, "limited_by": " and ".join(n for n in fit if fit[n] == most)})
    return out


def main():
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("sluice", help="the program, or '-': --runs has all")
    asks.add_argument("--machine", type=pathlib.Path, default=HERE.parent.parent / "configs/machines/h200_sm90.toml")
    asks.add_argument("--mhz", type=int, help="of the SMs, in place of the machine's; at_MHZ.json is written in place of model.json, and no results.json")
    asks.add_argument("--runs", type=pathlib.Path)
    asks.add_argument("--only", nargs="*", help="of the runs, as --runs names them")
    asks.add_argument("--jobs", type=int, default=os.cpu_count())
    asks.add_argument("--out", type=pathlib.Path, default=HERE)
    a = asks.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        kept = a.runs or pathlib.Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        parts(folder)
        machine = changed(a.machine, folder, "clock", "", "core_mhz", a.mhz / tomllib.loads(a.machine.read_text())["core_mhz"]) if a.mhz else a.machine
        pairs = {f"both.{policy}.{part}": (machine, policy, [f"{part}.g", "decode.g"]) for part in PARTS for policy in POLICIES}
        changes = {f"{c}.{n}": (changed(machine, folder, c, *line), *r) if line else (machine, r[0], [f"half_{g}" for g in r[1]])
                   for n, r in CHANGED_RUNS.items() for c, line in CHANGED.items() if (c, n) != ("sms", "even")}
        plan = {**{f"{n}.alone": (machine, "left_over", lists) for n, lists in ALONE.items()}, **pairs, **changes}
        pending = {n: pool.submit(run, a.sluice, folder, *r, kept / f"{n}.json") for n, r in plan.items()
                   if (not a.only or n in a.only) and (a.sluice != "-" or (kept / f"{n}.json").exists())}
        results = {n: p.result() for n, p in pending.items() if p.result()}

    mhz = next(iter(results.values()))["core_mhz"]
    alone = {p: lengths(programs(results[f"{p}.alone"])[0])[PER_STEP if p == "decode" else 0:] for p in ALONE if f"{p}.alone" in results}
    rate = {p: (PROMPT if p == "prefill" else LOAD) * mhz * 1e6 / sum(cycles for cycles, _ in launches) for p, launches in alone.items()}
    file = a.out / (f"at_{a.mhz}.json" if a.mhz else "model.json")
    last = json.loads(file.read_text()) if file.exists() else {"machine": "", "model": []}
    earlier = {row["system"]: row["parts"] for row in last["model"] if last["machine"] == a.machine.name}
    rows, sweep = [], []
    if len(alone) == len(ALONE):
        for policy in POLICIES:
            of = {part: results[f"both.{policy}.{part}"] for part in PARTS if f"both.{policy}.{part}" in results}
            rows += [{"system": policy, **together(of, alone, earlier.get(policy, {}))}] if of or policy in earlier else []
        up = {"prefill": alone["prefill"][slice(*PARTS["up"])], "decode": alone["decode"]}
        for c, line in CHANGED.items():
            for name in CHANGED_RUNS:
                now, base = results.get(f"{c}.{name}"), results.get("both.even.up")
                if now and (base or name != "even"):  # tokens a second over those of the machine as it is
                    rates = [[work(k, up[p]) / r["cycles"] for p, k in zip(up if name == "even" else [name], programs(r))] for r in (now, base) if r]
                    before = rates[1] if name == "even" else [1]
                    sweep.append({"changed": c, "factor": line[2] if line else 2, "run": name, "over": [round(x / y, 4) for x, y in zip(rates[0], before)]})
    fits = limits(a.machine)
    kernels = [{"program": p, "launch": i, "kernel": k["name"], "us": round((k["finish_cycle"] - k["begin_cycle"]) / mhz, 2), "dram_bytes": k["dram_bytes"],
                "warp_instructions": k["warp_instructions"], "waits": max(k["stalls"], key=lambda w: k["stalls"][w] if w != "idle" else 0), **fits[p][i]}
               for p in alone for i, k in enumerate(results[f"{p}.alone"]["kernels"][-PER_STEP if p == "decode" else 0:])]
    model = {"machine": a.machine.name, "alone": {p: round(r, 1) for p, r in rate.items()}, "model": rows, "sweep": sweep, "kernels": kernels}
    file.write_text(json.dumps(model, indent=1) + "\n")
    if not a.mhz and (a.out / "results.json").exists():
        measured = json.loads((a.out / "results.json").read_text())
        measured["model"] = rows
        (a.out / "results.json").write_text(json.dumps(measured, indent=1) + "\n")


main()
