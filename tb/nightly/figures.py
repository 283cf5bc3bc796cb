#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A night's figures: tests, coverage, mutation, proofs, area, timing and speed, each beside its bound and its reviewed baseline.

  tb/nightly/figures.py FOLDER [--baseline FILE] [--accept TEXT]

FOLDER holds what tb/nightly/run.sh leaves there; a file that is missing is a section that did not run. Prints a table, and writes it to
FOLDER/figures.md. --accept writes this night's figures as the baseline, with a reason. Exit code 1 when a figure breaks its bound or is worse
than its baseline by more than its slack, 2 for what can't be read."""
import argparse
import collections
import dataclasses
import json
import pathlib
import sys
import xml.etree.ElementTree


@dataclasses.dataclass
class Figure:
    section: str
    name: str
    value: float
    unit: str = ""
    more_is_better: bool = True
    slack: float = 0.0            # share of the baseline within which it counts as the same
    least: float | None = None    # bounds
    most: float | None = None

    @property
    def key(self):
        return f"{self.section}: {self.name}"

    @property
    def text(self):
        digits = f"{self.value:,.6g}" if self.value < 1e6 else f"{self.value:,.0f}"
        return f"{digits} {self.unit}".strip()


def named(what, rows):
    """A line for each."""
    return [f"{what}: {' '.join(str(c) for c in row)}" for row in rows]


def tests(text):
    suite = xml.etree.ElementTree.fromstring(text)
    cases = [(c.get("name"), c.get("status", "run"), float(c.get("time", 0))) for c in suite.iter("testcase")]
    failed = [name for name, status, _ in cases if status == "fail"]
    skipped = [name for name, status, _ in cases if status in ("notrun", "disabled")]
    figures = [Figure("tests", "failed", len(failed), more_is_better=False, most=0), Figure("tests", "passed", len(cases) - len(failed) - len(skipped)),
               Figure("tests", "skipped", len(skipped), more_is_better=False)]
    slow = sorted(cases, key=lambda c: -c[2])[:10]
    return figures, named("failed", [[n] for n in failed]) + named("slow, s", [[n, f"{s:.1f}"] for n, _, s in slow])


def coverage(text):
    data = json.loads(text)
    bounds = {"line": 99.0, "toggle": 97.0, "bins": 100.0}
    figures = [Figure("coverage", kind, round(data[kind]["pct"], 2), "%", slack=0.001, least=least) for kind, least in bounds.items()]
    return figures, []


def mutation(text):
    data = json.loads(text)
    figures = [Figure("mutation", name, d["score_pct"], "%", slack=0.03, least=95.0) for name, d in sorted(data["designs"].items())]
    return figures, named("survived", [[s["design"], f"{s['file']}:{s['line']}", s["fault"], s["text"]] for s in data["survived"]])


def proofs(text):
    found = collections.defaultdict(list)
    for p in json.loads(text)["properties"]:
        found[p["result"].split()[0]].append(f"{p['module']}: {p['name']}" + (f" ({p['task']})" if p["task"] else ""))
    bad = [p for result, names in found.items() if result not in ("proven", "bounded", "reached") for p in names]
    return ([Figure("proofs", "failed", len(bad), more_is_better=False, most=0), Figure("proofs", "proven", len(found["proven"])),
             Figure("proofs", "bounded", len(found["bounded"])), Figure("proofs", "reached", len(found["reached"]))], named("failed", [[p] for p in bad]))


def broken_designs(text):
    mutants = json.loads(text)["mutants"]
    lives = [[m["module"], m["mutant"], m["property"]] for m in mutants if not m["killed"]]
    figures = [Figure("broken designs", "not refused", len(lives), more_is_better=False, most=0), Figure("broken designs", "refused", len(mutants) - len(lives))]
    return figures, named("not refused", lives)


def area(text):
    data = json.loads(text)
    figures = []
    for block in data["blocks"]:
        figures.append(Figure("area and clock", f"{block['name']}, um2", block["area_um2"], more_is_better=False, slack=0.01))
        if block["fmax_mhz"]:
            figures.append(Figure("area and clock", f"{block['name']}, MHz", block["fmax_mhz"], slack=0.1))
    return figures, []


def options(text):
    figures = []
    for point in json.loads(text)["points"]:
        name = ", ".join(f"{k} = {v}" for k, v in point["options"].items()) if len(point["options"]) < 2 else "all"
        figures.append(Figure("options", f"{name or 'none'}, um2", point["area_um2"], more_is_better=False, slack=0.01))
        figures.append(Figure("options", f"{name or 'none'}, MHz", point["fmax_mhz"], slack=0.1))
    return figures, []


