#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels of tensor.cu as programs of results/model_vs_h200/blind/blind.py, one a kernel.
usage: tensor.py programs OUT [NVCC]    builds OUT/bin/NAME and writes OUT/programs-HALF.tsv
       tensor.py count OUT HALF         OUT/counted-HALF.jsonl, as `blind.py count`, but all kernels in one run of Nsight Compute
The rule, made before any of them ran on a GPU: a kernel's program has its name and launches it once. The half is that of rule.py for
this name. A kernel that cannot be launched or has a wrong result leaves the comparison, as rule 4 says; all others stay in it."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "results/model_vs_h200/blind"))
import blind  # noqa: E402
import rule  # noqa: E402


def names():
    """In the order of tensor_kernels.cuh."""
    rows = (HERE / "tensor_kernels.cuh").read_text().splitlines()
    return [row.split("(")[1].split(",")[0] for row in rows if row.startswith(("PRODUCT(", "ATTENTION(", "COPY("))]


def programs(out, nvcc="nvcc"):
    binary = out / "bin" / "tensor"
    binary.parent.mkdir(parents=True, exist_ok=True)
    if not binary.exists():
        subprocess.run([nvcc, "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]", "-cudart", "shared",
                        str(HERE / "tensor.cu"), "-o", str(binary)], check=True)
    for half in ("open", "closed"):
        mine = [n for n in names() if rule.half(n) == half]
        for name in mine:
            link = out / "bin" / name
            if not link.exists():
                link.hardlink_to(binary)
        (out / f"programs-{half}.tsv").write_text("".join(f"{n}\t{n}\n" for n in mine))


def count(out, half):
    """Programs that do not end with 0 are not counted: Nsight Compute runs those that do, one behind the other."""
    recorded = {r["program"]: r for r in blind.lines(out / f"recorded-{half}.jsonl")}
    good = [n for n in names() if n in recorded and recorded[n].get("alone", 0) == 0]
    with tempfile.TemporaryDirectory() as there:
        log = pathlib.Path(there) / "counted.csv"
        subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name-base", "mangled", "--print-kernel-base", "mangled",
                        "--clock-control", "none", "--metrics", f"{blind.INSTRUCTIONS},{blind.CYCLES}", "--log-file", str(log), str(out / "bin/tensor"), *good],
                       check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        found = blind.counted(log)
    (out / f"counted-{half}.jsonl").write_text("".join(
        json.dumps({"program": n, "exit": 0, "launches": [c for c in found if c["kernel"] == n]}) + "\n" for n in good))


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or sys.exit(__doc__)
    {"programs": programs, "count": count}[what](pathlib.Path(rest[0]).resolve(), *rest[1:])
