#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of the RTL do the benches reach? Builds each bench of tb/designs.toml with Verilator's line and toggle coverage, runs it, merges the
counts of all of them with the benches' functional bins, leaves out what tb/coverage_exclusions.toml argues away.

  tb/coverage.sh [design ...] [--jobs N] [--json]        SLUICE_FULL=1 runs the long campaigns

Each test of a bench is a run of its own, with its counts in build/coverage/<design>/<test>. A configuration's own points (--of) are those of
build/coverage/sluice_top/SluiceTop.<Name>ConfigurationAgreesInEveryCycle.
Writes build/coverage/index.html and build/coverage/summary.json. Exit code 1 below 99 % of lines, 98 % of toggles or 100 % of bins, or where
tb/testplan.toml and the bins of all designs do not agree; 2 when something that it needs is missing."""
import argparse
import collections
import concurrent.futures
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import bench_build
import check_testplan
from bench_build import DESIGNS, ROOT, RTL, compile_bench

WORK = ROOT / "build/coverage"
TARGETS = {"line": 99.0, "toggle": 98.0, "bins": 100.0}
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b2733}table{border-collapse:collapse;margin:1rem 0}
th,td{padding:.25rem .8rem;border-bottom:1px solid #d9e0e6;text-align:right}th:first-child,td:first-child{text-align:left}.low{background:#fbe3df}
code{font-size:90%;overflow-wrap:anywhere}details{margin:.3rem 0}.ok{color:#1f7a4d}.miss{color:#b3261e}"""


def build(name):
    """Builds one bench, in the folder it returns; what earlier runs left there is gone."""
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.rglob("*.dat"), *folder.rglob("*.bins.json")]:
        old.unlink()
    compile_bench(folder, DESIGNS[name], [str(ROOT / f) for f in RTL], coverage=True)
    return folder


def tests_of(folder):
    """Suite.Test of each test of the bench; those of the edges, which are the longest, first."""
    suite, names = "", []
    for line in bench_build.sh(["./bench", "--gtest_list_tests"], folder).splitlines():
        if line.startswith("  "):
            names.append(suite + line.split()[0])
        elif line.endswith("."):
            suite = line
    return sorted(names, key=lambda name: not name.startswith("Edges."))


def run_test(folder, test):
    """Runs one test; its .dat and .bins.json files are in a folder of its name. One bench at a time may add to a .bins.json."""
    place = folder / test.replace("/", "_")
    place.mkdir(exist_ok=True)
    result = subprocess.run(["./bench", f"--gtest_filter={test}"], cwd=folder, env=dict(os.environ, SLUICE_COVERAGE_DIR=str(place)),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{folder.name}: the bench fails:\n{result.stdout[-3000:]}")
    return place


def run(name, jobs):
    """Builds and runs one bench; its .dat and .bins.json files are below the folder it returns."""
    folder = build(name)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda test: run_test(folder, test), tests_of(folder)))
    return folder


def left_by(name, _):
    """The folder of an earlier run, with what it must have left."""
    folder = WORK / name
    for what in (".dat", ".bins.json"):
        if not any(folder.rglob(f"*{what}")):
            sys.exit(f"coverage.py: --report-only: {name}: no {what} in {folder.relative_to(ROOT)}: tb/coverage.sh {name} makes it")
    return folder


def points(folders):
    """{(file, kind, line, what): count} over every model; a point counts as reached when any instance of any model reached it. What a signal
    took on in a model's first cycle, a reset, is no toggle: else constants would have one."""
    found = collections.Counter()
    for path in [p for folder in folders for p in folder.rglob("*.dat")]:
        first = path.name.startswith("first_")
        for line in path.read_text(errors="replace").splitlines():
            if not line.startswith("C '"):
                continue
            body, count = line[3:].rsplit("' ", 1)
            field = dict(item.split("\x02", 1) for item in body.split("\x01") if "\x02" in item)
            kind = field["page"].split("/")[0].removeprefix("v_")
            kind = "line" if kind == "branch" else kind
            file = str(pathlib.Path(field["f"]).name)
            if not first or kind == "toggle":
                found[(file, kind, int(field["l"]), field.get("o", ""))] += -int(count) if first else int(count)
    return found


def files_of(found):
    return {file for file, *_ in found}


def lacks(files, block):
    """Whether bins are of a module, by itself or in a further size, that is not among the files."""
    return any(f"{block}_".startswith(f"{pathlib.Path(f).stem}_") for f in RTL if pathlib.Path(f).name not in files)


