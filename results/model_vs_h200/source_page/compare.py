#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model beside an H100, kernels by Nsight Compute's source page.

usage: compare.py [--run SLUICE] [--window CYCLES]
prints the tables of README.md from model.json; --run: makes it anew with the program SLUICE (an hour at most, half of it for one kernel)"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from errors import print_lists, write_results  # noqa: E402

MACHINE = HERE.parents[2] / "configs/machines/h100_sm90.toml"


def launches():
    rows = [line.split("\t") for line in (HERE / "launches.tsv").read_text().splitlines() if not line.startswith("#")]
    return [{"name": name, "list": which, "page": page, "kernel": int(kernel), "op": op} for name, which, page, kernel, op in rows]


def run(sluice, window):
    """By page: what `sluice import ncu` says of its kernels."""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for page in ("unseen", "seen"):
            files = []
            for kind in ("raw", "source"):
                files.append(pathlib.Path(folder) / f"{page}.{kind}.csv")
                files[-1].write_bytes(gzip.decompress((HERE / f"{page}.{kind}.csv.gz").read_bytes()))
            command = [sluice, "import", "ncu", files[0], "--source", files[1], "--machine", MACHINE, "--window", str(window), "--json"]
            out[page] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run")
    parser.add_argument("--window", type=int, default=300000)
    options = parser.parse_args()
    if options.run:
        (HERE / "model.json").write_text(json.dumps(run(options.run, options.window), indent=1) + "\n")
    model = json.loads((HERE / "model.json").read_text())
    kernels = []
    print("| kernel | list | H100, cycles | model, cycles | error | warp instructions, model / counted |\n|---|---|---|---|---|---|")
    for l in launches():
        k = model[l["page"]][l["kernel"]]
        here, there = k["modelled"]["cycles"], k["measured"]["cycles"]
        w = k["warp_instructions"]
        issued = "window ended" if k["extrapolated"] else f"{w['modelled'] / w['measured']:.4f}"
        kernels.append({"name": l["name"], "list": l["list"], "source": "ncu_source", "h200_cycles": there, "model_cycles": here, "gpu": "NVIDIA H100"})
        print(f"| {l['name']}: {l['op']} | {l['list']} | {there} | {here} | {100 * (here / there - 1):+.1f} % | {issued} |")
    print_lists(kernels)
    if options.run:
        path = HERE.parent / "results.json"
        others = [k for k in json.loads(path.read_text())["kernels"] if k["source"] != "ncu_source"]  # ../compare.py's
        write_results(path, kernels=others + kernels)


if __name__ == "__main__":
    main()
