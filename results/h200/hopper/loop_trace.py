#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loop of `l1_one_sm` (tests/gpu/sm90/memory.cu, words of 4 bytes) as a trace for the model, from the assembled program.

usage: nvcc -gencode arch=compute_90a,code=sm_90a -O3 -cubin -o memory.cubin tests/gpu/sm90/memory.cu
       loop_trace.py memory.cubin STRIDE ROUNDS OUT && sluice trace OUT/kernelslist.g --machine configs/machines/h200_sm90.toml
Loads a cycle: the loads of two numbers of rounds, over the difference of their cycles. --count prints the loop's instructions instead."""
import collections
import pathlib
import struct
import sys

KERNEL = "4passIL6Access0ELi8ELi4E"  # pass<kLoadCa, 8, 4>
WARPS, IN_FLIGHT, BYTES = 32, 8, 64 << 10
OPCODES = {0x10: "IADD3", 0x81: "LDG", 0x12: "LOP3", 0x0C: "ISETP", 0x47: "BRA", 0x24: "IMAD", 0x25: "IMAD.WIDE", 0x07: "SEL", 0x11: "LEA"}
HEADER = """-kernel name = pass
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (1024,1,1)
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
#BEGIN_TB
thread block = 0,0,0
"""


def code(path):
    """Instructions of the kernel, as pairs of 64-bit words."""
    elf = path.read_bytes()
    at, number, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HH", elf, 0x3C)
    sections = [struct.unpack_from("<IIQQQQ", elf, at + 64 * i) for i in range(number)]
    for section in sections:
        begin = sections[names][4] + section[0]
        name = elf[begin : elf.index(b"\0", begin)].decode()
        if name.startswith(".text") and KERNEL in name:
            return list(struct.iter_unpack("<QQ", elf[section[4] : section[4] + section[5]]))
    sys.exit(f"{path}: no {KERNEL}")


def loop(instructions, accesses=(0x981,), longest=199):
    """How many accesses the loop has that has the most, and its instructions: from the target of a branch back up to the branch."""
    found = []
    for i, (low, high) in enumerate(instructions):
        offset = low >> 34 | (high & 0x3FFFF) << 30
        target = i + 1 + ((offset - (1 << 48) if offset >> 47 else offset) << 8 | low >> 16 & 0xFF) * 4 // 16
        if low & 0xFFF == 0x947 and 0 <= target < i <= target + longest - 1:
            body = instructions[target : i + 1]
            found.append((sum(word & 0xFFF in accesses for word, _ in body), body))
    return max(found, key=lambda f: f[0])


def name(low):
    return OPCODES.get(low & 0xFF, "MOV")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    body = loop(code(pathlib.Path(sys.argv[1])))[1]
    if sys.argv[2] == "--count":
        print(dict(collections.Counter(name(low) for low, _ in body)))
        return
    stride, rounds, out = int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    out.mkdir(parents=True, exist_ok=True)
    (out / "kernelslist.g").write_text("kernel-1.traceg\n")
    chunks = max(1, BYTES // (stride * 32 * IN_FLIGHT))
    with (out / "kernel-1.traceg").open("w") as file:
        file.write(HEADER)
        for i, (_, high) in enumerate(body):
            file.write(f"-control {16 * i:04x} = {high >> 41 & 0x1FFFFF:06x}\n")
        file.write(f"-control {16 * len(body):04x} = 0007f5\n" + FORMAT)
        for warp in range(WARPS):
            file.write(f"warp = {warp}\ninsts = {len(body) * rounds + 1}\n")
            load = 0
            for _ in range(rounds):
                for i, (low, _) in enumerate(body):
                    what, to, source = name(low), low >> 16 & 0xFF, low >> 24 & 0xFF
                    if what == "LDG":
                        chunk = (warp + load // IN_FLIGHT * WARPS) % chunks * IN_FLIGHT + load % IN_FLIGHT
                        address = 0x7F45CA000000 + chunk * stride * 32
                        file.write(f"{16 * i:04x} ffffffff 1 R{to} LDG.E 1 R{source} 4 1 0x{address:x} {stride} 0\n")
                        load += 1
                    elif what in ("BRA", "ISETP"):
                        file.write(f"{16 * i:04x} ffffffff 0 {what} 0 0 0\n")
                    else:
                        file.write(f"{16 * i:04x} ffffffff 1 R{to} {what} 1 R{source} 0 0\n")
            file.write(f"{16 * len(body):04x} ffffffff 0 EXIT 0 0 0\n")
        file.write("#END_TB\n")


if __name__ == "__main__":
    main()