def shares(found, sources, rules, only=None):
    """({file: {kind: [reached, all]}}, {file: what was missed}) of the points, or of those that `only` has, too."""
    tally, missed, files = {}, collections.defaultdict(list), files_of(found if only is None else only)
    for point, count in found.items():
        file, kind, line, what = point
        if file not in sources or kind not in ("line", "toggle") or (only is not None and point not in only) or (not count and excluded(rules, point, files)):
            continue
        t = tally.setdefault(file, {k: [0, 0] for k in ("line", "toggle")})[kind]
        t[0] += count > 0
        t[1] += 1
        if not count:
            missed[file].append((line, kind, what or sources[file][line - 1].strip()))
    return tally, missed


def exclusions():
    rows = tomllib.loads((ROOT / "tb/coverage_exclusions.toml").read_text())["exclude"]
    return [{"file": file, "signal": signal, "why": why, **dict(*bits)} for file, signal, why, *bits in rows]


def excluded(rules, point, files):
    """Whether a rule leaves the point out; `files` are all that are looked at: a rule may hold only `without` one of them."""
    file, kind, line, what = point
    bit = int((re.search(r"\[(\d+)\]$", what) or [0, 0])[1])
    for rule in rules:
        if rule.get("without") in files:
            continue
        if not rule.get("from", 0) <= bit % rule.get("stride", 1 << 30) <= rule.get("to", 1 << 30):
            continue
        if kind == "toggle" and re.fullmatch(rule["file"], file) and re.search(rule["signal"], what):
            rule["used"] = rule.get("used", 0) + 1
            return True
    return False


def bits(rule):
    """The bits that a rule is about, in words."""
    within = f" of each {rule['stride']}" if "stride" in rule else ""
    return f" bits {rule.get('from', 0)} to {rule.get('to', 'the last')}{within}" if "from" in rule or "to" in rule else ""


def page(summary, missed, bins, rules):
    esc = html.escape
    cell = lambda t: f"<td class='{'low' if t['total'] and t['pct'] < TARGETS[t['kind']] else ''}'>{t['pct']:.1f} % <small>({t['hit']}/{t['total']})</small></td>"
    out = [f"<!doctype html><meta charset=utf-8><title>Sluice: coverage of the RTL</title><style>{STYLE}</style><h1>Coverage of the RTL</h1>",
           "<p>What the benches reach, all benches and instances together. A line or a signal bit counts once, in whichever instance it was reached. "
           f"Targets: lines {TARGETS['line']:.0f} %, toggles {TARGETS['toggle']:.0f} %, functional bins {TARGETS['bins']:.0f} %.</p>",
           "<table><tr><th>module<th>lines<th>toggles</tr>"]
    out += [f"<tr><td>{esc(f)}</td>{cell(k['line'])}{cell(k['toggle'])}</tr>" for f, k in sorted(summary["files"].items())]
    out += [f"<tr><th>all</th>{cell(summary['line'])}{cell(summary['toggle'])}</tr></table>", "<h2>Not reached</h2>"]
    for file, lines in sorted(missed.items()):
        out.append(f"<details><summary>{esc(file)}: {len(lines)}</summary><table><tr><th>line<th>kind<th>what</tr>")
        out += [f"<tr><td>{n}</td><td>{k}</td><td><code>{esc(w)}</code></td></tr>" for n, k, w in sorted(lines)] + ["</table></details>"]
    out.append("<h2>Functional bins</h2>")
    for block, of_block in sorted(bins.items()):
        hit = sum(b["count"] > 0 for b in of_block.values())
        out.append(f"<details><summary>{esc(block)}: {hit} of {len(of_block)}</summary><table><tr><th>bin<th>means<th>times</tr>")
        out += [f"<tr><td>{esc(n)}</td><td>{esc(b['meaning'])}</td><td class='{'ok' if b['count'] else 'miss'}'>{b['count']:,}</td></tr>"
                for n, b in sorted(of_block.items())] + ["</table></details>"]
    out.append("<h2>Left out, and why</h2><table><tr><th>file<th>signal<th>points<th>why</tr>")
    out += [f"<tr><td>{esc(r['file'])}</td><td><code>{esc(r['signal'])}</code>{esc(bits(r))}</td><td>{r.get('used', 0)}</td>"
            f"<td>{esc(r['why'])}</td></tr>" for r in rules]
    return "\n".join(out + ["</table>"])


