#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two results of synth/run.sh --json, block by block: what the second says, relative to the first.

  synth/compare.py build/synth/standard/gscl45nm.json build/synth/standard/sluice45.json      as synth/standard.sh leaves them"""
import json
import sys

from command import run

COLUMNS = [("area_um2", "area um2"), ("fmax_mhz", "fmax MHz"), ("leakage_mw", "leakage mW"), ("dynamic_mw", "dynamic mW")]


def load(path):
    """(library, {block: its figures}) of a file."""
    try:
        with open(path) as file:
            results = json.load(file)
        return results["liberty"], {b["name"]: b for b in results["blocks"]}
    except OSError as error:
        raise SystemExit(f"compare.py: {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"compare.py: {path}: is not what synth/run.sh --json writes") from None


def change(before, after):
    return f"{before:,.4g} -> {after:,.4g} ({100 * (after / before - 1):+.1f} %)" if before and after else "-"


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if len(sys.argv) == 2 else 2)
    (ours, first), (theirs, second) = map(load, sys.argv[1:])
    rows = [["block", *(title for _, title in COLUMNS)]]
    rows += [[name, *(change(block.get(k), second[name].get(k)) for k, _ in COLUMNS)] for name, block in first.items() if name in second]
    widths = [max(map(len, column)) for column in zip(*rows)]
    print(f"{ours} -> {theirs}")
    for row in rows:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))))


run(main)
