#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the page of the proofs have a row for every module with proofs, and name no property that is gone?

  rtl/formal/check_page.py [PAGE] [FOLDER]      one line a fault, exit code 1 if there is one"""
import pathlib
import re
import sys

FORMAL = pathlib.Path(__file__).resolve().parent


def faults(page, properties, modules):
    """page: text; properties: names. A name of the page is a property where its row says so: in the last column."""
    told = set(re.findall(r"`([a-z]\w+)`", " ".join(line.rstrip().rstrip("|").rsplit("|", 1)[-1]
                                                    for line in page.splitlines() if line.startswith("|"))))
    rows = {row[1] for row in re.finditer(r"^\| (\w+)", page, re.M)}
    yield from (f"{module}.sby: has no row in the page" for module in sorted(modules - rows))
    yield from (f"{name} is in the page and is no property" for name in sorted(told - properties))


def main():
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FORMAL.parents[1] / "docs/verification/formal.md"
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else FORMAL
    properties = {name for path in folder.glob("*_props.sv")
                  for name in re.findall(r"\b([a-z]\w*_\w+):\s+assert\b", path.read_text())}
    modules = {path.stem for path in folder.glob("*.sby")}
    found = list(faults(page.read_text(), properties, modules))
    print("\n".join(found) or f"{len(modules)} modules, {len(properties)} properties")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