def bins_document(bins):
    """Markdown: what a campaign must have met, bench by bench; bins of one meaning in one row."""
    out = ["# Functional bins", "", "What the random campaigns must meet; a bench fails when one of its bins stays empty. "
           "Written by `tb/coverage.sh --bins-document FILE`."]
    for block, of_block in sorted(bins.items()):
        names = collections.defaultdict(list)
        for name, b in of_block.items():
            names[b["meaning"]].append(name)
        out += ["", f"## {block}", "", "| bin | what happened |", "|---|---|", *(f"| {'; '.join(sorted(n))} | {meaning} |"
                for meaning, n in sorted(names.items(), key=lambda e: sorted(e[1])))]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", nargs="*")
    parser.add_argument("--json", action="store_true", help="the summary on standard output")
    parser.add_argument("--bins-document", metavar="F", type=pathlib.Path, help="the functional bins of all designs and their meaning, as Markdown")
    parser.add_argument("--of", metavar="FOLDER", type=pathlib.Path, nargs="+",
                        help="only what the models have whose .dat files are there: of a configuration, whose bench was run with SLUICE_COVERAGE_DIR")
    parser.add_argument("--report-only", action="store_true", help="of what earlier runs left in build/coverage")
    parser.add_argument("--jobs", type=int, default=2, help="tests at a time (default: 2)")
    args = parser.parse_args()
    for name in args.design:
        if name not in DESIGNS:
            parser.error(f"{name}: no such design; there are: {', '.join(DESIGNS)}")
    if args.jobs < 1:
        parser.error("--jobs: must be 1 or more")
    if args.bins_document and args.design and set(args.design) != set(DESIGNS):
        sys.exit("coverage.py: --bins-document: is of all designs, not of some")
    folders = [(left_by if args.report_only else run)(name, args.jobs) for name in args.design or DESIGNS]
    sources = {pathlib.Path(f).name: (ROOT / f).read_text().splitlines() for f in RTL}
    rules, found, own = exclusions(), points(folders), points(args.of) if args.of else None
    if args.of and not own:
        sys.exit(f"coverage.py: --of: no .dat in {' '.join(map(str, args.of))}")
    tally, missed = shares(found, sources, rules, own)
    share = lambda kind, hit, total: {"kind": kind, "hit": hit, "total": total, "pct": 100.0 * hit / total if total else 100.0}
    summary = {"files": {f: {k: share(k, *v) for k, v in kinds.items()} for f, kinds in tally.items()}}
    for kind in ("line", "toggle"):
        summary[kind] = share(kind, sum(t[kind][0] for t in tally.values()), sum(t[kind][1] for t in tally.values()))
    bins = collections.defaultdict(dict)   # of a block, in all benches that count them
    for path in (p for folder in folders for p in folder.rglob("*.bins.json")):
        for name, b in json.loads(path.read_text()).items():
            seen = bins[path.name.removesuffix(".bins.json")].setdefault(name, {"meaning": b["meaning"], "count": 0})
            seen["count"] += b["count"]
    every = [b for block, of_block in bins.items() for b in of_block.values() if not own or not lacks(files_of(own), block)]
    summary["bins"] = share("bins", sum(b["count"] > 0 for b in every), len(every))
    summary["excluded_points"] = sum(r.get("used", 0) for r in rules)
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "index.html").write_text(page(summary, missed, bins, rules))
    if args.bins_document:
        args.bins_document.write_text(bins_document(bins))
    (WORK / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    if args.json:
        print(json.dumps(summary, indent=1))
    else:
        for file, kinds in sorted(summary["files"].items()):
            print(f"{file:28} lines {kinds['line']['pct']:6.1f} %   toggles {kinds['toggle']['pct']:6.1f} %")
        print(f"all: lines {summary['line']['pct']:.1f} %, toggles {summary['toggle']['pct']:.1f} %, bins {summary['bins']['pct']:.1f} %; build/coverage/index.html")
    wrong = []
    if set(args.design or DESIGNS) == set(DESIGNS):
        names = [f"{block}: {name}" for block, of_block in sorted(bins.items()) for name in sorted(of_block)]
        wrong = list(check_testplan.matched(check_testplan.plan(), "bins", names, names))
        print("".join(f"tb/testplan.toml: {line}\n" for line in wrong), end="", file=sys.stderr)
    sys.exit(0 if not wrong and all(summary[k]["pct"] >= TARGETS[k] for k in TARGETS) else 1)


if __name__ == "__main__":
    bench_build.run(main)
