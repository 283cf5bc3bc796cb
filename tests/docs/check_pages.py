#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every tracked Markdown page: links, anchors, fences, tables, paths; of README.md and docs/ that they name no commit.

usage: tests/docs/check_pages.py [--root FOLDER] [PAGE ...]    one line a fault, exit code 1 if there is one

A path in backticks that begins with a folder of the tree and ends in a file name or / must exist.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = "cli cmake configs data docs fuzz results rtl study sw synth systemc tb tests".split()
PATH = re.compile(r"`((?:%s)/[\w./-]*?(?:\.\w+|/))`" % "|".join(FOLDERS))
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")
FORBIDDEN = [(re.compile(r"`[0-9a-f]{7,40}`|\bcommit `?[0-9a-f]{7,40}\b", re.I), "a commit id"),
             (re.compile(r"was not looked into", re.I), "an open question")]
COMMENT = re.compile(r"<!--.*?-->")


def blocks(text):
    """Yields (line number, kind, lines): code, table, heading or prose; a list entry is prose of its own."""
    kind, start, held, fence = None, 0, [], False
    for number, line in enumerate(text.splitlines() + [""], 1):
        stripped, fenced = line.strip(), line.lstrip().startswith("```")
        if fence or fenced:
            new, fence = "code", fence != fenced
        elif not stripped:
            new = None
        elif line.startswith("    ") and kind in (None, "code"):
            new = "code"
        elif stripped.startswith("|"):
            new = "table"
        elif stripped.startswith("#"):
            new = "heading"
        else:
            new = "prose"
        entry = new == "prose" and re.match(r"\s*([-*]|\d+\.)\s", line)
        if held and (new != kind or entry or new == "heading"):
            yield start, kind, held
            held = []
        if new:
            start, held = start if held else number, held + [line]
        kind = new
    if fence:
        yield start, "open fence", held


def anchors(text):
    """The names that GitHub gives to headings, and those set by hand."""
    found, taken = set(re.findall(r'<a (?:id|name)="([^"]+)"', text)), {}
    for _, kind, lines in blocks(text):
        if kind == "heading":
            title = LINK.sub(r"\1", lines[0].strip().lstrip("#").strip()).lower()
            slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            taken[slug] = taken.get(slug, -1) + 1
            found.add(slug if not taken[slug] else f"{slug}-{taken[slug]}")
    return found


def faults(root, page):
    text = (root / page).read_text()
    house = page == "README.md" or page.startswith("docs/")
    for number, kind, lines in blocks(text):
        body = "\n".join(lines)
        if kind == "open fence":
            yield number, "a code fence is not closed"
        if kind == "table":
            cells = [len(re.findall(r"(?<!\\)\|", COMMENT.sub("", line).strip().strip("|"))) + 1 for line in lines]
            for row, count in enumerate(cells):
                if count != cells[0]:
                    yield number + row, f"row of {count} cells in a table of {cells[0]}"
        if kind == "code":
            continue
        for path in PATH.findall(body):
            if ".." not in path and not (root / path).exists():
                yield number, f"no such path: {path}"
        for _, target in LINK.findall(re.sub(r"`[^`]*`", "", body)):
            name, _, anchor = target.partition("#")
            if "://" in name or name.startswith("mailto:"):
                continue
            there = (root / page).parent / name if name else root / page
            if not there.exists():
                yield number, f"dead link: {target}"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text()):
                yield number, f"no such anchor: {target}"
        for pattern, what in FORBIDDEN if house else ():
            if pattern.search(body):
                yield number, what


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("pages", nargs="*", help="default: all that git tracks")
    options = parser.parse_args()
    pages = options.pages or subprocess.check_output(["git", "ls-files", "*.md"], cwd=options.root, text=True).split()
    found = [f"{page}:{number}: {what}" for page in pages for number, what in faults(options.root, page)]
    print("\n".join(found + [f"{len(pages)} pages, {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
