#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power and Liberty functions against sums done by hand."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import liberty   # noqa: E402
import power     # noqa: E402

CELLS = """library (t) {
  nom_voltage : 1.0;
  power_lut_template (slew) { variable_1 : input_transition_time; index_1 ("0.0, 0.1"); }
  cell (INV) { area : 1; cell_leakage_power : 100;
    pin (A) { direction : input; capacitance : 0.002; }
    pin (Y) { direction : output; function : "!A";
      internal_power () { related_pin : "A"; rise_power (slew) { values ("0.010, 0.010"); } fall_power (slew) { values ("0.002, 0.004"); } } } }
  cell (DFF) { area : 5; cell_leakage_power : 400;
    ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; }
    pin (CK) { direction : input; clock : true; capacitance : 0.001;
      internal_power () { when : "D"; rise_power (slew) { values ("0.020, 0.020"); } fall_power (slew) { values ("0, 0"); } } }
    pin (D) { direction : input; capacitance : 0.003; }
    pin (Q) { direction : output; function : "IQ"; } }
}"""
NETLIST = {"modules": {"m": {
    "ports": {"clk_i": {"direction": "input", "bits": [2]}, "q_o": {"direction": "output", "bits": [4]}},
    "cells": {"f": {"type": "DFF", "connections": {"CK": [2], "D": [3], "Q": [4]}}, "i": {"type": "INV", "connections": {"A": [4], "Y": [3]}}},
    "netnames": {"state_q": {"bits": [4]}}}}}
TRACE = ["s clk_i 1 1", "s state_q 1 2", "t 0", "1 0", "2 0", "t 5", "1 1", "2 1", "t 10", "1 0", "t 15", "1 1", "2 0", "t 20", "1 0", "t 25", "1 1",
         "2 1", "t 30", "1 0", "t 35", "1 1", "t 40", "1 0", "t 45"]   # state 0 1 0 1 1 in five cycles


class Power(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        (folder / "t.lib").write_text(CELLS)
        (folder / "n.json").write_text(json.dumps(NETLIST))
        self.library = liberty.Library(folder / "t.lib")
        self.netlist = power.Netlist(folder / "n.json", "m", self.library)
        self.waveform = power.Waveform(TRACE)

    def test_cycles_are_sampled_with_the_clock_low(self):
        self.assertEqual(self.waveform.cycles, 5)
        self.assertEqual(self.waveform.bits["state_q[0]"], 0b11010)

    def test_energies_are_those_of_the_transitions(self):
        got = power.calculate(self.netlist, self.waveform, 1000)   # 5 ns
        state, toggled = 3, 3                                     # both nets move three times in five cycles
        switching = 0.5 * (0.002 + power.PORT_LOAD) * state + 0.5 * 0.003 * toggled + 0.5 * 0.001 * 10
        internal = 2 * 0.003 + 1 * 0.010 + 2 * 0.020              # Y falls twice (0.003 at 0.05 ns), rises once; D is high in two cycles
        self.assertAlmostEqual(got["switching_mw"], switching / 5e-3 * 1e-3, 6)
        self.assertAlmostEqual(got["internal_mw"], internal / 5e-3 * 1e-3, 6)
        self.assertAlmostEqual(got["leakage_mw"], 500e-6, 9)
        self.assertEqual(got["annotated_nets_pct"], 100)

    def test_functions_follow_the_precedence_of_liberty(self):
        for text, ones in [("!(A B)+C", 7), ("A B'+!A B", 4), ("(A+B) C", 3), ("!A'", 4)]:
            rows = sum(liberty.evaluate(text, {"A": i & 1, "B": i >> 1 & 1, "C": i >> 2}) for i in range(8))
            self.assertEqual(rows, ones, text)

    def test_a_broken_file_is_named(self):
        with self.assertRaises(SystemExit) as caught:
            liberty.parse("library (x) { cell (A) {", "x.lib")
        self.assertIn("x.lib", str(caught.exception))


unittest.main()
