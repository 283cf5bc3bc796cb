#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.testplan: tb/testplan.toml against the tests that a build has and the functional bins. usage: tb/check_testplan.py <build folder>

Exit code 1 with a line for each fault; 77 when something else is in order, but benches are not built yet, so that ctest does not know their tests."""
import fnmatch
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
HARDWARE = r"(lint\.(verilator|yosys)|formal|verilog)\..*"   # beside all with label tb


def listed(build, *options):
    text = subprocess.run(["ctest", "--test-dir", build, "-N", *options], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ *Test +#\d+: (\S+)", text, re.M)


def declared_bins():
    """["block: bin"] of the page that the benches write."""
    found, block = [], ""
    for line in (ROOT / "docs/verification/functional_bins.md").read_text().splitlines():
        if line.startswith("## "):
            block = line[3:].strip()
        cell = re.match(r"\| ([^|]+) \|", line)
        if cell and block and not re.fullmatch(r"bin|-+", cell[1]) and not cell[1].startswith("---"):
            found += [f"{block}: {name.strip()}" for name in cell[1].split(";")]
    return found


def check(goals, tests, hardware, bins):
    """What is wrong: goals without something to show, names that match nothing, tests and bins without a goal."""
    wrong, used = [], {"tests": set(), "bins": set()}
    for goal in goals:
        name = goal.get("name", "?")
        wrong += [f"{name}: no {key}" for key in ("name", "what", "stage", "tests") if not goal.get(key)]
        if goal.get("stage") not in ("quick", "long"):
            wrong.append(f"{name}: stage = {goal.get('stage')}: must be quick or long")
        for key, known in (("tests", tests), ("bins", bins)):
            for pattern in goal.get(key, []):
                matches = set(fnmatch.filter(known, pattern))
                used[key] |= matches
                if not matches:
                    wrong.append(f"{name}: {key}: {pattern}: there is none")
    wrong += [f"{test}: has no goal" for test in hardware if test not in used["tests"]]
    return wrong + [f"{name}: has no goal" for name in bins if name not in used["bins"]]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    goals = tomllib.loads((ROOT / "tb/testplan.toml").read_text())["goal"]
    every = listed(sys.argv[1])
    tests = [test for test in every if not test.endswith("_NOT_BUILT")]
    hardware = [t for t in tests if re.fullmatch(HARDWARE, t)] + [t for t in listed(sys.argv[1], "-L", "^tb$") if t in tests]
    wrong = check(goals, tests, hardware, declared_bins())
    unbuilt = sorted(t.removesuffix("_NOT_BUILT") for t in every if re.fullmatch(r"tb_.*_NOT_BUILT", t))
    if unbuilt:
        wrong = [line for line in wrong if not re.search(r": tests: [A-Z]", line)]   # tests of benches
    print("\n".join(wrong) or f"{len(goals)} goals, {len(hardware)} tests of the hardware, {len(declared_bins())} bins")
    if unbuilt and not wrong:
        print(f"not built: {', '.join(unbuilt)}")
    sys.exit(1 if wrong else 77 if unbuilt else 0)


if __name__ == "__main__":
    main()