def rtl(text):
    data = json.loads(text)
    figures = [Figure("cycles", "first dispatch", data["first_dispatch_cycles"], more_is_better=False, most=3)]
    figures += [Figure("cycles", f"CTAs a cycle, {sms} SMs", v, least=1.0) for sms, v in data["dispatch_per_cycle"].items()]
    figures += [Figure("cycles", f"decision, K, N = {size}", v, more_is_better=False) for size, v in data["decision_cycles"].items()]
    figures += [Figure("cycles", "decisions that fixed point changes", data["fixed_point_changed_pct"], "%", False, 0.5, most=0.5)]
    return figures, []


def speed(text):
    suite = json.loads(text)["suite"]
    return [Figure("speed", "cycles a second", suite["cycles_per_second"], slack=0.15),
            Figure("speed", "warp instructions a second", suite["warp_instructions_per_second"], slack=0.15),
            Figure("speed", "peak MiB", suite["peak_rss_mib"], more_is_better=False, slack=0.1)], []


SECTIONS = [("Tests", "tests.xml", tests), ("Coverage of the RTL", "coverage.json", coverage), ("Mutation, on a fresh seed", "mutation.json", mutation),
            ("Proofs", "proofs.json", proofs), ("Broken designs that the proofs must refuse", "broken_designs.json", broken_designs),
            ("Area and clock", "area.json", area), ("Options of the unit", "options.json", options), ("Cycles of the RTL", "rtl.json", rtl),
            ("Speed of the GPU model", "speed.json", speed)]


def read(folder):
    """[(title, figures or None where it did not run, details)]"""
    found = []
    for title, file, section in SECTIONS:
        path = folder / file
        figures, details = section(path.read_text()) if path.exists() and path.stat().st_size else (None, [])
        found.append((title, figures, details))
    return found


def verdict(figure, baseline):
    """What is said of a figure: worse is what fails."""
    if (figure.least is not None and figure.value < figure.least) or (figure.most is not None and figure.value > figure.most):
        return "worse", "breaks its bound"
    if baseline is None:
        return "new", "no baseline"
    change = figure.value - baseline
    if abs(change) <= figure.slack * abs(baseline):
        return "same", "as reviewed"
    return ("better", "better") if (change > 0) == figure.more_is_better else ("worse", "worse than reviewed")


def bound(figure):
    return "" if figure.least is None and figure.most is None else f"at least {figure.least:g}" if figure.least is not None else f"at most {figure.most:g}"


def table(night, parts, baseline):
    """The table's lines, and those of the figures that are worse."""
    lines, bad = [f"# Sluice, {night['date']}, {night['revision']}", "", f"Baseline reviewed {baseline['reviewed']}: {baseline['why']}", ""], []
    for title, figures, details in parts:
        lines += [f"## {title}", ""] + ([] if figures is None else ["| figure | value | bound | reviewed | verdict |", "|---|---|---|---|---|"])
        for f in figures or []:
            reviewed = baseline["figures"].get(f.key)
            kind, words = verdict(f, reviewed)
            bad += [f"{title}: {f.name} {f.text}: {words}"] if kind == "worse" else []
            lines.append(f"| {f.name} | {f.text} | {bound(f)} | {'' if reviewed is None else f'{reviewed:,.6g}'} | {words} |")
        lines += ["", *(f"- {line}" for line in details), ""] if figures is not None else ["Did not run.", ""]
    return lines, bad


def main():
    parser = argparse.ArgumentParser(prog="tb/nightly/figures.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--baseline", type=pathlib.Path, default=pathlib.Path(__file__).with_name("baseline.json"))
    parser.add_argument("--accept", metavar="TEXT", help="why these figures are the baseline from now on")
    args = parser.parse_args()
    try:
        night = json.loads((args.folder / "night.json").read_text())
        parts = read(args.folder)
        baseline = {"reviewed": "never", "why": "", "figures": {}} if not args.baseline.exists() else json.loads(args.baseline.read_text())
    except (OSError, ValueError, KeyError, TypeError, xml.etree.ElementTree.ParseError) as error:
        print(f"tb/nightly/figures.py: {error}", file=sys.stderr)
        return 2
    if args.accept:
        figures = {f.key: f.value for _, of_part, _ in parts for f in of_part or []}
        baseline = {"reviewed": night["date"], "why": args.accept, "figures": baseline["figures"] | figures}
        args.baseline.write_text(json.dumps(baseline, indent=1) + "\n")
    lines, bad = table(night, parts, baseline)
    (args.folder / "figures.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines + [f"worse: {words}" for words in bad]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
