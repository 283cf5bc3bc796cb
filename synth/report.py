# SPDX-License-Identifier: Apache-2.0
"""What synth/run.sh found, as a terminal table."""

# Published figures, and what this unit is meant to stay under: name in groups, unit divisor, what, bound, source.
BOUNDS = [
    ("counters_per_sm_um2", "sampling counters, an SM (um2)", 714, "Warped-Slicer: 714"),
    ("global_algorithm_um2", "scaler, table, allocator, guard, sequencer (um2)", 20000, "Warped-Slicer, counters and algorithm logic: 40,000"),
    ("dispatcher_um2", "dispatcher, count-only (um2)", 33000, "a single-kernel dispatcher of 16 SMs in this library: 33,378, 304 MHz"),
    ("dispatcher_regions_um2", "dispatcher with regions, mapped for area (um2)", 110000, "MIAOW's of 16 CUs without its RAMs: 157,888, 394 MHz"),
    ("total_um2", "whole unit (um2)", 70000, "count-only"),
]


def rows(results):
    total = next((b["area_um2"] for b in results["blocks"] if b["name"] == "sluice_top"), None)
    for b in results["blocks"]:
        n = results["params"]["NUM_SM"] if b["name"] == "profile_counters" else 1
        share = f"{100 * n * b['area_um2'] / total:.1f}" if total and "regions" not in b["name"] else ""
        yield [b["name"] + (f" x {n}" if n > 1 else ""), f"{b['cells']:,}", f"{b['flops']:,}", f"{b['area_um2']:,.0f}",
               f"{b['area_um2'] / 0.7:,.0f}", share, f"{b['period_ns']:.3f}" if b["period_ns"] else "-", f"{b['fmax_mhz']:,.0f}" if b["fmax_mhz"] else "-",
               f"{b['leakage_mw']:.4f}" if b["leakage_mw"] is not None else "-",
               f"{b['dynamic_mw']:.3f}" if "dynamic_mw" in b else "-", f"{b['clock_mw']:.3f}" if "clock_mw" in b else "-", f"{b['rest_mw']:.3f}" if "rest_mw" in b else "-",
               f"{b['annotated_nets_pct']:.1f}" if "annotated_nets_pct" in b else "-",
               {True: "proven", None: "-"}[b.get("equivalence", {}).get("proven")]]


def judged(results):
    """(what, um2, bound, verdict, published) of the groups of blocks that were measured."""
    groups = results["groups"]
    found = [(what, groups[name], bound, source) for name, what, bound, source in BOUNDS if name in groups]
    if groups:
        both = groups["counters_per_sm_um2"] * results["params"]["NUM_SM"] + groups["global_algorithm_um2"]
        found.append(("counters and algorithm together (um2)", both, 30000, "Warped-Slicer: 50,000"))
    return [(what, value, bound, "holds" if value <= bound else "MISSED", source) for what, value, bound, source in found]


HEAD = ["block", "cells", "flops", "area um2", "/ 0.7", "share %", "worst ns", "fmax MHz", "leakage mW", "dynamic mW", "of it clock", "at rest mW", "known %", "= RTL"]


def table(results):
    lines = [HEAD, *rows(results)]
    widths = [max(len(r[i]) for r in lines) for i in range(len(HEAD))]
    out = [f"{results['liberty']}, {results['params']}: cell area before layout, no clock tree, no wires"]
    out += ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))) for r in lines]
    out += [f"{what}: {value:,.0f}, bound {bound:,}: {verdict} ({source})" for what, value, bound, verdict, source in judged(results)]
    return "\n".join(out)
