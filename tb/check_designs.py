#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is each bench of tb/designs.toml whole? Files, blocks and tests that it names are there; and where a source of it includes a header of Sluice that
has an implementation, that is a source, too: else the bench does not link, which the next campaign would find.

  tb/check_designs.py         one line a fault, exit code 1 if there is one"""
import pathlib
import re
import sys

from bench_build import DESIGNS, ROOT, RTL, bench_sources

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
TYPES = {"systemc/unit/twin/sluice_csr.h", "systemc/unit/rtl/rtl_sluice_top.h"}   # of these only types are taken


def implementations():
    """{header: [sources]}: x.h is implemented by x.cpp and by x_*.cpp that include it first."""
    found = {}
    for path in (p for folder in ("sw", "systemc", "tb") for p in (ROOT / folder).rglob("*.cpp") if not p.stem.endswith("_tb")):
        first = INCLUDE.search(path.read_text())
        if first and path.stem.startswith(pathlib.Path(first[1]).stem):
            found.setdefault(first[1], []).append(path)
    return found


def missing(sources, implemented):
    """(source, header): what a source or its own header includes, and nobody implements."""
    for path in sources:
        headers = INCLUDE.findall(path.read_text())
        own = [h for h in headers if path.stem.startswith(pathlib.Path(h).stem) and (ROOT / h).exists()]
        for header in headers + [h for o in own for h in INCLUDE.findall((ROOT / o).read_text())]:
            if header not in TYPES and not set(implemented.get(header, [])) <= set(sources):
                yield path.relative_to(ROOT), header


def faults():
    implemented, modules = implementations(), {pathlib.Path(f).stem for f in RTL}
    for name, design in DESIGNS.items():
        sources = [pathlib.Path(f) for f in bench_sources(design, coverage=True)]
        tests = re.sub(r",\s*", ".", " ".join(re.findall(r"TEST(?:_[FP])?\((\w+,\s*\w+)", "".join(f.read_text() for f in sources))))
        yield from (f"{pattern}: no such file" for pattern in [*design["sources"], *design.get("also_sources", [])] if not any(ROOT.glob(pattern)))
        yield from (f"{name}: {block}: no such module" for block in [design["top"], *design.get("blocks", [])] if block not in modules)
        yield from (f"{name}: {test}: no such test" for test in design.get("filter", "").split(":") if test.rstrip("*") not in tests)
        yield from (f"{name}: {path} includes {header}, whose implementation is no source of it" for path, header in missing(sources, implemented))


if __name__ == "__main__":
    found = sorted(set(faults()))
    print("\n".join(found) or f"{len(DESIGNS)} designs")
    sys.exit(1 if found else 0)
