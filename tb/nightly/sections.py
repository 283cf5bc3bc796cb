# SPDX-License-Identifier: Apache-2.0
"""The sections of the nightly page: from what a tool wrote to figures and details."""
import collections
import dataclasses
import html
import json
import xml.etree.ElementTree

esc = html.escape


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


def few(what, rows):
    """A table that opens; nothing without rows."""
    body = "".join("<tr>" + "".join(f"<td>{esc(str(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<details><summary>{esc(what)}: {len(rows)}</summary><table>{body}</table></details>" if rows else ""


def tests(text):
    suite = xml.etree.ElementTree.fromstring(text)
    cases = [(c.get("name"), c.get("status", "run"), float(c.get("time", 0))) for c in suite.iter("testcase")]
    failed = [name for name, status, _ in cases if status == "fail"]
    skipped = [name for name, status, _ in cases if status in ("notrun", "disabled")]
    figures = [Figure("tests", "failed", len(failed), more_is_better=False, most=0), Figure("tests", "passed", len(cases) - len(failed) - len(skipped)),
               Figure("tests", "skipped", len(skipped), more_is_better=False)]
    slow = sorted(cases, key=lambda c: -c[2])[:10]
    return figures, few("failed", [[n] for n in failed]) + few("skipped", [[n] for n in skipped]) + few("slowest, s", [[n, f"{s:.1f}"] for n, _, s in slow])


def coverage(text):
    data = json.loads(text)
    bounds = {"line": 99.0, "toggle": 97.0, "bins": 100.0}
    figures = [Figure("coverage", kind, round(data[kind]["pct"], 2), "%", slack=0.001, least=least) for kind, least in bounds.items()]
    rows = [[f, f"{k['line']['pct']:.1f} %", f"{k['toggle']['pct']:.1f} %"] for f, k in sorted(data["files"].items())]
    return figures, few("by file: lines, toggles", rows)


def mutation(text):
    data = json.loads(text)
    figures = [Figure("mutation", name, d["score_pct"], "%", slack=0.03, least=95.0) for name, d in sorted(data["designs"].items())]
    rows = [[name, f"seed {d['seed']}", f"{d['mutants']} faults", f"{d['killed']} killed", f"{d['equivalent']} equivalent"] for name, d in sorted(data["designs"].items())]
    return figures, few("designs", rows) + few("survived", [[s["design"], f"{s['file']}:{s['line']}", s["fault"], s["text"]] for s in data["survived"]])


def proofs(text):
    found = collections.defaultdict(list)
    for p in json.loads(text)["properties"]:
        found[p["result"].split()[0]].append(f"{p['module']}: {p['name']}" + (f" ({p['task']})" if p["task"] else ""))
    bad = [p for result, names in found.items() if result not in ("proven", "bounded", "reached") for p in names]
    return ([Figure("proofs", "failed", len(bad), more_is_better=False, most=0), Figure("proofs", "proven", len(found["proven"])),
             Figure("proofs", "bounded", len(found["bounded"])), Figure("proofs", "reached", len(found["reached"]))], few("failed", [[p] for p in bad]))


def broken_designs(text):
    mutants = json.loads(text)["mutants"]
    lives = [[m["module"], m["mutant"], m["property"]] for m in mutants if not m["killed"]]
    figures = [Figure("broken designs", "not refused", len(lives), more_is_better=False, most=0), Figure("broken designs", "refused", len(mutants) - len(lives))]
    return figures, few("not refused", lives)


def area(text):
    data = json.loads(text)
    figures = []
    for block in data["blocks"]:
        figures.append(Figure("area and clock", f"{block['name']}, um2", block["area_um2"], more_is_better=False, slack=0.01))
        if block["fmax_mhz"]:
            figures.append(Figure("area and clock", f"{block['name']}, MHz", block["fmax_mhz"], slack=0.1))
    params = ", ".join(f"{k} = {v}" for k, v in data["params"].items())
    return figures, f"<p class='note'>{esc(data['liberty'])}, {esc(params)}: cell area before layout. Equal designs differ by up to 10 % of the clock.</p>"


def options(text):
    figures = []
    for point in json.loads(text)["points"]:
        name = ", ".join(f"{k} = {v}" for k, v in point["options"].items()) if len(point["options"]) < 2 else "all"
        figures.append(Figure("options", f"{name or 'none'}, um2", point["area_um2"], more_is_better=False, slack=0.01))
        figures.append(Figure("options", f"{name or 'none'}, MHz", point["fmax_mhz"], slack=0.1))
    return figures, ""


def rtl(text):
    data = json.loads(text)
    figures = [Figure("cycles", "first dispatch", data["first_dispatch_cycles"], more_is_better=False, most=3)]
    figures += [Figure("cycles", f"CTAs a cycle, {sms} SMs", v, least=1.0) for sms, v in data["dispatch_per_cycle"].items()]
    figures += [Figure("cycles", f"decision, K, N = {size}", v, more_is_better=False) for size, v in data["decision_cycles"].items()]
    figures += [Figure("cycles", "decisions that fixed point changes", data["fixed_point_changed_pct"], "%", False, 0.5, most=0.5)]
    return figures, ""


def speed(text):
    suite = json.loads(text)["suite"]
    return [Figure("speed", "cycles a second", suite["cycles_per_second"], slack=0.15),
            Figure("speed", "warp instructions a second", suite["warp_instructions_per_second"], slack=0.15),
            Figure("speed", "peak MiB", suite["peak_rss_mib"], more_is_better=False, slack=0.1)], ""


SECTIONS = [("Tests", "tests.xml", tests), ("Coverage of the RTL", "coverage.json", coverage), ("Mutation, on a fresh seed", "mutation.json", mutation),
            ("Proofs", "proofs.json", proofs), ("Broken designs that the proofs must refuse", "broken_designs.json", broken_designs),
            ("Area and clock", "area.json", area), ("Options of the unit", "options.json", options), ("Cycles of the RTL", "rtl.json", rtl),
            ("Speed of the GPU model", "speed.json", speed)]


def read(folder):
    """[(title, figures or None where it did not run, details)]"""
    found = []
    for title, file, section in SECTIONS:
        path = folder / file
        figures, details = section(path.read_text()) if path.exists() and path.stat().st_size else (None, "")
        found.append((title, figures, details))
    return found
