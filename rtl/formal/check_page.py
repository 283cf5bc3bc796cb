#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the page of the proofs name every property, and none that is gone?

  rtl/formal/check_page.py [PAGE] [FOLDER]      one line a fault, exit code 1 if there is one"""
import pathlib
import re
import sys

FORMAL = pathlib.Path(__file__).resolve().parent


def faults(page, properties):
    """page: text; properties: {name: file}. A name of the page is a property where its row says so: in the last column."""
    told = set(re.findall(r"`([a-z]\w+)`", " ".join(line.rstrip().rstrip("|").rsplit("|", 1)[-1] for line in page.splitlines() if line.startswith("|"))))
    yield from (f"{file}: {name} is not in the page" for name, file in sorted(properties.items()) if name not in told)
    yield from (f"{name} is in the page and is no property" for name in sorted(told - properties.keys()))


def main():
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FORMAL.parents[1] / "docs/verification/formal.md"
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else FORMAL
    properties = {name: path.name for path in sorted(folder.glob("*_props.sv")) for name in re.findall(r"\b([a-z]\w*_\w+):\s+assert\b", path.read_text())}
    found = list(faults(page.read_text(), properties))
    print("\n".join(found) or f"{len(properties)} properties")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
