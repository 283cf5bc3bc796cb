#!/usr/bin/env python3
"""Compares two results of synth/run.sh --json, block by block: what the second says, relative to the first.

  synth/compare.py results/synth/complete.json results/synth/own.json"""
import json
import sys

COLUMNS = [("area_um2", "area um2"), ("fmax_mhz", "fmax MHz"), ("leakage_mw", "leakage mW"), ("dynamic_mw", "dynamic mW")]


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0 if len(sys.argv) == 2 else 2)
    try:
        first, second = (json.load(open(path)) for path in sys.argv[1:])
        names = {b["name"]: b for b in second["blocks"]}
    except (OSError, ValueError, KeyError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        sys.exit(2)
    print(f"{first['liberty']} -> {second['liberty']}")
    print(f"{'block':26}" + "".join(f"{title:>28}" for _, title in COLUMNS))
    for block in first["blocks"]:
        other = names.get(block["name"])
        if other:
            cells = [f"{block[k]:,.4g} -> {other[k]:,.4g} ({100 * (other[k] / block[k] - 1):+.1f} %)" if block.get(k) and other.get(k) else "-" for k, _ in COLUMNS]
            print(f"{block['name']:26}" + "".join(f"{c:>28}" for c in cells))


main()
