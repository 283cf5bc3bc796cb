#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One page of a night's figures: tests, coverage, mutation, proofs, area, timing and speed, each beside its bound, its reviewed baseline and its past.

  tb/nightly/page.py FOLDER [--out page.html] [--baseline FILE] [--history FILE] [--accept TEXT]

FOLDER holds what tb/nightly/run.sh leaves there; a file that is missing is a section that did not run. --history: figures of earlier nights, a line each;
this night's is added. --accept writes this night's figures as the baseline, with a reason. The page needs no other file and no network.
Exit code 1 when a figure breaks its bound or is worse than its baseline by more than its slack."""
import argparse
import json
import pathlib
import sys
import xml.etree.ElementTree

import sections

STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b2733}table{border-collapse:collapse;margin:1rem 0}
th,td{padding:.25rem .8rem;border-bottom:1px solid #d9e0e6;text-align:right}th:first-child,td:first-child{text-align:left}.worse{background:#fbe3df}
.better{color:#1f7a4d}.note{color:#5a6b7a}details{margin:.3rem 0}svg{vertical-align:middle}"""


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


def sparkline(values):
    """The past of a figure, the newest at the right; nothing for one night."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    points = " ".join(f"{4 + 112 * i / (len(values) - 1):.1f},{22 - (18 * (v - low) / (high - low) if high > low else 9):.1f}" for i, v in enumerate(values))
    return (f'<svg width="120" height="26"><title>{len(values)} nights, {low:g} to {high:g}</title><polyline points="{points}" fill="none" stroke="#4e79a7" '
            f'stroke-width="1.5"/><circle cx="116" cy="{points.rsplit(",", 1)[1]}" r="2.5" fill="#4e79a7"/></svg>')


def bound(figure):
    return "" if figure.least is None and figure.most is None else f"at least {figure.least:g}" if figure.least is not None else f"at most {figure.most:g}"


def page(night, parts, baseline, history):
    """parts: [(title, figures, details)]; details is HTML."""
    rows, judged = [], []
    for title, figures, details in parts:
        rows.append(f"<h2>{sections.esc(title)}</h2>")
        if figures is None:
            rows.append('<p class="note">Did not run.</p>')
            continue
        rows.append("<table><tr><th>figure<th>value<th>bound<th>reviewed<th>trend<th>verdict</tr>")
        for f in figures:
            reviewed = baseline["figures"].get(f.key)
            kind, words = verdict(f, reviewed)
            judged.append((kind, f"{title}: {f.name} {f.text}: {words}"))
            past = [h["figures"][f.key] for h in history if f.key in h["figures"]][-29:] + [f.value]
            rows.append(f'<tr class="{kind}"><td>{sections.esc(f.name)}<td>{sections.esc(f.text)}<td>{bound(f)}<td>{"" if reviewed is None else f"{reviewed:,.6g}"}'
                        f"<td>{sparkline(past)}<td>{words}</tr>")
        rows.append(f"</table>{details}")
    bad = [words for kind, words in judged if kind == "worse"]
    missing = [title for title, figures, _ in parts if figures is None]
    head = "".join(f'<li class="worse">{sections.esc(words)}</li>' for words in bad) or "<li>Nothing is worse than its bound or its baseline.</li>"
    head += f"<li>Did not run: {sections.esc(', '.join(missing))}.</li>" if missing else ""
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Sluice: {sections.esc(night["date"])}</title><style>{STYLE}</style>'
            f'<h1>Sluice, {sections.esc(night["date"])}</h1><p>Revision {sections.esc(night["revision"])}. Baseline reviewed {sections.esc(baseline["reviewed"])}: '
            f'{sections.esc(baseline["why"])}</p><ul>{head}</ul>' + "\n".join(rows) + "</html>\n"), bad


def read_history(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path and path.exists() else []


def main():
    parser = argparse.ArgumentParser(prog="tb/nightly/page.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="default: FOLDER/index.html")
    parser.add_argument("--baseline", type=pathlib.Path, default=pathlib.Path(__file__).with_name("baseline.json"))
    parser.add_argument("--history", type=pathlib.Path)
    parser.add_argument("--accept", metavar="TEXT", help="why these figures are the baseline from now on")
    args = parser.parse_args()
    try:
        night = json.loads((args.folder / "night.json").read_text())
        parts = sections.read(args.folder)
        baseline = {"reviewed": "never", "why": "", "figures": {}} if not args.baseline.exists() else json.loads(args.baseline.read_text())
        history = [h for h in read_history(args.history) if h["date"] != night["date"]]
    except (OSError, ValueError, KeyError, TypeError, xml.etree.ElementTree.ParseError) as error:
        print(f"tb/nightly/page.py: {error}", file=sys.stderr)
        return 2
    figures = {f.key: f.value for _, of_part, _ in parts for f in of_part or []}
    if args.accept:
        baseline = {"reviewed": night["date"], "why": args.accept, "figures": baseline["figures"] | figures}
        args.baseline.write_text(json.dumps(baseline, indent=1) + "\n")
    text, bad = page(night, parts, baseline, history)
    (args.out or args.folder / "index.html").write_text(text)
    if args.history:
        args.history.write_text("".join(json.dumps(h) + "\n" for h in [*history, {"date": night["date"], "revision": night["revision"], "figures": figures}]))
    for words in bad:
        print(words)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
