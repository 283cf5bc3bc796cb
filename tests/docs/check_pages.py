#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every tracked Markdown page: links, anchors, fences, tables, paths; of README.md and docs/ that they name no commit; of
README.md, docs/ and results/ that each acronym and house term in their prose is in the glossary. Every folder has a README.md, the
index every page, and the page of commands every command.

usage: tests/docs/check_pages.py [--root FOLDER] [PAGE ...]    one line a fault, exit code 1 if there is one

A path in backticks that begins with a folder of the tree and ends in a file name or / must exist.
"""
import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

FOLDERS = "cli cmake configs data docs fuzz results rtl study sw synth systemc tb tests".split()
PATH = re.compile(r"`((?:%s)/[\w./-]*?(?:\.\w+|/))`" % "|".join(FOLDERS))
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")
FORBIDDEN = [(re.compile(r"`[0-9a-f]{7,40}`|\bcommit `?[0-9a-f]{7,40}\b", re.I), "a commit id"),
             (re.compile(r"was not looked into", re.I), "an open question")]
COMMENT = re.compile(r"<!--.*?-->")
CODE = re.compile(r"<!--.*?-->|`[^`]*`|\]\([^)]*\)|https?://\S+", re.S)
ACRONYM = re.compile(r"(?<![\w.])[A-Z]{2}[A-Z0-9]*(?=s?\b)(?!_)")
ROMAN = re.compile(r"[IVX]+")
EVERYDAY = set("""
    AMD AND API ARM ASCII AXI CPU CSV CUDA DRAM DMA ECC FIFO GB GDDR5 GMEAN GPGPU GPU GTX HBM HBM2 HBM3 HTML HTTP ID IEEE IP ISCA JEDEC JSON KB MB MD5 NAND NCCL
    NOT NVIDIA OK OR OSU PC PDF POSIX RAM README RFC RISC ROM SHA SQL SVG TB TOML TPDS URL UTC XML XOR YAML
    """.split())
HOUSE = re.compile(r"\b(block-task|ceiling|churn|claim|co-run|control bit|core cycle|counterweight|dprr|drain|evict|fake executor|flavour|gate|golden model|interposer|"
                   r"kernel slot|lockstep|loss guard|makespan|mutant|netlist|occupancy|patience|persistent CTA|phase monitor|piv|quota|region|SM range|speed-up|star hull|sub-core|"
                   r"twin|virtual SM|warm-up|warps apart|water-filling|solo curve)s?\b", re.I)
# Where names in capitals come from that are no words: registers and parameters of the unit, kernels.
NAMES = ["rtl/sluice_pkg.sv", "rtl/sluice_top.sv", "rtl/csr/sluice_regs.toml", "rtl/csr/sluice_slot_regs.toml", "results/model_vs_h200/launches.tsv", "configs/workloads/*.toml"]


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


def known_terms(root):
    """Glossary entries in lower case, and the names of registers, parameters and kernels."""
    glossary = root / "docs/glossary.md"
    headings = re.findall(r"^### (.*)$", glossary.read_text(), re.M) if glossary.exists() else []
    names = set()
    for file in (f for pattern in NAMES for f in root.glob(pattern)):
        names.update(re.findall(r"\b[A-Z][A-Z0-9_]+\b", file.read_text()))
    return {part.strip().lower() for heading in headings for part in heading.split(",")}, names


def unknown_terms(body, known):
    """Acronyms and house terms of a prose block that no glossary entry explains."""
    entries, names = known
    words = CODE.sub(" ", body)
    for term in ACRONYM.findall(words):
        if term not in EVERYDAY | names and not ROMAN.fullmatch(term) and term.lower() not in entries:
            yield term
    for term in HOUSE.findall(words):
        if term not in names and not {term.lower(), term.lower() + "s"} & entries:
            yield term


def folders_without_readme(root, files):
    """Folders of at least two tracked files, down to two levels, in which no README.md says what they are for."""
    count = Counter("/".join(file.split("/")[:depth]) for file in files if not file.startswith(".") for depth in (1, 2) if file.count("/") >= depth)
    return sorted(folder for folder, files_there in count.items() if files_there > 1 and not (root / folder / "README.md").exists())


def pages_not_in_index(root, files):
    """Pages of docs/ and results/ to which docs/README.md has no link; not those that only name a folder's purpose."""
    index = root / "docs/README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for _, target in LINK.findall(index.read_text())} if index.exists() else set()
    return [file for file in files if file.startswith(("docs/", "results/")) and file.endswith(".md") and (root / file).resolve() not in linked | {index.resolve()}
            and len((root / file).read_text().splitlines()) > 3]


def commands_not_told(root):
    """Commands of cli/ that docs/user/commands.md does not name; not those without a description, which others start."""
    page = root / "docs/user/commands.md"
    told = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`sluice [^`]*`", page.read_text())))) if page.exists() else set()
    names = (m for file in sorted((root / "cli").glob("*.cpp")) for m in re.findall(r'add_subcommand\(\s*"([\w-]+)",\s*"[^"]', file.read_text()))
    return [name for name in names if name not in told]


def faults(root, page, known=None):
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
        for term in unknown_terms(body, known) if known and kind == "prose" and (house or page.startswith("results/")) else ():
            yield number, f"neither in docs/glossary.md nor everyday: {term}"
        for pattern, what in FORBIDDEN if house else ():
            if pattern.search(body):
                yield number, what


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("pages", nargs="*", help="default: all that git tracks")
    options = parser.parse_args()
    files = subprocess.check_output(["git", "ls-files"], cwd=options.root, text=True).splitlines()
    pages = options.pages or [file for file in files if file.endswith(".md")]
    known = known_terms(options.root)
    found = [f"{page}:{number}: {what}" for page in pages for number, what in faults(options.root, page, known)]
    if not options.pages:
        found += [f"{folder}: no README.md says what this folder is for" for folder in folders_without_readme(options.root, files)]
        found += [f"docs/user/commands.md: nothing about sluice ... {name}" for name in commands_not_told(options.root)]
        found += [f"{page}: docs/README.md has no link to it" for page in pages_not_in_index(options.root, files)]
    print("\n".join(found + [f"{len(pages)} pages, {len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
