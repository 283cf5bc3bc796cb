#!/usr/bin/env python3
"""The search of the smallest period, on reports of a netlist with a path of 2.2 ns and one that borrows from a latch."""
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import timing   # noqa: E402


def report(_, tcl):
    """As OpenSTA: the long path's slack follows the period; the borrower's is never above zero."""
    period = float(tcl.split("-period ")[1].split()[0])
    path = "Startpoint: {0} (x)\nEndpoint: {0}_end (x)\n  0.1 0.1 ^ {0}/Q (DFF)\n  data arrival time\n  {1:.4f}   slack (MET)\n"
    return ("=== worst\n" + path.format("long", period - 2.2) + path.format("borrower", min(0.0, period - 1.5)) +
            "=== register\n=== power\n")


class Period(unittest.TestCase):
    def test_names_the_path_that_sets_the_period(self):
        library = types.SimpleNamespace(path=pathlib.Path("t.lib"), pick=lambda *names: names[0])
        kept, timing.run_sta = timing.run_sta, report
        try:
            found = timing.analyse(pathlib.Path("."), "m", library, 0.7)
        finally:
            timing.run_sta = kept
        self.assertAlmostEqual(found["period_ns"], 2.2, delta=0.002)  # as near as the search goes
        self.assertEqual((found["start"], found["end"]), ("long", "long_end"))


if __name__ == "__main__":
    unittest.main()
