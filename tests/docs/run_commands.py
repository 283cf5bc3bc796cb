#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the pages show: those of docs/tour.md in order, then those of docs/user/*.md.

usage: tests/docs/run_commands.py [--list] [PAGE ...]    exit code 1 at the first command that fails, 77 without SLUICE_FULL

A command is a line of a ```sh block, joined with the lines that it goes on in; every page may assume what docs/tour.md left behind.
Blocks marked ```text are not run: they take long, need a GPU, or show a form with placeholders. Lines that start with gtkwave or
say `# opens a window` are passed over. Commands run in the repository's root with build/release/bin on the PATH; what they
write goes to build/tour, which is emptied first.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


def commands(text):
    """Yields (line number, command) of the ```sh blocks of a page."""
    inside, held, start = False, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line.strip() == "```sh"
        elif inside and line.strip():
            start = start if held else number
            held += line
            if held.endswith("\\"):
                held = held[:-1]
                continue
            if not held.startswith("gtkwave") and "# opens a window" not in held:
                yield start, re.sub(r"\s+", " ", held)
            held = ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the commands instead")
    parser.add_argument("pages", nargs="*", type=Path)
    options = parser.parse_args()
    pages = options.pages or [ROOT / "docs/tour.md", *sorted((ROOT / "docs/user").glob("*.md"))]
    shown = [(f"{page.resolve().relative_to(ROOT)}:{number}", command) for page in pages for number, command in commands(page.read_text())]
    if options.list:
        print("\n".join(f"{where}: {command}" for where, command in shown))
        return 0
    if not os.environ.get("SLUICE_FULL"):
        print("long: runs with SLUICE_FULL=1")
        return SKIPPED
    shutil.rmtree(ROOT / "build/tour", ignore_errors=True)
    (ROOT / "build/tour").mkdir(parents=True)
    environment = os.environ | {"PATH": f"{ROOT}/build/release/bin:{os.environ['PATH']}"}
    for where, command in shown:
        begin = time.monotonic()
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, env=environment, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(f"{where}: {command}  [{time.monotonic() - begin:.1f} s]", flush=True)
        if run.returncode != 0:
            print(f"exit code {run.returncode}:\n{run.stdout}")
            return 1
    print(f"{len(shown)} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
