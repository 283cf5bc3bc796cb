#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/example_gpu.svg from the waveform of an eviction on the example GPU: changes on stdin, SVG on stdout.

  SLUICE_FST_DIR=/tmp build/release/bin/tb_example_gpu --gtest_filter=ExamplePair.AnEvicted*
  fst_changes example_gpu.AnEvictedProgramLeavesAndComesBack.fst TOP.example_gpu.i_sluice_top | tb/example_gpu/draw.py

fst_changes is synth/fst_changes.cpp."""
import sys

CYCLE, BIN = 1000, 512   # time units a cycle; cycles a point of the lowest row
LEFT, WIDTH, ROW, GAP = 150, 820, 90, 34


def read(stream):
    """{name: [(cycle, value)]} of the signals that are drawn."""
    wanted, changes, cycle = {}, {}, 0
    for line in stream:
        first, _, rest = line.partition(" ")
        if first == "s":
            name, _, number = rest.split()
            if name in ("resident", "evict", "resume", "issue_valid_i"):
                wanted[number], changes[name] = name, []
        elif first == "t":
            cycle = int(rest) // CYCLE
        elif first in wanted:
            changes[wanted[first]].append((cycle, int(rest, 2)))
    return changes


def main():
    changes = read(sys.stdin)
    resident = changes["resident"]
    begin = next(cycle for cycle, value in resident if value) - 500
    end = resident[-1][0] + 500
    commands = [(next(c for c, value in changes[name] if value & 1), name.upper()) for name in ("evict", "resume")]

    def x(cycle):
        return LEFT + WIDTH * (cycle - begin) / (end - begin)

    bins = [0] * ((end - begin) // BIN + 1)
    for (cycle, value), (until, _) in zip(changes["issue_valid_i"], changes["issue_valid_i"][1:] + [(end, 0)]):
        for c in range(max(cycle, begin), min(until, end)) if value else ():
            bins[(c - begin) // BIN] += value.bit_count()
    rows = [("CTAs of gather", 32, "#2b6cb0", [(c, v & 0xFFFF) for c, v in resident]), ("CTAs of mix", 16, "#c05621", [(c, v >> 16) for c, v in resident]),
            ("warp instructions", 4, "#4a5568", [(begin + i * BIN, n / BIN) for i, n in enumerate(bins)])]
    height = 40 + len(rows) * (ROW + GAP) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 {height}" width="1000" height="{height}" font-family="Helvetica, Arial, sans-serif" '
           'role="img" aria-labelledby="title desc">', '  <title id="title">An eviction on the example GPU</title>',
           '  <desc id="desc">LEFT_OVER: gather holds every warp until EVICT; mix takes its place; after RESUME gather comes back.</desc>',
           f'  <rect width="1000" height="{height}" fill="#ffffff"/>']
    for i, (title, most, colour, points) in enumerate(rows):
        bottom = 40 + i * (ROW + GAP) + ROW
        path, last = [f"M{x(begin):.1f},{bottom}"], 0
        for cycle, value in points:
            if cycle >= begin and value != last:
                path += [f"L{x(cycle):.1f},{bottom - ROW * last / most:.1f}", f"L{x(cycle):.1f},{bottom - ROW * value / most:.1f}"]
                last = value
        path.append(f"L{x(end):.1f},{bottom - ROW * last / most:.1f} L{x(end):.1f},{bottom} Z")
        out += [f'  <path d="{" ".join(path)}" fill="{colour}" fill-opacity="0.35" stroke="{colour}"/>',
                f'  <line x1="{LEFT}" y1="{bottom}" x2="{LEFT + WIDTH}" y2="{bottom}" stroke="#1a202c"/>',
                f'  <text x="{LEFT - 10}" y="{bottom - ROW / 2}" font-size="14" text-anchor="end" fill="#1a202c">{title}</text>',
                f'  <text x="{LEFT - 10}" y="{bottom - ROW + 10}" font-size="12" text-anchor="end" fill="#4a5568">{most}</text>']
    for cycle, name in commands:
        out += [f'  <line x1="{x(cycle):.1f}" y1="26" x2="{x(cycle):.1f}" y2="{height - 40}" stroke="#1a202c" stroke-dasharray="4 3"/>',
                f'  <text x="{x(cycle):.1f}" y="20" font-size="13" text-anchor="middle" fill="#1a202c">{name}</text>']
    for cycle in range(-(-begin // 10000) * 10000, end, 10000):
        out.append(f'  <text x="{x(cycle):.1f}" y="{height - 14}" font-size="12" text-anchor="middle" fill="#4a5568">cycle {cycle:,}</text>')
    print("\n".join(out + ["</svg>"]))


main()
