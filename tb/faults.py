#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the benches see the faults of meaning in tb/faults.toml? Each is built into the RTL alone, and its design's quick bench must fail.

  tb/faults.py [fault ...] [--jobs N] [--check]     --check: only whether each text stands in its file once

Exit code 1 when a fault lives. Work is kept in build/faults."""
import argparse
import concurrent.futures
import os
import pathlib
import sys
import tomllib

import bench_build
from bench_build import DESIGNS, ROOT, RTL, compile_bench, compile_model, link
from mutation import killed

WORK = ROOT / "build/faults"


def faults(chosen):
    rows = [{"design": design, "file": next(ROOT / f for f in RTL if f.endswith(f"/{file}")), "name": name, "find": find, "replace": replace}
            for design, files in tomllib.loads((ROOT / "tb/faults.toml").read_text()).items() for file, named in files.items()
            for name, (find, replace) in named.items()]
    for row in rows:
        if (times := row["file"].read_text().count(row["find"])) != 1:
            sys.exit(f"tb/faults.toml: {row['name']}: \"{row['find']}\" is {times} times in {row['file'].name}: must be there once")
    if strangers := set(chosen) - {row["name"] for row in rows}:
        sys.exit(f"{' '.join(sorted(strangers))}: no such fault in tb/faults.toml")
    return [row for row in rows if not chosen or row["name"] in chosen]


def base(name):
    """The bench without a fault: what it is linked of."""
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    objects = compile_bench(folder, DESIGNS[name], [str(ROOT / f) for f in RTL], whole=True)
    if killed(folder, DESIGNS[name], 0):
        sys.exit(f"{name}: the bench fails without a fault: see build/faults/{name}/bench")
    return objects


def lives(row, objects):
    design, folder = DESIGNS[row["design"]], WORK / row["design"] / row["name"]
    folder.mkdir(exist_ok=True)
    broken = folder / row["file"].name
    broken.write_text(row["file"].read_text().replace(row["find"], row["replace"]))
    archive = compile_model(folder, design, dict(design, verilog=[str(broken if ROOT / f == row["file"] else ROOT / f) for f in RTL]))
    link(folder, [archive if o == archive else folder.parent / o for o in objects])
    alive = not killed(folder, design, 0)
    print(f"{row['design']:26} {row['name']:48} {'LIVES' if alive else 'seen'}", flush=True)
    return alive


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rows = faults(args.fault)
    if args.check:
        return
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        names = list(dict.fromkeys(row["design"] for row in rows))
        objects = dict(zip(names, pool.map(base, names)))
        alive = sum(pool.map(lambda row: lives(row, objects[row["design"]]), rows))
    print(f"{len(rows)} faults, {alive} of them live")
    sys.exit(1 if alive else 0)


if __name__ == "__main__":
    bench_build.run(main)
