#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.limits: no file and no line is longer than LIMITS says, every source file names its licence in its first three lines, and every module of
the unit that has parameters checks them.

Generated files have theirs from rtl/csr/generate.py."""
import pathlib
import re
import subprocess
import sys

# Path (the first that matches): most lines of a file, most characters of a line; clang-format keeps the lines of .h and .cpp.
LIMITS = [(r"rtl/.*\.sh", 60, 120), (r"rtl/.*", 400, 120), (r".*\.sv", 300, 180),
          (r"(tb|systemc/unit)/.*\.(h|cpp)", 400, 220), (r".*\.(h|cpp)", 500, 220),
          (r".*\.(cuh?|ptx)", 400, 150), (r".*\.v", 300, 150),
          (r".*\.py", 260, 180), (r".*\.sh", 60, 180), (r".*(CMakeLists\.txt|\.cmake)", 80, 180), (r".*\.toml", 500, 180),
          (r".*\.md", 400, 340)]  # .md: a paragraph may be one line; rows of tables are not counted, nor are comments
MARKER = re.compile(r"<!--.*?-->")
SPDX = "SPDX-License-Identifier: Apache-2.0"
UNIT = re.compile(r"rtl/(?!formal/|example/|package/).*\.sv")
LICENSED = re.compile(r".*(\.(h|cpp|cu|cuh|ptx|sv|v|py|sh|cmake)|CMakeLists\.txt)|(?!results/).*\.toml")


def check(path, text):
    """What is wrong with one file."""
    wrong, lines = [], text.splitlines()
    most_lines, most = next(((a, b) for pattern, a, b in LIMITS if re.fullmatch(pattern, path)), (None, None))
    if most_lines is not None:
        wrong += [f"{path}: {len(lines)} lines: at most {most_lines}"] * (len(lines) > most_lines)
        wrong += [f"{path}:{n}: {len(line)} characters: at most {most}" for n, line in enumerate(lines, 1)
                  if len(MARKER.sub("", line) if path.endswith(".md") else line) > most and not (path.endswith(".md") and line.startswith("|"))]
    if LICENSED.fullmatch(path) and not any(SPDX in line for line in lines[:3]):
        wrong.append(f"{path}: no {SPDX} in its first three lines")
    if UNIT.fullmatch(path) and "parameter int" in text and "$error(" not in text:
        wrong.append(f"{path}: its parameters are not checked")
    return wrong


def main():
    tracked = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0")
    files = {p: pathlib.Path(p).read_text() for p in tracked
             if pathlib.Path(p).is_file() and (LICENSED.fullmatch(p) or any(re.fullmatch(pattern, p) for pattern, _, _ in LIMITS))}
    sys.exit("\n".join(sum((check(path, text) for path, text in files.items()), [])) or 0)


if __name__ == "__main__":
    main()
