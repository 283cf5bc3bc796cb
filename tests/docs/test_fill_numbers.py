#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fill_numbers.py finds a digit that was changed in a page or in its data, and a number that stands between no markers."""
import json
import lzma
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
import fill_numbers  # noqa: E402

PAGE = """<!--data d=data.json rows=lines.jsonl.xz t=t.csv-->
<!--let us = lambda: [r.us for r in rows]-->
The gain is <!--= gain(d.stp) -->+26.7 %<!--/-->, the mean <!--= mean(us()); .2f -->2.50<!--/--> us, in `1.5` and 16 SMs.
<!--= table(["pair", "IPC"], [[r.pair, format(r.ipc, ".1f")] for r in t if r.ipc > 1]) -->
| pair | IPC |
| --- | --- |
| A_B | 3.5 |
<!--/-->
The paper says <!--cite Warped-Slicer, figure 6-->23 %<!--/-->.
"""


class FillNumbers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = fill_numbers.ROOT = Path(self.folder.name)
        fill_numbers.load.cache_clear()
        self.data(1.267)
        with lzma.open(self.root / "lines.jsonl.xz", "wt") as out:
            out.write('{"us": 2}\n{"us": 3}\n')
        (self.root / "t.csv").write_text("# made by hand\npair,ipc\nA_B,3.5\nC_D,0.5\n")

    def tearDown(self):
        self.folder.cleanup()

    def data(self, stp):
        (self.root / "data.json").write_text(json.dumps({"stp": stp}))
        fill_numbers.load.cache_clear()

    def faults(self, text):
        found = []
        fill_numbers.filled("page.md", text, found)
        return found + fill_numbers.unmarked("page.md", text)

    def test_a_page_as_the_data_has_it_passes(self):
        self.assertEqual(self.faults(PAGE), [])

    def test_each_fault_is_found_and_no_other(self):
        for old, new, expected in (("+26.7 %", "+26.8 %", "page.md:3: '+26.8 %': the data says '+26.7 %'"),
                                   ("| A_B | 3.5 |", "| A_B | 3.6 |", "the data says"),
                                   ("The paper", "It is 12.5 us. The paper", "12.5: stands between no markers"),
                                   ("The paper", "It is 12 %. The paper", "12 %: stands between no markers"),
                                   ("Warped-Slicer, figure 6", " ", "without its source"),
                                   ("d.stp", "d.anttt", "there is no field 'anttt', but stp")):
            found = self.faults(PAGE.replace(old, new))
            self.assertEqual(len(found), 1, found)
            self.assertIn(expected, found[0])

    def test_a_digit_changed_in_the_data_is_found(self):
        self.data(1.277)
        self.assertIn("the data says '+27.7 %'", self.faults(PAGE)[0])

    def test_update_writes_what_the_data_says(self):
        self.data(1.277)
        self.assertIn("-->+27.7 %<!--/-->", fill_numbers.filled("page.md", PAGE, []))


if __name__ == "__main__":
    unittest.main()
