#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that a module of the RTL, with parameters that both know, is what it was at a commit: every register is cut, outputs and next states are compared
(equivalence.py), and a gate that is exchanged must be refused.

  synth/same.py COMMIT [--top MODULE] [--param K=V ...]     COMMIT: or a folder that holds its rtl/"""
import argparse
import io
import pathlib
import shutil
import subprocess
import tarfile

import equivalence
import liberty
import mapping
from command import run
from flow import BLOCKS, elaboration, values_of


def main():
    parser = argparse.ArgumentParser(prog="synth/same.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--top", default="sluice_top", choices=BLOCKS)
    parser.add_argument("--param", action="append", default=[], metavar="K=V")
    args = parser.parse_args()
    values = values_of(args.top, elaboration(parser, args.param))
    root, work = mapping.ROOT, mapping.BUILD / "_".join(["same", args.top, *args.param])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    mapping.yosys(mapping.elaborate(args.top, values) + equivalence.GATES_ONLY + "write_json netlist.json\n", work, "now")
    mapping.ROOT = pathlib.Path(args.commit).resolve()
    if not (mapping.ROOT / "rtl/sluice.f").exists():
        archive = subprocess.run(["git", "archive", args.commit, "rtl"], cwd=root, check=True, stdout=subprocess.PIPE).stdout
        tarfile.open(fileobj=io.BytesIO(archive)).extractall(work / "then")
        mapping.ROOT = work / "then"
    mapping.FILES = (mapping.ROOT / "rtl/sluice.f").read_text().split()
    library = liberty.Library(str(root / "synth/tech/sluice45.cells"))
    same, registers, said = equivalence.compare(args.top, values, library, work)
    refused = any(not equivalence.compare(args.top, values, library, work, seed)[0] for seed in range(1, 9))   # some exchanges change nothing
    if not (same and refused):
        raise SystemExit(f"synth: {args.top}: " + ("a broken one is the same, too" if same else f"differs from {args.commit}: {said}"))
    print(f"{args.top}: as at {args.commit}; {registers} registers, all outputs and next states compared; a broken one is refused")


if __name__ == "__main__":
    run(main)
