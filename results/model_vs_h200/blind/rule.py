# SPDX-License-Identifier: Apache-2.0
"""The blind comparison's rule: which programs, which of their launches, and which half of them is opened once, at the end.

Suite: zjin-lcf/HeCBench at COMMIT. Nothing of it is in this tree but names. A program NAME is the folder src/NAME-cuda.

1. Programs are taken in ascending order of SHA-256(NAME). The half is "open" if its last hexadecimal digit is even, else "closed".
2. A program enters if its folder has a Makefile that names no library of CUDA's beside the runtime, the first command of `run` is its
   own binary with plain arguments (no path, no file, no variable), and `make ARCH=sm_90` builds it.
3. The arguments are those of `run`, but a whole number above 1,024 becomes the greatest power of two that is at most 32 times its
   square root: the suite's sizes are for whole runs, too long for a model.
4. It stays if it ends within 10 seconds with exit code 0 on the GPU alone. (30 at first; changed when eight programs had been run and
   none compared: most of the time went to the programs' own checks on the CPU.)
5. Of each kernel (its mangled name) the first launch counts, if Nsight Compute counts from 2,000 to 8,000,000 warp instructions. Of
   each program the first four such kernels, in the order of their launch, are in the comparison.
6. All of them stay in it: one that cannot be recorded is reported, too, with its reason. Cycles are gpc__cycles_elapsed.max with cold
   caches and free clocks.
"""
import hashlib
import math
import re

COMMIT = "f27000a5188f8ac79bd43fc95a1b3f890c18823d"
SECONDS = 10
LEAST, MOST, KERNELS = 2_000, 8_000_000, 4


def digest(name):
    return hashlib.sha256(name.encode()).hexdigest()


def half(name):
    return "open" if int(digest(name)[-1], 16) % 2 == 0 else "closed"


def smaller(argument):
    number = re.fullmatch(r"(\D*=)?(\d+)", argument)
    if not number or int(number[2]) <= 1024:
        return argument
    return (number[1] or "") + str(1 << int(math.log2(32 * math.isqrt(int(number[2])))))


def programs(suite):
    """(name, arguments) of those that enter but for their build, in order."""
    for folder in sorted(suite.glob("src/*-cuda"), key=lambda f: digest(f.name.removesuffix("-cuda"))):
        makefile = folder / "Makefile"
        text = makefile.read_text(errors="replace") if makefile.exists() else ""
        run = re.search(r"^run:.*\n\t(?:\$\(LAUNCHER\) *)?\./\$\(program\)(.*)$", text, re.M)
        if not run or re.search(r"-l(cu|nv|nccl|mpi|gsl|boost)", text):
            continue
        arguments = run[1].split()
        plain = all(re.fullmatch(r"[-+=\w]*|[-+]?\d*\.\d+", a) and not (folder / a).is_file() for a in arguments)
        if plain:
            yield folder.name.removesuffix("-cuda"), [smaller(a) for a in arguments]


def launches(counted):
    """Those of a program's first launches, in their order, that are in the comparison."""
    return [c for c in counted if LEAST <= c["counted"] <= MOST][:KERNELS]
