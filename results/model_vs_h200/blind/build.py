#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build.py SUITE OUT open|closed [LIMIT [JOBS]]
Builds the programs of a half by the rule into OUT/bin, and writes their names and arguments to OUT/programs-HALF.tsv. Needs nvcc.
What is built is not built again."""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

import rule


def build(suite, out, name):
    """False: it does not build."""
    folder, target = suite / "src" / f"{name}-cuda", out / "bin" / name
    failed = out / "failed" / name
    if target.exists() or failed.exists():
        return target.exists()
    program = re.search(r"^program *:?= *(\S+)", (folder / "Makefile").read_text(errors="replace"), re.M)
    made = subprocess.run(["timeout", "300", "make", "-C", folder, "ARCH=sm_90", "CC=nvcc -cudart shared", program[1] if program else "all"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if made.returncode == 0 and program and (folder / program[1]).is_file():
        subprocess.run(["strip", "-o", target, folder / program[1]], check=True)
        return True
    failed.write_text(made.stderr[-2000:])
    return False


def main(suite, out, half, limit=10**6, jobs=1):
    suite, out = pathlib.Path(suite), pathlib.Path(out)
    for folder in ("bin", "failed"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    wanted = [(n, a) for n, a in rule.programs(suite) if rule.half(n) == half][:int(limit)]
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        with (out / f"programs-{half}.tsv").open("w") as rows:
            for (name, arguments), good in zip(wanted, pool.map(lambda p: build(suite, out, p[0]), wanted)):
                if good:
                    rows.write("\t".join([name, *arguments]) + "\n")
                    rows.flush()


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 3 else sys.exit(__doc__)
