#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tb/mutation.py: what counts as killed. A bench that is slow because of other work on the machine does not."""
import pathlib
import tempfile
import unittest

import mutation


class Mutation(unittest.TestCase):
    def setUp(self):
        limit = mutation.CPU_LIMIT_S
        self.addCleanup(setattr, mutation, "CPU_LIMIT_S", limit)
        mutation.CPU_LIMIT_S = 1

    def killed(self, bench, full=False):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "bench"
            program.write_text(f"#!/bin/sh\n{bench}\n")
            program.chmod(0o755)
            return mutation.killed(folder, {}, 1, full)

    def test_bench_that_fails_or_crashes_kills(self):
        self.assertTrue(self.killed("exit 1"))
        self.assertTrue(self.killed("kill -SEGV $$"))
        self.assertFalse(self.killed("exit 0"))

    def test_bench_that_computes_for_ever_kills_in_a_quick_run_only(self):
        self.assertTrue(self.killed("while :; do :; done"))
        self.assertFalse(self.killed("while :; do :; done", full=True))

    def test_bench_that_has_to_wait_does_not_kill(self):
        self.assertFalse(self.killed("sleep 1.5"))

    def test_bench_sees_the_fault_and_no_long_campaign(self):
        self.assertTrue(self.killed('[ "$SLUICE_MUTANT" != 1 ]'))
        self.assertFalse(self.killed('[ -z "$SLUICE_FULL" ]'))
        self.assertFalse(self.killed('[ -n "$SLUICE_FULL" ]', full=True))

    def test_a_design_below_the_bound_is_told_by_itself(self):
        rows = [{"design": d, "block": d, "number": n, "file": "f.sv", "line": 1, "text": "", "fault": "", "result": r}
                for d, results in {"good": ["killed"] * 99 + ["equivalent (argued)"], "bad": ["killed"] * 3 + ["survived"]}.items() for n, r in enumerate(results)]
        found = mutation.summary(rows, 7)
        self.assertEqual(found["designs"]["good"], {"seed": 7, "mutants": 100, "killed": 99, "equivalent": 1, "score_pct": 100.0})
        self.assertEqual(found["designs"]["bad"]["score_pct"], 75.0)
        self.assertGreater(found["score_pct"], 95)
        self.assertEqual([s["design"] for s in found["survived"]], ["bad"])


if __name__ == "__main__":
    unittest.main()
