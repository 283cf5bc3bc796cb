#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each fault that check_pages.py is there for, on a page that has just this fault; and a page without one."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_pages  # noqa: E402

GOOD = """# A title

One short sentence, with [a link](#a-title) and `rtl/foo.sv`. Version 1.5 ends no sentence, nor does e.g. this.

| a | b \\| c |
|---|---|
| 1 | 2 |

```sh
a command of a page may be as long as it likes and needs no dot at its end because nobody reads it as a sentence at all, do they
```
"""


class CheckPages(unittest.TestCase):
    KNOWN = {"cta", "quota"}, {"BLK", "CHURN"}

    def faults(self, text, page="docs/page.md"):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name in (page, "rtl/foo.sv"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text if name == page else "")
            return [what for _, what in check_pages.faults(root, page, self.KNOWN)]

    def only(self, text, expected, page="docs/page.md"):
        found = self.faults(text, page)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_page_without_a_fault_passes(self):
        self.assertEqual(self.faults(GOOD), [])

    def test_a_dead_link_is_found(self):
        self.only(GOOD + "\nSee [this](nowhere.md).\n", "dead link: nowhere.md")

    def test_a_link_over_two_lines_is_found(self):
        self.only(GOOD + "\nSee [this\npage](nowhere.md).\n", "dead link: nowhere.md")

    def test_a_dead_anchor_is_found(self):
        self.only(GOOD + "\nSee [this](#no-such-title).\n", "no such anchor: #no-such-title")

    def test_a_path_that_is_not_there_is_found(self):
        self.only(GOOD + "\nIt is in `rtl/bar.sv`.\n", "no such path: rtl/bar.sv")

    def test_a_folder_that_is_not_there_is_found(self):
        self.only(GOOD + "\nIt is in `sw/nowhere/`.\n", "no such path: sw/nowhere/")

    def test_a_path_in_a_table_is_found(self):
        self.only(GOOD + "\n| file |\n|---|\n| `rtl/bar.sv` |\n", "no such path: rtl/bar.sv")

    def test_a_marker_with_a_bar_is_no_cell(self):
        self.assertEqual(self.faults(GOOD + "\n| a | b |\n|---|---|\n| <!--= x | y -->1<!--/--> | 2 |\n"), [])

    def test_a_row_with_a_cell_too_few_is_found(self):
        self.only(GOOD + "\n| a | b |\n|---|---|\n| 1 |\n", "row of 1 cells in a table of 2")

    def test_an_open_fence_is_found(self):
        self.only(GOOD + "\n```text\nno end\n", "fence is not closed")

    def test_commit_ids_are_found(self):
        self.only(GOOD + "\nAs of commit af613c8.\n", "a commit id")
        self.only(GOOD + "\nAs of `af613c8`.\n", "a commit id")

    def test_an_open_question_is_found(self):
        self.only(GOOD + "\nWhy was not looked into.\n", "an open question")

    def test_an_acronym_that_the_glossary_lacks_is_found(self):
        self.only(GOOD + "\nThe XQZs wait.\n", "neither in docs/glossary.md nor everyday: XQZ")
        self.only(GOOD + "\nThe XQZs wait.\n", "everyday: XQZ", page="results/x/README.md")

    def test_a_house_term_that_the_glossary_lacks_is_found(self):
        self.only(GOOD + "\nThe counterweights stay.\n", "everyday: counterweight")

    def test_terms_of_the_glossary_names_and_code_pass(self):
        self.assertEqual(self.faults(GOOD + "\nTwo CTAs of BLK under a quota, on the GPU, section IV, `XQZ`, CHURN.\n\n| XQZ | b |\n|---|---|\n"), [])

    def test_terms_and_names_are_read_from_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in (("docs/glossary.md", "### L1, L2\n\nCaches.\n"), ("configs/workloads/w.toml", 'name = "BLK"\n')):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual(check_pages.known_terms(root), ({"l1", "l2"}, {"BLK"}))

    def test_a_folder_without_readme_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "sw/core").mkdir(parents=True)
            (root / "sw/README.md").write_text("# sw/\n")
            files = ["sw/README.md", "sw/core/a.h", "sw/core/b.h", "sw/lone/a.h", "sw/core/deep/a.h", "sw/core/deep/b.h", ".ci/run", ".ci/b", "LICENSE"]
            self.assertEqual(check_pages.folders_without_readme(root, files), ["sw/core"])

    def test_a_page_that_the_index_lacks_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "docs/user").mkdir(parents=True)
            for name, text in (("README.md", "[a](user/a.md#title)\n"), ("user/a.md", GOOD), ("user/b.md", GOOD), ("user/README.md", "# user/\n\nPages.\n")):
                (root / "docs" / name).write_text(text)
            files = ["README.md", "docs/README.md", "docs/user/README.md", "docs/user/a.md", "docs/user/b.md"]
            self.assertEqual(check_pages.pages_not_in_index(root, files), ["docs/user/b.md"])

    def test_a_command_that_the_page_lacks_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in (("docs/user/commands.md", "`sluice sim --fst F` runs.\n"),
                               ("cli/a.cpp", 'add_subcommand("sim", "A mix");\nadd_subcommand(\n  "run", "A program");\nadd_subcommand("client", "");')):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual(check_pages.commands_not_told(root), ["run"])


if __name__ == "__main__":
    unittest.main()
