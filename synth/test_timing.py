#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The search of the smallest period, on reports of made-up netlists with paths of each kind."""
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import timing   # noqa: E402


def report(slacks):
    """As OpenSTA, of paths of which the slack at a period is known."""
    path = "Startpoint: {0} (x)\nEndpoint: {0}_end (x)\n  0.1 0.1 ^ {0}/Q (DFF)\n  data arrival time\n  {1:.4f}   slack (MET)\n"

    def run(_, tcl):
        period = float(tcl.split("-period ")[1].split()[0])
        return "=== worst\n" + "".join(path.format(name, slack(period)) for name, slack in slacks.items()) + "=== register\n=== power\n"
    return run


def smallest(slacks):
    library = types.SimpleNamespace(path=pathlib.Path("t.lib"), inverter=lambda size: types.SimpleNamespace(name=f"INVX{size}"))
    kept, timing.run_sta = timing.run_sta, report(slacks)
    try:
        return timing.analyse(pathlib.Path("."), "m", library, 0.7)
    finally:
        timing.run_sta = kept


class Period(unittest.TestCase):
    def check(self, slacks, period, name):
        found = smallest(slacks)
        self.assertAlmostEqual(found["period_ns"], period, delta=0.002)  # as near as the search goes
        self.assertEqual((found["start"], found["end"]), (name, f"{name}_end"))

    def test_names_the_path_that_sets_the_period(self):   # one that borrows from a latch never has a slack above zero
        self.check({"long": lambda p: p - 2.2, "borrower": lambda p: min(0.0, p - 1.5)}, 2.2, "long")

    def test_is_not_misled_by_a_path_that_misses_by_more_than_the_period_must_grow(self):   # it ends at a latch
        self.check({"latch": lambda p: min(0.0, 3 * (p - 1.8)), "short": lambda p: p - 1.1}, 1.8, "latch")


if __name__ == "__main__":
    unittest.main()
