"""Tests of the lint scripts: each of them refuses what it is there to refuse."""
import unittest

import lint_layers


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
        self.assertEqual(found, ["sw/io/a.h includes systemc: only systemc|tb|tests may", "sw/io/a.h includes cuda.h: only sw/gpu/cuda may"])

    def test_unknown_folder_and_missing_file_are_refused(self):
        found = lint_layers.check({"sw/attic/a.h": '#include "sw/core/gone.h"\n'})
        self.assertEqual(found, ["sw/attic/a.h: sw/attic has no row in LAYERS", "sw/attic/a.h includes sw/core/gone.h: not in the repository"])


if __name__ == "__main__":
    unittest.main()
