#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws chart.svg of results.json: throughput of both programs over decode's time between tokens, a curve a system. No arguments."""
import json
from math import log2
from pathlib import Path

HERE = Path(__file__).parent
NAMES = {"time_sliced": "time-sliced", "mps": "MPS", "mps_50": "MPS 50/50", "green_contexts": "green contexts", "priorities": "stream priorities",
         "sluice_even": "Sluice even", "sluice_adaptive": "Sluice adaptive", "sluice_balance": "Sluice balance", "sluice_sms": "Sluice SM ranges", "sms_96": "SM ranges, 96 + 36",
         "sluice_piv": "Sluice piv"}
COLOURS = ("#999999", "#e69f00", "#009e73", "#56b4e9", "#8c6d31", "#d55e00", "#f4a582", "#b2182b", "#0072b2", "#003f7f", "#762a83")
LEFT, TOP, WIDTH, HEIGHT, SLOW, LOW, HIGH = 46, 20, 620, 400, 10, 0.85, 1.3


def at(x, y):
    """Of a time between tokens and the sum of both shares."""
    return LEFT + WIDTH * log2(x) / log2(SLOW), TOP + HEIGHT * (HIGH - y) / (HIGH - LOW)


def curve(system, colour, rows):
    rows.sort(key=lambda r: r["load"])
    points = [at(r["itl_p50"], r["decode_share"] + r["prefill_share"]) for r in rows]
    yield f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" stroke="{colour}" class="c"/>'
    for r, (x, y) in zip(rows, points):
        a, b = (at(p, 1)[0] for p in r["itl_p50_interval"])
        yield f'<line x1="{a:.1f}" x2="{b:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" opacity=".5"/>'
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{1.5 + log2(r["load"]) / 1.4:.1f}" fill="{colour}"/>'


def main():
    silicon = json.loads((HERE / "results.json").read_text())["silicon"]
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 170} {TOP + HEIGHT + 64}" font-family="sans-serif" font-size="12">',
             "<style>.g{stroke:#888;opacity:.3}.c{fill:none;stroke-width:1.5}text{fill:#444}@media(prefers-color-scheme:dark){text{fill:#ccc}}</style>"]
    for n in (1, 1.25, 1.5, 2, 3, 4, 6, 8):
        x = at(n, 1)[0]
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{TOP + HEIGHT}" class="g"/><text x="{x:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{n}</text>')
    for n in range(9, 14):
        y = at(1, n / 10)[1]
        lines.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" class="g"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{n / 10}</text>')
    drawn = [(s, c) for s, c in zip(NAMES, COLOURS) if any(r["system"] == s for r in silicon)]
    for i, (system, colour) in enumerate(drawn):
        lines += curve(system, colour, [r for r in silicon if r["system"] == system])
        y = TOP + 14 + 20 * i
        lines.append(f'<line x1="{LEFT + WIDTH + 14}" x2="{LEFT + WIDTH + 34}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>')
        lines.append(f'<text x="{LEFT + WIDTH + 40}" y="{y + 4}">{NAMES[system]}</text>')
    axes = ("right: decode's time between tokens, p50, over alone (less is better)", "up: tokens a second, sum of both programs' shares; larger dots: loads 2 to 32")
    for i, text in enumerate(axes):
        lines.append(f'<text x="{LEFT}" y="{TOP + HEIGHT + 38 + 16 * i}">{text}</text>')
    lines.append("</svg>")
    (HERE / "chart.svg").write_text("\n".join(lines) + "\n")


main()
