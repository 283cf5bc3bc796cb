#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model beside programs that nobody here wrote, by rule.py. OUT is build.py's.
usage: blind.py record OUT HALF SLUICE [SECONDS [JOBS]]    traces of the first launches, of programs that end with 0 alone
       blind.py count OUT HALF [SECONDS [JOBS]]            the same launches under Nsight Compute
       blind.py open OUT [COMMIT]                          the closed half may be compared from now on: once
       blind.py model OUT HALF SLUICE MACHINE [JOBS]       their cycles on the model
       blind.py page OUT... FILE.json                      what of all that is kept; counted_again-HALF.jsonl in OUT is a second count,
                                                           and what `gpu record --check` would refuse by the first is said to be refused
Each command goes on where it was, and stops after SECONDS."""
import concurrent.futures
import csv
import datetime
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import rule

HERE = pathlib.Path(__file__).resolve().parent
# The field of a launch begins with the name. JUDGED is the machine of which the closed half is opened; the others stand beside it.
MACHINES = {"machine": HERE.parents[2] / "configs/machines/h200_sm90.toml",
            **{name: HERE / f"h200_{name}.toml" for name in ("refresh", "stores", "fetch")}}
JUDGED = "stores"
INSTRUCTIONS, CYCLES = "smsp__inst_executed.sum", "gpc__cycles_elapsed.max"


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def run(command, seconds, **more):
    """(exit code, seconds); 124: it took too long, and all of its processes are ended."""
    begun = time.monotonic()
    done = subprocess.run(["timeout", "-k", "5", str(seconds), *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **more)
    return done.returncode, round(time.monotonic() - begun, 2)


def work(out, step, half, todo, seconds, jobs, one):
    """Appends a line of `one` for each of `todo` that has none in OUT/STEP-HALF.jsonl."""
    file, until = out / f"{step}-{half}.jsonl", time.monotonic() + float(seconds)
    known = {line["program"] for line in lines(file)}

    def guarded(item):
        return None if time.monotonic() > until else one(item)
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool, file.open("a") as kept:
        for found in concurrent.futures.as_completed([pool.submit(guarded, i) for i in todo if i["program"] not in known]):
            if found.result():
                kept.write(json.dumps(found.result()) + "\n")
                kept.flush()


def command_of(out, half):
    rows = [row.split("\t") for row in (out / f"programs-{half}.tsv").read_text().splitlines()]
    return {row[0]: [out / "bin" / row[0], *row[1:]] for row in rows}


def counted(file):
    text = file.read_text(errors="replace") if file.exists() else ""
    rows = list(csv.DictReader(text[text.find('"ID"'):].splitlines())) if '"ID"' in text else []
    number = lambda row, what: int(float(row[what].replace(",", "") or 0))  # noqa: E731
    return [{"kernel": row["Kernel Name"], "counted": number(row, INSTRUCTIONS), "h200_cycles": number(row, CYCLES), "grid": row["Grid Size"],
             "block": row["Block Size"]} for row in rows if row["ID"] and row[INSTRUCTIONS] not in ("", "nan")]


def own(program, kernel):
    """A program of tests/gpu/sm90/tensor.py: it has its only kernel's name, and rule 5's limits are not for it."""
    return program == kernel


def compared(program):
    return [c for c in program["launches"] if own(program["program"], c["kernel"])] or rule.launches(program["launches"])


def record(out, half, sluice, seconds=1e6, jobs=1):
    def one(item):
        folder = (out / "traces" / item["program"]).resolve()
        with tempfile.TemporaryDirectory() as there:
            alone, took = run(item["command"], rule.SECONDS, cwd=there, stderr=subprocess.DEVNULL)
            if alone != 0:  # rule 4
                return {"program": item["program"], "exit": None, "seconds": took, "alone": alone}
            code, took = run([sluice, "gpu", "record", "--out", folder, "--limit", "4G", "--total", "1G", "--", *item["command"]], 10 * rule.SECONDS, cwd=there,
                             stderr=subprocess.DEVNULL)
            found = {"program": item["program"], "exit": code, "seconds": took, "alone": 0}
        kept = folder / "recorded.json"
        return {**found, **(json.loads(kept.read_text()) if kept.exists() else {}), "exit": code}
    work(out, "recorded", half, [{"program": n, "command": c} for n, c in command_of(out, half).items()], seconds, jobs, one)


def count(out, half, seconds=1e6, jobs=1):
    def one(item):
        kernels = {k["name"] for k in item.get("kernels", []) + item.get("not_recorded", []) if k["name"] != "?"}
        end = ["--kill", "yes", "--launch-count", len(kernels)] if kernels else []
        with tempfile.TemporaryDirectory() as there:
            found = {"program": item["program"]}
            found["exit"], found["seconds"] = run(
                ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name-base", "mangled", "--print-kernel-base", "mangled", "--kernel-id",
                 ":::1", *end, "--clock-control", "none", "--metrics", f"{INSTRUCTIONS},{CYCLES}", "--log-file", "counted.csv",
                 *commands[item["program"]]], 5 * rule.SECONDS, cwd=there, stderr=subprocess.DEVNULL)
            found["launches"] = counted(pathlib.Path(there) / "counted.csv")
        return found
    commands = command_of(out, half)
    work(out, "counted", half, [r for r in lines(out / f"recorded-{half}.jsonl") if r.get("alone", 0) == 0], seconds, jobs, one)


def open_closed(out, commit=""):
    file = out / "opened.json"
    if file.exists():
        sys.exit(f"{file}: it has been opened")
    commit = commit or subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()
    file.write_text(json.dumps({"date": f"{datetime.datetime.now(datetime.UTC):%FT%TZ}", "commit": commit, "judged": JUDGED, **hashes()}) + "\n")


def hashes():
    return {f"{name}_sha256": sha256(file) for name, file in MACHINES.items()}


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def model(out, half, sluice, machine, jobs=1):
    opened = lines(out / "opened.json")
    if half == "closed" and not (opened and sha256(pathlib.Path(machine)) in opened[0].values()):
        sys.exit("the closed half has not been opened for this machine file: blind.py open")

    def one(item):
        folder = out / "traces" / item["program"]
        found = {"program": item["program"], "kernels": []}
        for i, kernel in enumerate(item.get("kernels", [])):
            if not (folder / f"kernel-{i + 1}.traceg.xz").exists():
                continue  # not all traces are kept
            if kernel["warp_instructions"] > 1.1 * rule.MOST and not own(item["program"], kernel["name"]):
                continue
            (folder / f"{i}.g").write_text(f"kernel-{i + 1}.traceg.xz\n")
            done = subprocess.run(["nice", "timeout", "900", sluice, "trace", folder / f"{i}.g", "--machine", machine, "--json"], capture_output=True, text=True)
            found["kernels"].append({"kernel": kernel["name"], "exit": done.returncode, **(json.loads(done.stdout) if done.returncode == 0 else {})})
            found["kernels"][-1].pop("sms", None)
        return found
    work(out, f"model-{pathlib.Path(machine).stem}", half, lines(out / f"recorded-{half}.jsonl"), 1e6, jobs, one)


def refused(recorded, count):
    """What `sluice gpu record --check` says of a trace that is not whole; empty: it lets it through."""
    return f"{recorded} warp instructions, and Nsight Compute counts {count}" if abs(recorded - count) > count / 100 else ""


def page(*arguments):
    kept, launches = {"rule": sha256(pathlib.Path(rule.__file__)), **hashes()}, {}
    for out, half in ((pathlib.Path(a), half) for half in ("open", "closed") for a in arguments[:-1]):
        kept |= {"opened": o for o in lines(out / "opened.json")}
        recorded = {(r["program"], k["name"]): k for r in lines(out / f"recorded-{half}.jsonl") for k in r.get("kernels", [])}
        why = {(r["program"], k["name"]): k["reason"] for r in lines(out / f"recorded-{half}.jsonl") for k in r.get("not_recorded", [])}
        cycles = {name: {(r["program"], k["kernel"]): k.get("cycles") for r in lines(out / f"model-{file.stem}-{half}.jsonl") for k in r["kernels"]}
                  for name, file in MACHINES.items()}
        again = {(r["program"], c["kernel"]): c for r in lines(out / f"counted_again-{half}.jsonl") for c in r["launches"]}
        for program in lines(out / f"counted-{half}.jsonl"):
            for c in compared(program):
                key = (program["program"], c["kernel"])
                k, second = recorded.get(key, {}), again.get(key, {})
                short = refused(k["warp_instructions"], c["counted"]) if k else ""
                launches[key] = {
                    "program": key[0], "kernel": key[1], "half": half, "tensor": any(o in k.get("opcodes", {}) for o in ("HGMMA", "UTMALDG", "UTMASTG")),
                    "h200_cycles": second.get("h200_cycles", c["h200_cycles"]), **({"first_cycles": c["h200_cycles"]} if second else {}),
                    "model_cycles": cycles["machine"].get(key), **{f"{name}_cycles": cycles[name].get(key) for name in ("refresh", "stores", "fetch")},
                    "warp_instructions": k.get("warp_instructions"), "counted": c["counted"], **({"counted_again": second["counted"]} if second else {}),
                    **({"refused": short} if short else {}),
                    **({} if k else {"not_recorded": why.get(key, "the program did not end under the recorder")})}
    rows = ",\n".join("  " + json.dumps(launch) for launch in launches.values())
    pathlib.Path(arguments[-1]).write_text(json.dumps(kept)[:-1] + ', "launches": [\n' + rows + "\n]}\n")


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or sys.exit(__doc__)
    steps = {"count": count, "record": record, "open": open_closed, "model": model}
    if what == "page":
        page(*rest)
    elif what in steps and rest:
        steps[what](pathlib.Path(rest[0]).resolve(), *rest[1:])
    else:
        sys.exit(__doc__)
