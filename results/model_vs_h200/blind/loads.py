#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads from DRAM by few warps: the loop of `dram_load` (tests/gpu/sm90/memory.cu) as a trace for the model, from the assembled program.

usage: nvcc -arch=sm_90 -O3 -cubin -o memory.cubin tests/gpu/sm90/memory.cu
       loads.py memory.cubin SLUICE OUT.json MACHINE.toml...
OUT.json gets rows of memory.jsonl.xz beside the model's bytes a cycle: those of two numbers of turns, over the difference of their cycles."""
import json
import lzma
import pathlib
import struct
import subprocess
import sys
import tempfile

ROWS = pathlib.Path(__file__).resolve().parents[2] / "h200/hopper/memory.jsonl.xz"
OPCODES = {0x10: "IADD3", 0x81: "LDG", 0x12: "LOP3", 0x0C: "ISETP", 0x47: "BRA", 0x24: "IMAD", 0x25: "IMAD.WIDE", 0x07: "SEL", 0x11: "LEA"}
BASE, SMS, IN_FLIGHT, THREADS = 0x7F0000000000, 132, 4, (32, 128, 256)
HEADER = """-kernel name = pass
-kernel id = 1
-grid dim = ({sms},1,1)
-block dim = ({threads},1,1)
-shmem = 0
-nregs = 40
-binary version = 90
-cuda stream id = 0
-shmem base_addr = 0x00007f4700000000
-local mem base_addr = 0x00007f4619000000
-nvbit version = none
-tracer = sluice gpu record
-recorded on = nothing: the loop of an assembled program
"""
FORMAT = """-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate
"""


def code(path, kernel):
    """Instructions of the kernel, as pairs of 64-bit words."""
    elf = path.read_bytes()
    at, number, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HH", elf, 0x3C)
    sections = [struct.unpack_from("<IIQQQQ", elf, at + 64 * i) for i in range(number)]
    for section in sections:
        begin = sections[names][4] + section[0]
        name = elf[begin:elf.index(b"\0", begin)].decode()
        if name.startswith(".text") and kernel in name:
            return list(struct.iter_unpack("<QQ", elf[section[4]:section[4] + section[5]]))
    sys.exit(f"{path}: no {kernel}")


def loop(instructions):
    """The loop with the most loads, and their number."""
    found = []
    for i, (low, high) in enumerate(instructions):
        offset = low >> 34 | (high & 0x3FFFF) << 30
        target = i + 1 + ((offset - (1 << 48) if offset >> 47 else offset) << 8 | low >> 16 & 0xFF) * 4 // 16
        if low & 0xFFF == 0x947 and 0 <= target < i:
            body = instructions[target:i + 1]
            found.append((sum(word & 0xFFF == 0x981 for word, _ in body), body))
    return max(found, key=lambda f: f[0])


def write(cubin, row, turns, out):
    """@return the bytes that are loaded"""
    loads, body = loop(code(cubin, f"4passIL6Access1ELi{row['in_flight']}ELi{row['width']}E"))
    unroll, width, warps = row["in_flight"], row["width"], row["threads"] // 32
    rounds = turns // (loads // unroll)
    (out / "kernelslist.g").write_text("kernel-1.traceg\n")
    with (out / "kernel-1.traceg").open("w") as file:
        file.write(HEADER.format(sms=SMS, threads=row["threads"]))
        file.writelines(f"-control {16 * i:04x} = {high >> 41 & 0x1FFFFF:06x}\n" for i, (_, high) in enumerate(body))
        file.write(f"-control {16 * len(body):04x} = 0007f5\n" + FORMAT)
        for cta in range(SMS):
            file.write(f"#BEGIN_TB\nthread block = {cta},0,0\n")
            for warp in range(warps):
                file.write(f"warp = {warp}\ninsts = {len(body) * rounds + 1}\n")
                done = 0
                for _ in range(rounds):
                    for i, (low, _) in enumerate(body):
                        what, to, source = OPCODES.get(low & 0xFF, "MOV"), low >> 16 & 0xFF, low >> 24 & 0xFF
                        if what == "LDG":
                            turn, part = divmod(done, unroll)
                            at = ((cta * warps + warp + turn * SMS * warps) * unroll + part) * width * 32
                            file.write(f"{16 * i:04x} ffffffff 1 R{to} LDG.E.{8 * width} 1 R{source} {width} 1 0x{BASE + at:x} {width} 0\n")
                            done += 1
                        else:
                            file.write(f"{16 * i:04x} ffffffff " + (f"0 {what} 0 0 0\n" if what in ("BRA", "ISETP") else f"1 R{to} {what} 1 R{source} 0 0\n"))
                file.write(f"{16 * len(body):04x} ffffffff 0 EXIT 0 0 0\n")
            file.write("#END_TB\n")
    return SMS * warps * rounds * loads * 32 * width


def main(cubin, sluice, out, *machines):
    rows = []
    for row in map(json.loads, lzma.open(ROWS, "rt")):
        wanted = {"bandwidth": "dram_load", "in_flight": IN_FLIGHT, "width": 16, "lane_stride": 16, "ctas": SMS}
        if any(row.get(key) != value for key, value in wanted.items()) or row["threads"] not in THREADS:
            continue
        rows.append({"warps": row["threads"] // 32, "h200": row["bytes_a_cycle"]})
        for machine in machines:
            found = []
            for turns in (32, 64):
                with tempfile.TemporaryDirectory() as folder:
                    moved = write(pathlib.Path(cubin), row, turns, pathlib.Path(folder))
                    said = subprocess.run([sluice, "trace", f"{folder}/kernelslist.g", "--machine", machine, "--json"], check=True, capture_output=True)
                    found.append((moved, json.loads(said.stdout)["cycles"]))
            rows[-1][pathlib.Path(machine).stem] = round((found[1][0] - found[0][0]) / (found[1][1] - found[0][1]), 1)
        pathlib.Path(out).write_text("[\n" + ",\n".join(" " + json.dumps(r) for r in rows) + "\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 4 else sys.exit(__doc__)
