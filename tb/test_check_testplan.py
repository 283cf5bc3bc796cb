#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tb/check_testplan.py: each kind of fault in a plan is named."""
import unittest

from check_testplan import matched, shape

GOOD = {"name": "goal", "what": "text", "stage": "quick", "tests": ["A.*"], "bins": ["block: *"]}


class CheckTestplan(unittest.TestCase):
    def test_name_that_matches_nothing_and_test_or_bin_without_a_goal(self):
        for key, known, goal, faults in (
                ("tests", ["A.One"], GOOD, []), ("bins", ["block: bin"], GOOD, []),
                ("tests", ["A.One"], GOOD | {"tests": ["A.*", "A.Two"]}, ["goal: tests: A.Two: there is none"]),
                ("bins", ["block: bin"], GOOD | {"bins": ["block: *", "block: other"]}, ["goal: bins: block: other: there is none"]),
                ("tests", ["A.One", "B.One"], GOOD, ["B.One: has no goal"]), ("bins", ["block: bin", "other: bin"], GOOD, ["other: bin: has no goal"])):
            self.assertEqual(list(matched([goal], key, known, known)), faults)

    def test_missing_key_or_wrong_stage(self):
        self.assertEqual(list(shape([GOOD])), [])
        self.assertEqual(list(shape([GOOD | {"what": ""}])), ["goal: no what"])
        self.assertEqual(list(shape([GOOD | {"stage": "soon"}])), ["goal: stage = soon: must be quick or long"])


if __name__ == "__main__":
    unittest.main()
