#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that only store: `stream` of tests/gpu/sm90/battery.cu without reads, and `write` of launch.cu, written by hand as traces for the model.

usage: stores.py SLUICE OUT.json MACHINE.toml...
OUT.json gets the H200's cycles (streams.json, launch: by Nsight Compute, cold) beside the model's."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import loads

STREAMS = pathlib.Path(__file__).resolve().with_name("streams.json")
CTAS, THREADS = 528, 256
# PC, registers written, opcode, registers read. STG and what follows it stand for a turn of the loop.
BEGIN = ((0x00, "1 R1", "LDC", "0"), (0x10, "1 R0", "S2R", "0"), (0x20, "1 R5", "S2R", "0"), (0x30, "1 R2", "IMAD", "2 R5 R0"))
TURN = ((0x40, "1 R2", "IADD3", "2 R2 R5"), (0x50, "0", "STG.E.32", "2 R2 R5"), (0x60, "0", "ISETP", "1 R2"), (0x70, "0", "BRA", "0"))
WRITE = {1: 3966, 132: 3647}  # CTAs of a warp, and cycles on an H200


def trace(out, ctas, threads, words):
    """Every thread stores its words one behind the other, by steps of the whole grid."""
    (out / "kernelslist.g").write_text("kernel-1.traceg\n")
    with (out / "kernel-1.traceg").open("w") as file:
        file.write(loads.HEADER.replace("pass", "stores").format(sms=ctas, threads=threads))
        file.writelines(f"-control {pc:04x} = 000fe4\n" for pc, *_ in BEGIN + TURN)
        file.write("-control 0080 = 0007f5\n" + loads.FORMAT)
        for cta in range(ctas):
            file.write(f"#BEGIN_TB\nthread block = {cta},0,0\n")
            for warp in range(threads // 32):
                its = range(cta * threads + warp * 32, words, ctas * threads)
                file.write(f"warp = {warp}\ninsts = {len(BEGIN) + len(TURN) * len(its) + 1}\n")
                file.writelines(f"{pc:04x} ffffffff {to} {what} {source} 0 0\n" for pc, to, what, source in BEGIN)
                for word in its:
                    for pc, to, what, source in TURN:
                        access = f"4 1 0x{loads.BASE + word * 4:x} 4 0" if what.startswith("STG") else "0 0"
                        file.write(f"{pc:04x} ffffffff {to} {what} {source} {access}\n")
                file.write("0080 ffffffff 0 EXIT 0 0 0\n")
            file.write("#END_TB\n")


def main(sluice, out, *machines):
    cases = [(f"write, {ctas} CTAs", ctas, 32, ctas * 32, cycles) for ctas, cycles in WRITE.items()]
    for row in json.loads(STREAMS.read_text()):
        about = re.fullmatch(r"_Z6streamILi(\d+)ELi0ELi1ELi1EEvPfPKf", row["kernel"])
        if about:
            cases.append((f"stream, {int(about[1]) >> 18} MB", CTAS, THREADS, int(about[1]), row["h200_cycles"]))
    rows = []
    for name, ctas, threads, words, cycles in cases:
        rows.append({"kernel": name, "h200": cycles})
        with tempfile.TemporaryDirectory() as folder:
            trace(pathlib.Path(folder), ctas, threads, words)
            for machine in machines:
                said = subprocess.run([sluice, "trace", f"{folder}/kernelslist.g", "--machine", machine, "--json"], check=True, capture_output=True)
                rows[-1][pathlib.Path(machine).stem] = json.loads(said.stdout)["cycles"]
        pathlib.Path(out).write_text("[\n" + ",\n".join(" " + json.dumps(r) for r in rows) + "\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 3 else sys.exit(__doc__)
