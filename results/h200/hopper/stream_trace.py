#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loop of `dram_load`, `dram_store` or `dram_copy` (tests/gpu/sm90/memory.cu) as traces for the model, from the assembled program.

usage: stream_trace.py memory.cubin SLUICE MACHINE [SMS [FILTER]]     SMS: of the machine, 12 without it; FILTER: a part of a row's name
prints the rows of memory.jsonl beside the model's bytes a cycle: those of two numbers of turns, over the difference of their cycles.
An H200 has 132 SMs; the model's figure is scaled by that. The cubin: as loop_trace.py says."""
import json
import pathlib
import subprocess
import sys
import tempfile

import loop_trace

ROWS = pathlib.Path(__file__).parent / "memory.jsonl"
ACCESS = {"dram_load": 1, "dram_store": 2, "dram_copy": 3}  # kLoadCg, kStore, kCopy
BASE, LONG = 0x7F0000000000, 1 << 30
CLOCK, SMS = 1.98e9, 132


def loop(cubin, row):
    loop_trace.KERNEL = f"4passIL6Access{ACCESS[row['bandwidth']]}ELi{row['in_flight']}ELi{row['width']}E"
    loop_trace.OPCODES[0x86] = "STG"
    return loop_trace.loop(loop_trace.code(cubin), accesses=(0x981, 0x986), longest=1 << 20)


def write(cubin, row, sms, turns, out):
    """Returns the bytes that one way moves."""
    accesses, body = loop(cubin, row)
    unroll, width, stride = row["in_flight"], row["width"], row["lane_stride"]
    warps, copies = row["threads"] // 32, row["bandwidth"] == "dram_copy"
    turns_a_round = accesses // (unroll * (2 if copies else 1))
    rounds, chunk = turns // turns_a_round, stride * 32
    (out / "kernelslist.g").write_text("kernel-1.traceg\n")
    with (out / "kernel-1.traceg").open("w") as file:
        file.write(loop_trace.HEADER.replace("(1,1,1)", f"({sms},1,1)", 1).replace("(1024,1,1)", f"({row['threads']},1,1)"))
        for i, (_, high) in enumerate(body):
            file.write(f"-control {16 * i:04x} = {high >> 41 & 0x1FFFFF:06x}\n")
        form, _ = loop_trace.FORMAT.split("#BEGIN_TB")
        file.write(f"-control {16 * len(body):04x} = 0007f5\n" + form)
        for cta in range(sms):
            file.write(f"#BEGIN_TB\nthread block = {cta},0,0\n")
            for warp in range(warps):
                file.write(f"warp = {warp}\ninsts = {len(body) * rounds + 1}\n")
                done = {"LDG": 0, "STG": 0}
                for _ in range(rounds):
                    for i, (low, _) in enumerate(body):
                        what, to, source = loop_trace.name(low), low >> 16 & 0xFF, low >> 24 & 0xFF
                        if what in done:
                            turn, part = divmod(done[what], unroll)
                            at = ((cta * warps + warp + turn * sms * warps) * unroll + part) * chunk + (LONG if copies and what == "STG" else 0)
                            registers = f"1 R{to} LDG.E.{8 * width} 1 R{source}" if what == "LDG" else f"0 STG.E.{8 * width} 2 R{source} R{low >> 32 & 0xFF}"
                            file.write(f"{16 * i:04x} ffffffff {registers} {width} 1 0x{BASE + at:x} {stride} 0\n")
                            done[what] += 1
                        elif what in ("BRA", "ISETP"):
                            file.write(f"{16 * i:04x} ffffffff 0 {what} 0 0 0\n")
                        else:
                            file.write(f"{16 * i:04x} ffffffff 1 R{to} {what} 1 R{source} 0 0\n")
                file.write(f"{16 * len(body):04x} ffffffff 0 EXIT 0 0 0\n")
            file.write("#END_TB\n")
    return sms * warps * rounds * turns_a_round * unroll * 32 * width


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    cubin, sluice, machine = map(pathlib.Path, sys.argv[1:4])
    sms, only = int(sys.argv[4]) if len(sys.argv) > 4 else 12, sys.argv[5] if len(sys.argv) > 5 else ""
    print("| row | loads in flight | bytes a lane | warps an SM | H200 | model | of it |\n|---|---|---|---|---|---|---|")
    for row in map(json.loads, ROWS.read_text().splitlines()):
        if row.get("bandwidth") not in ACCESS or only not in row["bandwidth"] or row["lane_stride"] != row["width"] or row["ctas"] != 132 + 132 * (row["bandwidth"] != "dram_load"):
            continue
        # The longest CTA of two waves says nothing of the whole: the time does.
        there = row["gb_a_second"] * 1e9 / CLOCK if row["ctas"] > 132 else row["bytes_a_cycle"]
        short = 32 if row["threads"] > 256 else 64
        found = []
        for turns in (short, 2 * short):
            with tempfile.TemporaryDirectory() as folder:
                moved = write(cubin, row, sms, turns, pathlib.Path(folder))
                result = subprocess.run([sluice, "trace", f"{folder}/kernelslist.g", "--machine", machine, "--json"], check=True, capture_output=True)
                found.append((moved, json.loads(result.stdout)["cycles"]))
        ours = (found[1][0] - found[0][0]) / (found[1][1] - found[0][1]) * SMS / sms
        print(f"| `{row['bandwidth']}` | {row['in_flight']} | {row['width']} | {row['threads'] // 32} | {there:,.0f} | {ours:,.0f} | {ours / there:.2f} |", flush=True)


if __name__ == "__main__":
    main()
