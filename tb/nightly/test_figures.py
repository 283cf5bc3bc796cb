#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tb/nightly/figures.py on what each tool writes, shortened."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
NIGHT = {
    "night": {"date": "2026-11-20", "revision": "sample"},
    "coverage": {"files": {"wait_guard.sv": {"line": {"pct": 100.0}, "toggle": {"pct": 98.0}}}, "line": {"pct": 99.98}, "toggle": {"pct": 97.9},
                 "bins": {"pct": 100.0}, "excluded_points": 3},
    "mutation": {"seed": 20261120, "designs": {"sluice_csr": {"seed": 20261120, "mutants": 80, "killed": 76, "equivalent": 3, "score_pct": 98.7}},
                 "blocks": {"sluice_csr": {"killed": 76, "equivalent": 3, "survived": 1}},
                 "survived": [{"design": "sluice_csr", "number": 7, "file": "sluice_csr.sv", "line": 9, "text": "a <= b;", "fault": "const0 and.A[0]"}]},
    "proofs": {"properties": [{"module": m, "task": t, "name": n, "result": r} for m, t, n, r in (
        ("wait_guard", "", "one_has_the_claim", "proven"), ("partition_core", "scan", "scan_ends_in_time", "bounded 12"),
        ("cta_dispatcher", "covers", "a_grant_meets_an_end", "reached"))]},
    "broken_designs": {"mutants": [{"module": "wait_guard", "mutant": "urgent_at_once", "property": "nobody_is_urgent_before_a_tick", "killed": True}]},
    "area": {"liberty": "gscl45nm.lib", "params": {"NUM_SM": 16}, "blocks": [
        {"name": "cta_dispatcher", "area_um2": 52757.77, "cells": 15284, "flops": 2145, "latches": 169, "fmax_mhz": 985.5},
        {"name": "sluice_top", "area_um2": 94700.05, "cells": 26687, "flops": 3953, "latches": 837, "fmax_mhz": 1001.4}]},
    "options": {"liberty": "gscl45nm.lib", "points": [
        {"options": {}, "area_um2": 94412.84, "flops": 3953, "latches": 837, "fmax_mhz": 980.2},
        {"options": {"FLUSH": 1}, "area_um2": 96874.31, "flops": 4003, "latches": 843, "fmax_mhz": 1016.6}]},
    "rtl": {"first_dispatch_cycles": 3, "entry_max_error": 0.00012, "fixed_point_changed_pct": 0.007, "dispatch_per_cycle": {"16": 1.0, "132": 1.0},
            "waterfill_cycles": {"2,8": 370}, "decision_cycles": {"2,8": 1204}},
    "speed": {"machine": "fermi", "core_mhz": 700.0, "runs": [], "suite": {
        "cpu_seconds": 10.0, "cycles_per_second": 250000.0, "warp_instructions_per_second": 900000.0, "peak_rss_mib": 120.0}},
}
TESTS = """<testsuite tests="3"><testcase name="SluiceCsr.RtlAndTwinAgreeInEveryCycle" time="9.5" status="run"/>
<testcase name="lint.pages" time="2.5" status="run"/><testcase name="commands" time="0" status="notrun"/></testsuite>"""


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.night = pathlib.Path(folder.name) / "night"
        self.night.mkdir()
        (self.night / "tests.xml").write_text(TESTS)
        for name, figures in NIGHT.items():
            (self.night / f"{name}.json").write_text(json.dumps(figures))
        self.baseline = pathlib.Path(folder.name) / "baseline.json"
        self.assertEqual(self.run_figures("--accept", "first figures").returncode, 0)

    def run_figures(self, *more):
        return subprocess.run([sys.executable, HERE / "figures.py", self.night, "--baseline", self.baseline, *more], capture_output=True, text=True)

    def change(self, file, old, new):
        path = self.night / file
        self.assertEqual(path.read_text().count(old), 1)
        path.write_text(path.read_text().replace(old, new))

    def test_every_section_is_there(self):
        said = self.run_figures().stdout
        for title in ("Tests", "Coverage of the RTL", "Mutation, on a fresh seed", "Proofs", "Broken designs", "Area and clock", "Options", "Cycles of the RTL", "Speed"):
            self.assertIn(f"## {title}", said)
        self.assertNotIn("Did not run", said)
        self.assertEqual((self.night / "figures.md").read_text(), said)

    def test_a_figure_beyond_its_bound_fails(self):
        self.change("mutation.json", '"score_pct": 98.7', '"score_pct": 94.9')
        result = self.run_figures()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines()[-1], "worse: Mutation, on a fresh seed: sluice_csr 94.9 %: breaks its bound")

    def test_a_figure_worse_than_reviewed_fails_and_a_better_one_does_not(self):
        self.change("area.json", '"fmax_mhz": 1001.4', '"fmax_mhz": 890.0')   # beyond the slack of 10 %
        self.change("rtl.json", '"2,8": 1204', '"2,8": 1100')
        result = self.run_figures()
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (1, "worse: Area and clock: sluice_top, MHz 890: worse than reviewed"))
        self.assertIn("| decision, K, N = 2,8 | 1,100 |  | 1,204 | better |", result.stdout)

    def test_within_the_slack_a_figure_is_the_same(self):
        self.change("area.json", '"fmax_mhz": 1001.4', '"fmax_mhz": 910.0')
        self.assertEqual(self.run_figures().returncode, 0)

    def test_a_failed_test_and_a_failed_proof_are_named(self):
        self.change("tests.xml", 'time="2.5" status="run"', 'time="2.5" status="fail"')
        self.change("proofs.json", '"bounded 12"', '"failed"')
        result = self.run_figures()
        self.assertEqual(result.returncode, 1)
        self.assertIn("- failed: lint.pages\n", result.stdout)
        self.assertIn("- failed: partition_core: scan_ends_in_time (scan)\n", result.stdout)

    def test_what_did_not_run_is_told(self):
        (self.night / "speed.json").unlink()
        (self.night / "coverage.json").write_text("")
        result = self.run_figures()
        self.assertEqual((result.returncode, result.stdout.count("Did not run.")), (0, 2))

    def test_what_cannot_be_read_is_one_line(self):
        (self.night / "proofs.json").write_text("{")
        result = self.run_figures()
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))


if __name__ == "__main__":
    unittest.main()
