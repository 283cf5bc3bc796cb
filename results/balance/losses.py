#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where balance's time goes on the H200, mix by mix, from what was decided when (h200/*.jsonl.xz): prints the mixes that are below the best of the
others, and writes h200/losses.json. losses.py [LIMIT, default 0.97]

balance's time less the best other system's is the sum of four parts, each a share of that system's time:
measuring  time from a decision's begin until it is in force, less what the work done meanwhile would have taken under what was kept
misjudged  what the kernels took under the kept partition until one was done, less what they would have at the rates that it was kept for
tail       what a kernel that was left alone took, less its time alone
partition  the rest: what the kept partition would take at the rates it was kept for, less the best other system's time
"""
import json
import lzma
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent / "h200"
OTHERS = ("left_over", "spatial", "even", "warped_slicer")
PARTS = ("measuring", "misjudged", "tail", "partition")


def runs(name):
    with lzma.open(HERE / f"{name}.jsonl.xz", "rt") as file:
        for line in map(json.loads, file):
            if "finish_seconds" in line:
                yield line


def kept_rates(decision):
    """What the partition in force was kept for, of the open kernels; None where they run in order, or their rates were known."""
    held = [decision["ctas"][k] for k in decision["open"]]
    found = [c for c in decision.get("candidates", []) if c["ctas"] == held and c["tried"] == "confirmed"]
    return found[-1]["rates"] if found else None


def parts_of(run):
    """Seconds of each part but the last, and of all."""
    alone, decisions = run["alone_seconds"], run["decisions"]
    end = max(run["finish_seconds"])
    work = lambda before, after: sum(a * (y - x) for a, x, y in zip(alone, before, after))
    parts = dict.fromkeys(PARTS[:3], 0.0)
    for d, after in zip(decisions, [*decisions[1:], {"at": end, "done": [1] * len(alone)}]):
        lasts, done = after["at"] - d["in_force"], work(d["done_in_force"], after["done"])
        speed = done / lasts if lasts > 0.1 * end else sum(alone) / end  # too short to tell
        parts["measuring"] += d["in_force"] - d["at"] - work(d["done"], d["done_in_force"]) / speed
        rates = kept_rates(d)
        if len(d["open"]) == 1:
            parts["tail"] += lasts - done
        elif rates:
            parts["misjudged"] += lasts - done / sum(rates)
    return parts, end


def mixes(name):
    by = {}
    for run in runs(name):
        by.setdefault("_".join(run["kernels"]), {}).setdefault(run["policy"], []).append(run)
    for mix, of in by.items():
        decided = {p: [r for r in of[p] if "decisions" in r] for p in of}
        balance = decided["balance"]
        if not balance:
            continue
        over = lambda policy: median(max(r["finish_seconds"]) / sum(r["alone_seconds"]) for r in of[policy])
        times = {p: over(p) for p in of} | {"in_order": 1.0}
        best = min(("in_order", *(p for p in OTHERS if p in of)), key=times.get)
        each = []
        for run in balance:
            parts, end = parts_of(run)
            scale = sum(run["alone_seconds"]) * times[best]
            shares = {p: t / scale for p, t in parts.items()}
            each.append(shares | {"partition": end / scale - 1 - sum(shares.values())})
        parts = {p: median(e[p] for e in each) for p in PARTS}
        first = balance[0]["decisions"][0]
        theirs = decided[best][0]["decisions"][0]["ctas"] if decided.get(best) else None
        among = theirs is not None and any(c["ctas"] == theirs for c in first.get("candidates", []))
        yield {"mix": mix, "kernels": len(balance[0]["kernels"]), "best": best, "speed": times[best] / times["balance"],
               "again": times[best] / times["balance_again"] if "balance_again" in times else None,
               "once": times[best] / times["balance_once"] if "balance_once" in times else None,
               "kept": first["ctas"], "theirs": theirs, "among": among, **parts, "cause": max(PARTS, key=parts.get)}


def main():
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 0.97
    rows = [row for name in ("pairs", "triples") for row in mixes(name)]
    (HERE / "losses.json").write_text("[\n" + ",\n".join(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in r.items()}) for r in rows) + "\n]\n")
    for kernels in (2, 3):
        of = [r for r in rows if r["kernels"] == kernels]
        far = sorted((r for r in of if r["speed"] < limit), key=lambda r: r["speed"])
        print(f"{len(far)} of {len(of)} mixes of {kernels} kernels below {limit} of the best of the others")
        print(f"{'mix':14}{'balance':>9}{'known':>8} {'best':14}" + "".join(f"{p:>11}" for p in PARTS) + "  cause; kept, the best's, among the candidates")
        for r in far:
            print(f"{r['mix']:14}{100 * (r['speed'] - 1):8.1f}%{100 * ((r['again'] or 0) - 1):7.1f}% {r['best']:14}" + "".join(f"{100 * r[p]:10.1f}%" for p in PARTS)
                  + f"  {r['cause']}; {r['kept']} {r['theirs']} {'yes' if r['among'] else 'no'}")


main()
