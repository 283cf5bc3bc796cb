#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shortens recordings whose CTAs differ by addresses alone. shorten.py IN.traceg.xz OUT.traceg.xz KX,KY,KZ

OUT keeps the first KX x KY x KZ CTAs of the grid and has a line `-step PC = X Y Z` for each access whose address goes on from one such block to the
next (docs/user/traces.md). Every CTA that was recorded is compared with what OUT says of it; one that differs is an error. 0 keeps all of a dimension.
"""
import itertools
import lzma
import re
import sys


def parts(line):
    """Of an instruction: what stands before its first address, the address, what stands behind it."""
    at = line.find(" 0x")
    if at < 0:
        return line, 0, ""
    end = line.find(" ", at + 1)
    return line[:at], int(line[at + 1:end], 16), line[end:]


def main(source, target, keep):
    with lzma.open(source, "rt") as file:
        head, _, body = file.read().partition("#BEGIN_TB")
    grid = [int(n) for n in re.search(r"-recorded grid = \((.*)\)", head)[1].split(",")]
    keep = [min(int(k) or g, g) for k, g in zip(keep.split(","), grid)]
    ctas = {}
    for number, text in enumerate(body.split("#BEGIN_TB")):
        at = (number % grid[0], number // grid[0] % grid[1], number // grid[0] // grid[1])
        ctas[at] = text.split("\n", 4)[4].split("#END_TB")[0].split("\n")
    steps = {}
    for d in range(3):
        first = tuple(keep[d] if e == d else 0 for e in range(3))
        if keep[d] == grid[d]:
            continue
        for a, b in zip(ctas[0, 0, 0], ctas[first]):
            difference = parts(b)[1] - parts(a)[1]
            if a != b and steps.setdefault((a[:4], d), difference) != difference:
                sys.exit(f"{source}: {a} and {b}: {difference} bytes apart, others {steps[a[:4], d]}")
    wrong = [n for n in steps.values() if n % 128]
    if wrong:
        sys.exit(f"{source}: steps must be multiples of 128 bytes: {wrong[0]}")
    for at, lines in ctas.items():
        like = ctas[tuple(a % k for a, k in zip(at, keep))]
        blocks = [a // k for a, k in zip(at, keep)]
        if len(lines) != len(like):
            sys.exit(f"{source}: CTA {at} has other instructions")
        for a, b in zip(like, lines):
            if a == b and not any((a[:4], d) in steps and blocks[d] for d in range(3)):
                continue
            (before, address, behind), other = parts(a), parts(b)
            moved = address + sum(steps.get((a[:4], d), 0) * blocks[d] for d in range(3)) if behind else 0
            if (before, moved, behind) != other:
                sys.exit(f"{source}: CTA {at}: {b}, not {a} moved")
    head = re.sub(r"-grid dim = .*", f"-grid dim = ({keep[0]},{keep[1]},{keep[2]})", head)
    lines = [f"-step {pc} = " + " ".join(str(steps.get((pc, d), 0)) for d in range(3)) for pc in sorted({pc for pc, _ in steps})]
    head = head.replace("\n\n#traces", "".join("\n" + line for line in lines) + "\n\n#traces", 1)
    with lzma.open(target, "wt", preset=6) as file:
        file.write(head)
        for z, y, x in itertools.product(*(range(k) for k in reversed(keep))):
            file.write(f"#BEGIN_TB\n\nthread block = {x},{y},{z}\n\n" + "\n".join(ctas[x, y, z]) + "#END_TB\n\n")
    print(f"{target}: {len(ctas)} CTAs recorded of {grid}, {keep} kept, {len(lines)} steps")


if __name__ == "__main__":
    main(*sys.argv[1:])
