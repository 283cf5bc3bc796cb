#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.testplan: tb/testplan.toml against the tests that a build has. usage: tb/check_testplan.py <build folder>

tb/coverage.py, which has met the functional bins, holds the plan against those.

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


def plan():
    return [{"name": name, "stage": "quick", **goal} for name, goal in tomllib.loads((ROOT / "tb/testplan.toml").read_text()).items()]


def shape(goals):
    """Goals without something to show."""
    for goal in goals:
        yield from (f"{goal.get('name', '?')}: no {key}" for key in ("name", "what", "stage", "tests") if not goal.get(key))
        if goal.get("stage") not in ("quick", "long"):
            yield f"{goal.get('name', '?')}: stage = {goal.get('stage')}: must be quick or long"


def matched(goals, key, known, owed):
    """Of tests or bins: patterns that match none of the known, and owed ones without a goal."""
    used = set()
    for goal in goals:
        for pattern in goal.get(key, []):
            matches = fnmatch.filter(known, pattern)
            used.update(matches)
            if not matches:
                yield f"{goal['name']}: {key}: {pattern}: there is none"
    yield from (f"{name}: has no goal" for name in owed if name not in used)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    goals = plan()
    every = listed(sys.argv[1])
    tests = [test for test in every if not test.endswith("_NOT_BUILT")]
    hardware = [t for t in tests if re.fullmatch(HARDWARE, t)] + [t for t in listed(sys.argv[1], "-L", "^tb$") if t in tests]
    wrong = [*shape(goals), *matched(goals, "tests", tests, hardware)]
    unbuilt = sorted(t.removesuffix("_NOT_BUILT") for t in every if re.fullmatch(r"tb_.*_NOT_BUILT", t))
    if unbuilt:
        wrong = [line for line in wrong if not re.search(r": tests: [A-Z]", line)]   # tests of benches
    print("\n".join(wrong) or f"{len(goals)} goals, {len(hardware)} tests of the hardware")
    if unbuilt and not wrong:
        print(f"not built: {', '.join(unbuilt)}")
    sys.exit(1 if wrong else 77 if unbuilt else 0)


if __name__ == "__main__":
    main()
