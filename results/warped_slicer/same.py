#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the unit still decide as in this folder's results.csv? Warped-Slicer on pairs of table2 with the RTL in the loop: mode and CTAs must be equal, IPC
within 0.5 %.

  results/warped_slicer/same.py [PAIR ...] [--jobs N] [--read FILE.csv]     default: all pairs, three CPU minutes each; --read: of a run that there was

Exit code 1 when a pair differs. Work is kept in build/same."""
import argparse
import csv
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def rows(path):
    return {row["kernels"]: row for row in csv.DictReader(open(path)) if row["policy"] == "warped_slicer"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", nargs="*")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--read", type=pathlib.Path, metavar="FILE.csv")
    args = parser.parse_args()
    known, out = rows(HERE / "results.csv"), ROOT / "build/same"
    if not args.read:
        subprocess.run([ROOT / "build/release/bin/sluice", "eval", "--machine", "configs/machines/fermi_table1.toml", "--workload", "configs/workloads/table2.toml",
                        "--pairs", ",".join(args.pair) or "all", "--policies", "warped_slicer", "--window", "2000000", "--jobs", args.jobs, "--out", out],
                       cwd=ROOT, check=True)
    found = rows(args.read or out / "results.csv")
    if missing := set(args.pair or known) - set(found):
        sys.exit(f"not run: {' '.join(sorted(missing))}")
    differ = 0
    for name, row in sorted(found.items()):
        change = float(row["ipc"]) / float(known[name]["ipc"]) - 1
        same = all(row[k] == known[name][k] for k in ("mode", "ctas")) and abs(change) <= 0.005
        differ += not same
        print(f"{name:10} {row['partitioner']:5} {row['mode']:9} {row['ctas']:6} IPC {float(row['ipc']):7.2f} {100 * change:+.3f} %  {'same' if same else 'DIFFERS'}")
    print(f"{len(found)} pairs, {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
