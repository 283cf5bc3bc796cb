#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tb/check_testplan.py: each kind of fault in a plan is named."""
import unittest

import check_testplan

GOOD = {"name": "goal", "what": "text", "stage": "quick", "tests": ["A.*"], "bins": ["block: *"]}


class CheckTestplan(unittest.TestCase):
    def faults(self, goal, tests=("A.One",), bins=("block: bin",)):
        return check_testplan.check([goal], list(tests), list(tests), list(bins))

    def test_good_plan_has_no_fault(self):
        self.assertEqual(self.faults(GOOD), [])

    def test_name_that_matches_nothing(self):
        self.assertEqual(self.faults(GOOD | {"tests": ["A.*", "A.Two"]}), ["goal: tests: A.Two: there is none"])
        self.assertEqual(self.faults(GOOD | {"bins": ["block: *", "block: other"]}), ["goal: bins: block: other: there is none"])

    def test_test_or_bin_without_a_goal(self):
        self.assertEqual(self.faults(GOOD, tests=("A.One", "B.One")), ["B.One: has no goal"])
        self.assertEqual(self.faults(GOOD, bins=("block: bin", "other: bin")), ["other: bin: has no goal"])

    def test_missing_key_or_wrong_stage(self):
        self.assertEqual(self.faults(GOOD | {"what": ""}), ["goal: no what"])
        self.assertEqual(self.faults(GOOD | {"stage": "soon"}), ["goal: stage = soon: must be quick or long"])

    def test_bins_of_the_page_are_read(self):
        bins = check_testplan.declared_bins()
        self.assertIn("sluice_top: clean sample", bins)
        self.assertIn("partition_sequencer: mode even", bins)
        self.assertFalse([name for name in bins if "---" in name])


if __name__ == "__main__":
    unittest.main()
