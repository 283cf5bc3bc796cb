#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What contend.jsonl says: how two kinds of warps of one CTA share an SM, and whether the first ones have precedence.

usage: contend.py [FILE]"""
import json
import pathlib
import sys

SHOWN = ((1, 1), (2, 2), (4, 4), (1, 6), (6, 1))
# Cycles of the banks, or of the shift's pipelines, that one access or one shift takes.
BUSY = {"load, a line each lane": 32, "load, one word": 1, "scratchpad": 1, "shift": 1}


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "h100" / "contend.jsonl"
    rates = {}
    for line in map(json.loads, path.read_text().splitlines()):
        key = (line["older"], line["warps_a_scheduler"], line["younger"], line["younger_warps_a_scheduler"])
        rates[key] = (line["older_a_cycle"], line["younger_a_cycle"])
    print("| A; B | " + " | ".join(f"{a}:{b}" for a, b in SHOWN) + " | A's rate, first over second |\n|---|" + "---|" * (len(SHOWN) + 1))
    for first, second in sorted({(k[0], k[2]) for k in rates if k[0] < k[2]}):
        cells = [f"{rates[first, a, second, b][0]:.3f}; {rates[first, a, second, b][1]:.3f}" for a, b in SHOWN]
        order = [rates[first, a, second, b][0] / rates[second, b, first, a][1]
                 for a in (1, 2, 4, 6) for b in (1, 2, 4, 6) if (first, a, second, b) in rates and (second, b, first, a) in rates]
        print(f"| {first}; {second} | " + " | ".join(cells) + f" | {min(order):.2f} to {max(order):.2f} |")
    print("\n| A; B | busy cycles a cycle, both together |\n|---|---|")
    for first, second in sorted({(k[0], k[2]) for k in rates if k[0] < k[2] and "shift" not in (k[0], k[2])}):
        busy = [x * BUSY[first] + y * BUSY[second] for (f, a, s, b), (x, y) in rates.items() if (f, s) == (first, second) and a * b > 0]
        print(f"| {first}; {second} | {min(busy):.2f} to {max(busy):.2f} |")


if __name__ == "__main__":
    main()
