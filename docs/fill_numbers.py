#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the numbers of the Markdown pages from the data, or compares them with it.

usage: docs/fill_numbers.py [--update] [PAGE ...]    without PAGE: every tracked page. Prints a line a fault; exit code 1 if there is one

A page names its data once, paths from the top of the tree:   <!--data w=results/warped_slicer/results.json rows=results/x/lines.jsonl-->  (or its .xz)
What it uses more than once gets a name behind them:          <!--let ipc = lambda p: gmean(r.ipc for r in where(rows, policy=p))-->
A number, a row or a whole table stands between markers:      <!--= w.geomean.all; .3f -->1.267<!--/-->
What is quoted names its source:                              <!--cite Warped-Slicer, table III-->23 %<!--/-->
The expression is Python over the data and the functions below; behind the last `; ` may be a format. JSON objects have attributes.
A table's expression ends in table(header, rows), with its markers on lines of their own.
On a page that names data every decimal number and percentage outside code must stand between markers.
"""
import argparse
import csv
import json
import lzma
import re
import statistics
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKED = re.compile(r"<!--(=|cite )(.*?)-->(.*?)<!--/-->", re.S)
DATA = re.compile(r"<!--data(( +\w+=\S+)+) *-->")
LET = re.compile(r"<!--let +(\w+) *= *(.*?) *-->", re.S)
HIDDEN = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->|https?://\S+", re.S)
MEASURED = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?: ?%|(?<=\.\d)|(?<=\.\d\d)|(?<=\.\d\d\d))(?!\w|\.\d)")


class Node(dict):
    """A JSON object whose fields are attributes, too."""
    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"there is no field {key!r}, but {', '.join(map(str, self))[:200]}") from None


def gmean(values):
    return statistics.geometric_mean(values)


def rank_correlation(a, b):
    """Spearman's; equal values keep their order."""
    ranks = ([sorted(range(len(v)), key=v.__getitem__).index(i) for i in range(len(v))] for v in (list(a), list(b)))
    return statistics.correlation(*ranks)


def where(rows, **wanted):
    """The rows in which every named field has that value."""
    return [r for r in rows if all(r.get(k) == v for k, v in wanted.items())]


def one(rows, **wanted):
    """The only such row."""
    found = where(rows, **wanted)
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows have {wanted}")
    return found[0]


def over(runs, policy, base, field="ipc"):
    """The geometric mean of a policy's figure over another's, mix by mix of an evaluation's results.csv."""
    of = {r.kernels: r[field] for r in runs if r.policy == base}
    return gmean(r[field] / of[r.kernels] for r in runs if r.policy == policy)


def apart(a, b):
    """CTAs by which two partitions differ at most; 99 if one of them is Spatial and the other is not."""
    if a["mode"] != b["mode"]:
        return 99
    return 0 if a["mode"] == "spatial" else max(abs(int(m) - int(n)) for m, n in zip(a["ctas"].split(), b["ctas"].split(), strict=True))


def gain(ratio, digits=1):
    """1.267 -> +26.7 %."""
    return f"{100 * (ratio - 1):+.{digits}f} %"


def share(fraction, digits=1):
    """0.267 -> 26.7 %."""
    return f"{100 * fraction:.{digits}f} %"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n" + "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def typed(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


@cache
def load(path):
    file = ROOT / path
    file = file if file.exists() else file.with_name(file.name + ".xz")
    text = lzma.open(file, "rt").read() if file.suffix == ".xz" else file.read_text()
    kind = file.with_suffix("").suffix if file.suffix == ".xz" else file.suffix
    if kind == ".jsonl":
        return [json.loads(line, object_hook=Node) for line in text.splitlines() if line.strip()]
    if kind == ".json":
        return json.loads(text, object_hook=Node)
    if kind == ".toml":
        return json.loads(json.dumps(tomllib.loads(text), default=str), object_hook=Node)
    if kind in (".csv", ".tsv"):
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        rows = csv.DictReader(lines, delimiter="\t" if kind == ".tsv" else ",")
        return [Node((k, typed(v)) for k, v in row.items()) for row in rows]
    return text


FUNCTIONS = {f.__name__: f for f in (gmean, rank_correlation, where, one, over, apart, gain, share, table, abs, format, len, max, min, round, sorted, sum, zip, set, range, float,
                                     int, str, enumerate, dict, list, any, all, statistics.mean, statistics.median)}


def evaluated(expression, names):
    return eval(expression, names)  # noqa: S307, the pages are the tree's own


def text_of(expression, names):
    body, bar, form = expression.rpartition("; ")
    value = evaluated(body if bar else expression, names)
    return format(value, form.strip()) if bar else str(value)


def filled(page, text, faults):
    """The page with every number as the data has it. A fault a number that cannot be told, or differs."""
    names = {"__builtins__": {}, **FUNCTIONS}
    for match in DATA.finditer(text):
        for name, path in (part.split("=", 1) for part in match[1].split()):
            names[name] = load(path)
    for match in LET.finditer(text):
        try:
            names[match[1]] = evaluated(match[2], names)
        except Exception as error:  # as below
            faults.append(f"{page}: let {match[1]}: {type(error).__name__}: {error}")

    def fill(match):
        if match[1] != "=":
            if not match[2].strip():
                faults.append(f"{page}:{line(match)}: a quotation without its source")
            return match[0]
        try:
            new = text_of(match[2].strip(), names)
        except Exception as error:  # whatever the expression raises is a fault of the page
            faults.append(f"{page}:{line(match)}: {match[2].strip()}: {type(error).__name__}: {error}")
            return match[0]
        if new != match[3]:
            faults.append(f"{page}:{line(match)}: {match[3].strip()!r}: the data says {new.strip()!r}")
        return f"<!--={match[2]}-->{new}<!--/-->"

    def line(match):
        return text.count("\n", 0, match.start()) + 1

    return MARKED.sub(fill, text)


def unmarked(page, text):
    """A fault a measured number that no marker holds."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    prose = HIDDEN.sub(blank, MARKED.sub(blank, text))
    return [f"{page}:{number}: {match[0]}: stands between no markers" for number, line in enumerate(prose.splitlines(), 1)
            for match in MEASURED.finditer(line)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    pages = options.pages or subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    faults = []
    for page in pages:
        text = (ROOT / page).read_text()
        found = []
        try:
            new = filled(page, text, found)
        except (OSError, ValueError) as error:
            faults.append(f"{page}: {error}")
            continue
        if options.update:
            found = [f for f in found if "the data says" not in f]
            if new != text:
                (ROOT / page).write_text(new)
        faults += found
        if DATA.search(text):
            faults += unmarked(page, new)
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
