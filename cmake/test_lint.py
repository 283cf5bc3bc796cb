# SPDX-License-Identifier: Apache-2.0
"""Tests of the lint scripts: each of them refuses what it is there to refuse."""
import unittest

import lint_layers
import lint_limits


class Layers(unittest.TestCase):
    def test_downward_include_is_accepted(self):
        self.assertEqual(lint_layers.check({"sw/core/a.h": "", "sw/io/b.cpp": '#include <vector>\n#include "sw/core/a.h"\n'}), [])

    def test_upward_include_is_refused(self):
        found = lint_layers.check({"sw/core/a.h": '#include "sw/io/b.h"\n', "sw/io/b.h": ""})
        self.assertEqual(found, ["sw/core/a.h includes sw/io/b.h: sw/io is above sw/core"])

    def test_cycle_of_files_is_refused(self):
        found = lint_layers.check({"sw/core/a.h": '#include "sw/core/b.h"\n', "sw/core/b.h": '#  include "a.h"\n'})
        self.assertEqual(found, ["cycle: sw/core/a.h -> sw/core/b.h -> sw/core/a.h"])

    def test_cycle_of_folders_is_refused(self):
        found = lint_layers.check({"tb/a/a.h": '#include "tb/b/b.h"\n', "tb/b/b.h": "", "tb/b/c.h": '#include "tb/a/d.h"\n', "tb/a/d.h": ""})
        self.assertEqual(found, ["cycle: tb/a -> tb/b -> tb/a"])

    def test_systemc_and_cuda_stay_in_their_folders(self):
        found = lint_layers.check({"sw/io/a.h": "#include <systemc>\n#include <cuda.h>\n", "sw/gpu/cuda/driver.h": "#include <cuda.h>\n"})
        self.assertEqual(found, ["sw/io/a.h includes systemc: only systemc|lib|tb|tests may",
                                 "sw/io/a.h includes cuda.h: only sw/gpu/cuda|sw/interpose|tests/fake_cuda|tests/interpose|tests/gpu/programs|tests/gpu/llm|tests/gpu/sm90 may"])

    def test_unknown_folder_and_missing_file_are_refused(self):
        found = lint_layers.check({"sw/attic/a.h": '#include "sw/core/gone.h"\n'})
        self.assertEqual(found, ["sw/attic/a.h: sw/attic has no row in LAYERS", "sw/attic/a.h includes sw/core/gone.h: not in the repository"])

    def test_one_name_for_two_types_is_refused(self):
        found = lint_layers.check({"sw/io/a.h": "namespace sluice::io {\nstruct Row {\n", "sw/io/b.h": "namespace sluice::io {\nclass Row final : public A {\n",
                                   "sw/core/c.h": "namespace sluice::core {\nstruct Row;\nstruct Row {\n", "sw/core/d.cpp": "namespace sluice::core {\nstruct Row {\n"})
        self.assertEqual(found, ["sluice::io::Row is defined in sw/io/a.h and sw/io/b.h"])


class Limits(unittest.TestCase):
    LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"

    def test_long_lines_and_files_are_refused(self):
        found = lint_limits.check("rtl/a.sv", self.LICENCE + "x" * 121 + "\n" * 401)
        self.assertEqual(found, ["rtl/a.sv: 402 lines: at most 400", "rtl/a.sv:2: 121 characters: at most 120"])

    def test_rows_of_tables_are_not_measured(self):
        self.assertEqual(lint_limits.check("docs/a.md", "| " + "x" * 1000 + " |\n"), [])

    def test_comments_of_pages_are_not_measured(self):
        self.assertEqual(lint_limits.check("docs/a.md", "It is <!--= " + "x" * 1000 + " -->5<!--/--> us.\n"), [])
        self.assertEqual(len(lint_limits.check("docs/a.md", "<!-- " + "x" * 1000 + " -->" + "y" * 341 + "\n")), 1)

    def test_a_file_without_its_licence_is_refused(self):
        self.assertEqual(lint_limits.check("a.py", f"#!/usr/bin/env python3\n# {lint_limits.SPDX}\nimport sys\n"), [])
        self.assertEqual(lint_limits.check("a.h", "#pragma once\n"), ["a.h: no SPDX-License-Identifier: Apache-2.0 in its first three lines"])

    def test_a_module_checks_its_parameters(self):
        module = self.LICENCE + "module a #(parameter int unsigned N = 2) (); {} endmodule\n"
        self.assertEqual(lint_limits.check("rtl/a.sv", module.format("")), ["rtl/a.sv: its parameters are not checked"])
        self.assertEqual(lint_limits.check("rtl/a.sv", module.format('if (N < 1) $error("a: N");')), [])
        self.assertEqual(lint_limits.check("rtl/formal/a.sv", module.format("")), [])


if __name__ == "__main__":
    unittest.main()
