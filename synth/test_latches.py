#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registers that share a master latch: which do, what becomes of them, and what is refused."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import latches   # noqa: E402
import liberty   # noqa: E402

LIBRARY = liberty.Library(pathlib.Path(__file__).parent / "tech/sluice45.cells")
CLOCK, BUS, OTHER = 2, 3, 4


def flop(clock, data, out):
    return latches.cell("$_DFF_P_", "Q", C=clock, D=data, Q=out)


def table(rows):
    """Registers that are written from one net, each behind a clock gate of its own; one without a gate, one with data of its own."""
    cells = {f"row{i}": flop(10 + i, BUS, 20 + i) for i in range(rows)}
    cells |= {"ungated": flop(CLOCK, BUS, 30), "alone": flop(10, OTHER, 31)}
    return {"ports": {"clk_i": {"bits": [CLOCK]}}, "cells": cells, "netnames": {"all": {"bits": [31]}}}


class Latches(unittest.TestCase):
    def shared(self, rows):
        module = table(rows)
        latches.share_masters(module, LIBRARY)
        return module["cells"]

    def test_rows_of_one_net_get_one_master(self):
        cells = self.shared(3)
        kinds = [c["type"] for c in cells.values()]
        self.assertEqual((kinds.count("LATCH"), kinds.count("INVX2"), kinds.count("$_DFF_P_")), (4, 1, 2))
        self.assertEqual(latches.row_latches(cells, LIBRARY, CLOCK), {"row0", "row1", "row2"})
        self.assertEqual(cells["row1"]["connections"] | {"D": 0}, {"CLK": [11], "D": 0, "Q": [21]})   # gate and name stay

    def test_two_rows_stay_flops(self):
        self.assertNotIn("LATCH", [c["type"] for c in self.shared(2).values()])

    def test_a_row_whose_data_may_move_while_it_is_open_is_refused(self):
        cells = self.shared(3)
        cells["row1"]["connections"]["D"] = [BUS]
        with self.assertRaises(SystemExit):
            latches.row_latches(cells, LIBRARY, CLOCK)

    def test_a_master_that_is_open_while_the_clock_is_high_is_refused(self):
        cells = self.shared(3)
        next(c for n, c in cells.items() if "master" in n)["connections"]["CLK"] = [CLOCK]
        with self.assertRaises(SystemExit):
            latches.row_latches(cells, LIBRARY, CLOCK)

    def test_registers_of_one_enable_are_worth_a_gate_together(self):
        register = lambda enable, width: {"type": "$dffe", "attributes": {}, "parameters": {"EN_POLARITY": "1"},
                                          "connections": {"CLK": [CLOCK], "EN": [enable], "Q": list(range(width))}}
        module = {"cells": {"word": register(5, 4), "bit": register(5, 1), "lonely": register(6, 1)}}
        latches.mark_gated(module)
        self.assertEqual({n for n, c in module["cells"].items() if "gated" in c["attributes"]}, {"word", "bit"})


unittest.main()
