#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what tb/coverage.py counts: a bit that never changes is not reached, whatever it holds and whatever a model starts with."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import bench_build
import coverage

TIED = {"top": "tied", "class": "Vtied", "sources": ["tb/coverage_test/tied_tb.cpp", "systemc/sim/sc_main.cpp"]}


class Toggles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            bench_build.compile_bench(folder, TIED, [str(bench_build.ROOT / "tb/coverage_test/tied.sv")], coverage=True)
            subprocess.run(["./bench"], cwd=folder, env=dict(os.environ, SLUICE_COVERAGE_DIR=name), check=True, stdout=subprocess.DEVNULL)
            cls.points = coverage.points([folder])

    def reached(self, signal):
        return {what: count > 0 for (_, kind, _, what), count in self.points.items() if kind == "toggle" and what.split("[")[0] == signal}

    def test_what_moves_is_reached(self):
        self.assertEqual(set(self.reached("moves_q").values()), {True})
        self.assertEqual(set(self.reached("moves_i").values()), {True})

    def test_what_never_changes_is_not(self):
        for signal in ("high", "low", "set_by_reset_q"):
            self.assertEqual(set(self.reached(signal).values()), {False}, signal)

    def test_bits_of_a_vector_are_told_apart(self):
        self.assertEqual(self.reached("bits_o"), {"bits_o[0]": True, "bits_o[1]": False, "bits_o[2]": False, "bits_o[3]": False})

    def test_bits_of_a_wide_vector_are_counted(self):
        wide = self.reached("wide")
        self.assertEqual((len(wide), [bit for bit, moved in wide.items() if moved]), (300, ["wide[296]"]))


class Configurations(unittest.TestCase):
    """A configuration without a block has neither its bins nor its constants."""
    FILES = {"sluice_top.sv", "sluice_csr.sv", "partition_sequencer.sv"}

    def test_bins_of_a_block_that_is_not_there_do_not_count(self):
        lacking = [b for b in ("balance_unit", "balance_unit_few", "sluice_csr", "water_filling") if coverage.lacks(self.FILES, b)]
        self.assertEqual(lacking, ["balance_unit", "balance_unit_few"])

    def test_constants_are_left_out_only_without_the_block(self):
        rules, point = coverage.exclusions(), ("sluice_csr.sv", "toggle", 49, "wish_o[40]")
        self.assertTrue(coverage.excluded(rules, point, self.FILES))
        self.assertFalse(coverage.excluded(rules, point, self.FILES | {"balance_unit.sv"}))


if __name__ == "__main__":
    unittest.main()
