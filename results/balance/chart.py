#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws chart.svg: how much sooner all kernels are done than one after the other, over ANTT, a point a policy. No arguments."""
import csv
import json
import lzma
from pathlib import Path
from statistics import geometric_mean, mean, median

HERE = Path(__file__).parent
MODEL = {"table2": ("warped_slicer/results.csv", 4e6, "table2, 30 pairs"), "published": ("warped_slicer/published/results.csv", 2e6, "table2_published, 30 pairs"),
         "recorded": ("warped_slicer/recorded/results.csv", 4e6, "table2_recorded, {} pairs"), "triples": ("compute_triples/results.csv", 6e6, "table2, {} triples")}
NAMES = {"left_over": "Left-Over", "fcfs": "FCFS", "even": "Even", "spatial": "Spatial", "warped_slicer": "Warped-Slicer", "balance": "balance",
         "balance_again": "balance, rates known"}
COLOURS = dict(zip(NAMES, ("#999999", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#b2182b")))
WIDTH, HEIGHT, GAP = 250, 210, 42


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def model():
    ours = rows(HERE / "results.csv")
    for sweep, (path, work, title) in MODEL.items():
        mine = {r["mix"]: r for r in ours if r["sweep"] == sweep and r["policy"] == "balance"}
        points = {"balance": list(mine.values())}
        for r in rows(HERE.parent / path):
            if r["kernels"] in mine and r["policy"] in NAMES:
                points.setdefault(r["policy"], []).append(r)
        yield title.format(len(mine)), {p: (mean(float(r["antt"]) for r in of), geometric_mean(work / float(r["cycles"]) for r in of)) for p, of in points.items()}


def gpu():
    for name in ("pairs", "triples"):
        mixes = {}
        with lzma.open(HERE / f"h200/{name}.jsonl.xz", "rt") as file:
            for x in map(json.loads, file):
                waits = mean(b / a for a, b in zip(x["alone_seconds"], x["finish_seconds"]))
                mixes.setdefault(x["policy"], {}).setdefault(tuple(x["kernels"]), []).append((waits, sum(x["alone_seconds"]) / max(x["finish_seconds"])))
        count = max(map(len, mixes.values()))
        yield f"H200, {count} {name}", {p: tuple(geometric_mean(median(v[i] for v in of) for of in by.values()) for i in (0, 1)) for p, by in mixes.items() if p in NAMES}


def panel(title, points, left, top):
    low = [min(p[i] for p in points.values()) for i in (0, 1)]
    wide = [max(p[i] for p in points.values()) - low[i] or 1 for i in (0, 1)]
    at = lambda p: (left + 12 + (p[0] - low[0]) / wide[0] * (WIDTH - 24), top + HEIGHT - 22 - (p[1] - low[1]) / wide[1] * (HEIGHT - 50))
    yield f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" class="f"/><text x="{left}" y="{top - 8}" class="t">{title}</text>'
    label, high = 138, 11  # of text
    taken = [(*at(p), *at(p)) for p in points.values()]  # left, y, right, y; labels move down until they are free
    for policy, p in sorted(points.items(), key=lambda of: -of[1][1]):
        x, y = at(p)
        first, anchor = (x + 8, "start") if x + 8 + label < left + WIDTH else (x - 8 - label, "end")
        down = y + 4
        while any(abs(down - 4 - d) < high and first < b and first + label > a for a, d, b, _ in taken if (a, d) != (x, y)):
            down += 1
        taken.append((first, down - 4, first + label, down - 4))
        yield (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if policy.startswith("balance") else 4}" fill="{COLOURS[policy]}"/>'
               f'<text x="{first if anchor == "start" else first + label:.1f}" y="{down:.1f}" text-anchor="{anchor}" style="fill:{COLOURS[policy]}">'
               f'{NAMES[policy]} {p[0]:.2f}, {p[1]:.2f}</text>')


def main():
    panels = [*model(), *gpu()]
    columns = 3
    width, height = columns * (WIDTH + GAP) + GAP, (len(panels) + columns - 1) // columns * (HEIGHT + GAP) + GAP + 16
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">',
             "<style>.f{fill:none;stroke:#888}.t{font-size:13px;font-weight:bold}text{fill:#444}@media(prefers-color-scheme:dark){text{fill:#ccc}}</style>"]
    for i, (title, points) in enumerate(panels):
        lines += panel(title, points, GAP / 2 + i % columns * (WIDTH + GAP), GAP + i // columns * (HEIGHT + GAP))
    axes = "right: ANTT, how long a kernel takes beside others over alone (less is better); up: times as fast as one after the other"
    lines.append(f'<text x="{GAP / 2}" y="{height - 10}">{axes}</text></svg>')
    (HERE / "chart.svg").write_text("\n".join(lines) + "\n")


main()
