#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage, mutation score and proofs of a named configuration, into results/synth/configurations.json.

  tb/configurations.py NAME [--coverage SUMMARY.json] [--mutation SCORE.json ...]

SUMMARY.json is what `tb/coverage.sh --of FOLDER --json` prints, FOLDER of the configuration's test: lines and toggles that its own model has, reached by any
bench. SCORE.json is what `tb/mutation.sh --json` prints, each with a seed of its own: of the faults in modules that the configuration has, the share
that was killed of those that are none. `proofs` are the properties of these modules, and of decisions as a whole."""
import argparse
import collections
import json
import pathlib
import re
import tempfile

from bench_build import ROOT, RTL, sh

FILE = ROOT / "results/synth/configurations.json"


def parts(parameters):
    """The modules that the configuration has."""
    values = " ".join(f"-set {k} {v}" for k, v in parameters.items())
    with tempfile.NamedTemporaryFile("r") as names:
        sh(["yosys", "-q", "-p", f"read_verilog -sv {' '.join(RTL)}; chparam {values} sluice_top; hierarchy -check -top sluice_top; tee -q -o {names.name} ls"], ROOT)
        return {name.split("\\")[name.count("\\") > 0] for name in re.findall(r"^  (\S+)$", names.read(), re.M)}   # $paramod\module\values


def proofs(modules):
    """The distinct properties in rtl/formal that are about these modules."""
    names = set()
    for path in (ROOT / "rtl/formal").glob("*.sby"):
        if path.stem in modules or path.stem == "whole_decision":
            for props in (ROOT / "rtl/formal").glob(f"{path.stem}*_props.sv"):
                names |= {(path.stem, name) for name in re.findall(r"(\w+):\s*assert\b", props.read_text())}
    return len(names)


def mutation(modules, scores):
    """Killed of what is no equal design, in percent."""
    count = collections.Counter()
    for score in scores:
        for block, results in score["blocks"].items():
            if block in modules:
                count.update(results)
    return round(100 * count["killed"] / max(1, count["killed"] + count["survived"]), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--coverage", type=pathlib.Path)
    parser.add_argument("--mutation", type=pathlib.Path, nargs="*", default=[])
    args = parser.parse_args()
    rows = json.loads(FILE.read_text())
    row = next((row for row in rows if row["name"] == args.name), None) or parser.error(f"{args.name}: {FILE.name} has no such configuration")
    modules = parts(row["parameters"])
    row["proofs"] = proofs(modules)
    if args.coverage:
        covered = json.loads(args.coverage.read_text())
        row |= {f"{kind}_pct": round(covered[kind]["pct"], 2) for kind in ("line", "toggle")}
    if args.mutation:
        row["mutation_pct"] = mutation(modules, [json.loads(path.read_text()) for path in args.mutation])
    FILE.write_text(json.dumps(rows, indent=1) + "\n")
    print(json.dumps(row, indent=1))


if __name__ == "__main__":
    main()
