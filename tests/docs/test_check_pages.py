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

    def tree(self, files):
        root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    def faults(self, text, page="docs/page.md"):
        return [what for _, what in check_pages.faults(self.tree({page: text, "rtl/foo.sv": ""}), page, self.KNOWN)]

    def test_each_fault_is_found_and_no_other(self):
        for text, expected in (("See [this](nowhere.md).", "dead link: nowhere.md"),
                               ("See [this\npage](nowhere.md).", "dead link: nowhere.md"),
                               ("See [this](#no-such-title).", "no such anchor: #no-such-title"),
                               ("It is in `rtl/bar.sv`.", "no such path: rtl/bar.sv"),
                               ("It is in `sw/nowhere/`.", "no such path: sw/nowhere/"),
                               ("| file |\n|---|\n| `rtl/bar.sv` |", "no such path: rtl/bar.sv"),
                               ("| a | b |\n|---|---|\n| 1 |", "row of 1 cells in a table of 2"),
                               ("```text\nno end", "fence is not closed"),
                               ("As of commit af613c8.", "a commit id"), ("As of `af613c8`.", "a commit id"),
                               ("Why was not looked into.", "an open question"),
                               ("The XQZs wait.", "neither in docs/glossary.md nor everyday: XQZ"),
                               ("The counterweights stay.", "everyday: counterweight")):
            with self.subTest(text):
                found = self.faults(f"{GOOD}\n{text}\n")
                self.assertEqual(len(found), 1, found)
                self.assertIn(expected, found[0])
        self.assertIn("everyday: XQZ", self.faults(GOOD + "\nThe XQZs wait.\n", page="results/x/README.md")[0])

    def test_a_page_without_a_fault_passes(self):
        for text in ("", "\n| a | b |\n|---|---|\n| <!--= x | y -->1<!--/--> | 2 |\n",
                     "\nTwo CTAs of BLK under a quota, on the GPU, section IV, `XQZ`, CHURN.\n\n| XQZ | b |\n|---|---|\n"):
            self.assertEqual(self.faults(GOOD + text), [])

    def test_terms_and_names_are_read_from_the_tree(self):
        root = self.tree({"docs/glossary.md": "### L1, L2\n\nCaches.\n", "configs/workloads/w.toml": 'name = "BLK"\n'})
        self.assertEqual(check_pages.known_terms(root), ({"l1", "l2"}, {"BLK"}))

    def test_a_folder_without_readme_is_found(self):
        files = ["sw/README.md", "sw/core/a.h", "sw/core/b.h", "sw/lone/a.h", "sw/core/deep/a.h", "sw/core/deep/b.h", ".ci/run", ".ci/b", "LICENSE"]
        self.assertEqual(check_pages.folders_without_readme(self.tree({"sw/README.md": "# sw/\n", "sw/core/a.h": ""}), files), ["sw/core"])

    def test_a_page_that_the_index_lacks_is_found(self):
        root = self.tree({"docs/README.md": "[a](user/a.md#title)\n", "docs/user/a.md": GOOD, "docs/user/b.md": GOOD, "docs/user/README.md": "# user/\n\nPages.\n"})
        files = ["README.md", "docs/README.md", "docs/user/README.md", "docs/user/a.md", "docs/user/b.md"]
        self.assertEqual(check_pages.pages_not_in_index(root, files), ["docs/user/b.md"])

    def test_a_command_that_the_page_lacks_is_found(self):
        root = self.tree({"docs/user/commands.md": "`sluice sim --fst F` runs.\n",
                          "cli/a.cpp": 'add_subcommand("sim", "A mix");\nadd_subcommand(\n  "run", "A program");\nadd_subcommand("client", "");'})
        self.assertEqual(check_pages.commands_not_told(root), ["run"])


if __name__ == "__main__":
    unittest.main()
