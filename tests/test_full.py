#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/full.py, in a small tree whose cmake and ctest keep books instead of doing anything."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

FULL = pathlib.Path(__file__).resolve().parent / "full.py"
TOOL = """#!/usr/bin/env python3
import os, pathlib, sys
root = pathlib.Path("ROOT")
words = " ".join(sys.argv[1:])
if "--print-labels" in words:
    print("All Labels:\\n  core\\n  " + os.environ.get("LABEL", "gpu"))
elif "-LE" in words:
    print("  Test  #7: bare" if "BARE" in os.environ else "")
else:
    with open(root / "build/books", "a") as books:
        books.write(f"{pathlib.Path(sys.argv[0]).name} {words} SLUICE_FULL={os.environ.get('SLUICE_FULL', '')} {os.environ.get('TSAN_OPTIONS', '')}\\n")
    if "--output-junit" in words:
        pathlib.Path(sys.argv[-1]).write_text('<testsuite tests="3" failures="0" disabled="0" skipped="1"/>')
    sys.exit(os.environ.get("FAILS", "no test") in words)
"""
TREE = ("sw/core/a.cpp", "docs/page.md", "docs/reference/how_sharing_works.md", "tests/core/a_test.cpp", "tests/gpu/a_test.cpp", "rtl/a.sv", "synth/run.sh", "tb/a_tb.cpp")


class Full(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for name in (*TREE, "tests/full.py", "bin/cmake", "bin/ctest"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text("a")
        shutil.copy(FULL, self.root / "tests/full.py")
        for tool in ("cmake", "ctest"):
            (self.root / "bin" / tool).write_text(TOOL.replace("ROOT", str(self.root)))
            (self.root / "bin" / tool).chmod(0o755)

    def full(self, *args, **env):
        """Exit code, what it printed, and what it ran."""
        (self.root / "build").mkdir(exist_ok=True)
        (self.root / "build/books").write_text("")
        env = dict(os.environ, PATH=f"{self.root}/bin:{self.root}/build:{os.path.dirname(sys.executable)}:/usr/bin:/bin", **env)
        result = subprocess.run([sys.executable, "tests/full.py", *args], cwd=self.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return result.returncode, result.stdout, (self.root / "build/books").read_text()

    def test_what_passed_is_passed_over_until_a_file_that_it_reads_changes(self):
        names = ("release.core", "release.gpu", "release.synth")
        code, said, ran = self.full(*names)
        self.assertEqual((code, ran.count("--output-junit")), (0, 3), said)
        self.assertIn("3 tests, 1 skipped", said)
        self.assertEqual(self.full(*names)[2], "")
        for changed, runs in (("docs/page.md", []), ("docs/reference/how_sharing_works.md", ["gpu"]), ("tests/gpu/a_test.cpp", ["gpu"]),
                              ("synth/run.sh", ["synth"]), ("tb/a_tb.cpp", []), ("sw/core/a.cpp", ["core", "gpu"]), ("rtl/a.sv", ["core", "gpu", "synth"])):
            (self.root / changed).write_text("b")
            ran = self.full(*names)[2]
            self.assertEqual([n for n in ("core", "gpu", "synth") if f"-L ^{n}$" in ran], runs, changed)

    def test_with_nvcc_there_is_more_to_test(self):
        self.full("release.core")
        shutil.copy(self.root / "bin/ctest", self.root / "build/nvcc")  # where no campaign looks for files
        self.assertIn("^core$", self.full("release.core")[2])

    def test_a_failure_stops_no_other_and_is_not_kept(self):
        code, said, ran = self.full("release.core", "release.gpu", FAILS="^core$")
        self.assertEqual(code, 1)
        self.assertIn("campaigns: 1 passed, 1 failed: release.core", said)
        self.assertIn("^gpu$", ran)
        self.assertIn("^core$", self.full("release.core", "release.gpu")[2])

    def test_a_build_that_fails_is_a_failure(self):
        self.assertEqual(self.full("asan.core", FAILS="--target test_core")[0], 1)

    def test_a_campaign_that_once_passed_and_now_fails_is_not_passed_over(self):
        self.full("release.core")
        (self.root / "sw/core/a.cpp").write_text("b")
        self.assertEqual(self.full("release.core", FAILS="^core$")[0], 1)
        (self.root / "sw/core/a.cpp").write_text("a")
        self.assertIn("^core$", self.full("release.core")[2])

    def test_no_test_is_without_a_campaign(self):
        for env, name in (({"LABEL": "newcomer"}, "newcomer"), ({"BARE": "1"}, "bare")):
            code, said, _ = self.full("release.core", **env)
            self.assertEqual(code, 1)
            self.assertIn(f"no campaign runs {name}", said)

    def test_a_campaign_must_find_tests_and_has_the_sanitizers_settings(self):
        ran = self.full("asan.core", "asan.service", "tsan.service")[2].splitlines()
        tests = [line for line in ran if line.startswith("ctest")]
        self.assertTrue(all("--no-tests=error" in line for line in tests), ran)
        self.assertEqual(["SLUICE_FULL=1" in line for line in tests], [False, True, True])
        self.assertIn("tsan.supp", tests[2])

    def test_list_runs_nothing_and_a_wrong_name_is_refused(self):
        code, said, ran = self.full("--list")
        self.assertEqual((code, ran), (0, ""))
        self.assertIn("tsan.interpose", said)
        code, said, _ = self.full("asan.lint")
        self.assertEqual(code, 2)
        self.assertIn("asan.lint: no such campaign", said)


if __name__ == "__main__":
    unittest.main()
