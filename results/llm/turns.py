#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recordings of attention in configs/workloads/llm with the turns that the recorder lost put back, on the model. turns.py SLUICE: turns.json

Each loop that copies a page makes eight turns of two copies, 2,048 bytes on from turn to turn; three are recorded, with addresses of the copies in
three instructions that are never executed. A recording of today's recorder makes this needless.
"""
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONFIGS = HERE.parent.parent / "configs"
TURNS, STEP, RECORDED = 8, 2048, 3
NEVER, COPIES = 3, 2  # of a turn's end, before its branch


def pc(line):
    return int(line[:4], 16)


def mended(warp):
    """The instructions of one warp."""
    out, i = [], 0
    while i < len(warp):
        end = i + NEVER + COPIES  # the branch
        if not (warp[i].split()[3] == "LDS" and end < len(warp) and all("LDGSTS" in line for line in warp[i + NEVER:end])):
            out.append(warp[i])
            i += 1
            continue
        begin = (pc(warp[end]) - pc(warp[end + 1])) // 16 + 1 - (end + 1 - i)  # instructions of a turn before those of its end
        length = begin + end + 1 - i
        assert [pc(warp[end + n * length]) for n in range(RECORDED)] == [pc(warp[end])] * RECORDED
        first, others = out[-begin:], warp[end + 1:end + 1 + begin]
        out = out[:-begin]
        copies = [re.search("0x[0-9a-f]+", line)[0] for line in (warp[i], warp[end - 1])]  # the first addresses of each copy
        for turn in range(TURNS):
            out += (others if turn else first) + [f"{line[:4]} 00000000 0 LDS 0 0 0" for line in warp[i:i + NEVER]]
            out += [re.sub("0x[0-9a-f]+", hex(int(a, 16) + turn * STEP), line) for a, line in zip(copies, warp[i + NEVER:end])] + [warp[end]]
        i = end + 1 + (RECORDED - 1) * length
    return out


def mend(recording, out):
    warp = []
    with lzma.open(recording, "rt") as lines, open(out, "w") as file:
        for line in lines:
            if re.match("[0-9a-f]{4} ", line):
                warp.append(line.rstrip("\n"))
            elif not line.startswith("insts ="):
                if warp:
                    warp = mended(warp)
                    file.write(f"insts = {len(warp)}\n" + "\n".join(warp) + "\n")
                warp = []
                file.write(line)


def main(sluice):
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for program in ("decode", "prefill"):
            mend(CONFIGS / f"workloads/llm/{program}_attention.traceg.xz", f"{folder}/{program}.traceg")
            pathlib.Path(f"{folder}/{program}.g").write_text(f"{program}.traceg\n")
            ran = json.loads(subprocess.run([sluice, "trace", f"{folder}/{program}.g", "--machine", CONFIGS / "machines/h200_sm90.toml", "--json"],
                                            check=True, stdout=subprocess.PIPE, text=True).stdout)["kernels"][0]
            rows[program] = {"cycles": ran["finish_cycle"] - ran["begin_cycle"], "warp_instructions": ran["warp_instructions"], "dram_bytes": ran["dram_bytes"]}
    (HERE / "turns.json").write_text(json.dumps(rows, indent=1) + "\n")


main(sys.argv[1])
