#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tb/mutation.py: what counts as killed. A bench that is slow because of other work on the machine does not."""
import pathlib
import tempfile
import unittest

import fault_names
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

    def test_a_fault_is_told_by_instance_and_register(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "flat.il").write_text("""module \\top
  cell $mux $flatten\\i_a.\\i_b.$procmux$12
    connect \\A \\i_a.i_b.held_q
    connect \\S \\i_a.i_b.from [3]
    connect \\Y $flatten\\i_a.\\i_b.$0\\held_q[1:0]
  end
end
""")
            chosen = fault_names.choices(pathlib.Path(folder))
        told = fault_names.describe("mutate -mode const0 -module top -cell $flatten\\i_a.\\i_b.$procmux$12 -port A -portbit 1", chosen)
        self.assertEqual(told["fault"], "const0 procmux.A[1] for held_q if from [3] in i_a.i_b")

    def test_an_argument_about_one_output_is_proven_for_the_others(self):
        design = """module top(input clk_i, rst_ni, valid_i, d_i, output reg valid_o, held_o, output seen_o);
  always @(posedge clk_i or negedge rst_ni) if (!rst_ni) valid_o <= 0; else valid_o <= valid_i;
  always @(posedge clk_i) if (valid_i) held_o <= d_i;
  assign seen_o = valid_o && held_o;
endmodule
"""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "top.v").write_text(design)
            mutation.yosys(folder, "flat.ys", ["read_verilog top.v", "proc", "rename -enumerate -pattern keep_% t:$mux", "write_ilang flat.il"])
            mutation.netlist(folder, "gold", "")
            fault = "mutate -mode const1 -module top -cell keep_0 -port {} -portbit 0"
            self.assertEqual(mutation.equivalent(folder, 1, fault.format("A")), "")
            self.assertEqual(mutation.equivalent(folder, 1, fault.format("A"), "held_o"), "sequential")
            self.assertEqual(mutation.equivalent(folder, 1, fault.format("B"), "held_o"), "")


if __name__ == "__main__":
    unittest.main()
