# SPDX-License-Identifier: Apache-2.0
"""Builds a bench of tb/designs.toml directly, without CMake: with a broken design (tb/mutation.py) or with coverage (tb/coverage.py)."""
import concurrent.futures
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
RTL = (ROOT / "rtl/sluice.f").read_text().split()
WIDEST = 65536   # bits of a signal whose toggles are counted; Verilator passes over those of more than 256 otherwise
DESIGNS = tomllib.loads((ROOT / "tb/designs.toml").read_text())


def run(main):
    """A command: what stops it in words, a program or file that is missing among them, is one line and exit code 2."""
    try:
        main()
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
            sys.exit(2)
        raise
    except OSError as error:
        missing = isinstance(error, FileNotFoundError) and error.filename and "/" not in str(error.filename)
        print(f"tb: {error.filename or 'output'}: " + ("no such program; ./setup.sh installs it" if missing else error.strerror), file=sys.stderr)
        sys.exit(2)


def sh(args, cwd, **more):
    result = subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, args))[:300]}\n{result.stdout[-3000:]}")
    return result.stdout


def bench_sources(design, coverage=False):
    patterns = ["tb/common/*.cpp", "sw/core/errors.cpp", *design["sources"], *(design.get("also_sources", []) if coverage else [])]
    return list(dict.fromkeys(str(f) for pattern in patterns for f in sorted(ROOT.glob(pattern))))


def compile_model(folder, design, model, coverage=False):
    """Verilates a model of the design below the folder; returns its archive."""
    name, objdir = model["class"], f"obj_{model['class']}"
    sh(["verilator", "--cc", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Werror-UNOPTFLAT", "--trace-fst", "-O3", "--prefix", name, "--top-module",
        model.get("top", design["top"]), "-Mdir", objdir, *[f"-G{k}={v}" for k, v in model.get("parameters", {}).items()], *model["verilog"],
        *(["--coverage", "--coverage-max-width", str(WIDEST)] if coverage else [])], folder)
    sh(["make", "-s", "-j2", "-C", objdir, "-f", f"{name}.mk", "OPT_FAST=-O1", "CXX=ccache g++", f"{name}__ALL.a"], folder)
    return f"{objdir}/{name}__ALL.a"


def link(folder, objects):
    sh(["g++", *map(str, objects), "-lgtest", "-lgtest_main", "-lsystemc", "-lfmt", "-lspdlog", "-lz", "-lpthread", "-o", "bench"], folder)


def compile_bench(folder, design, verilog, extra_sources=(), coverage=False, whole=False):
    """Verilates `verilog` as the design's class (for coverage: also at its other sizes) and links folder/bench. Returns what it is linked of.
    @param whole  the Verilog is of the whole design, not of one that has its parameters in it"""
    plain = [str(ROOT / f) for f in RTL]
    models = [dict(model, verilog=plain) for model in design.get("with", []) + (design.get("also", []) if coverage else [])]
    models.append(dict(design, verilog=verilog) if coverage or whole else {"class": design["class"], "verilog": verilog})
    sh([sys.executable, str(ROOT / "rtl/csr/generate.py"), "--table", "register_table.h"], folder)
    includes = [f"-I{ROOT}", "-I.", "-I/usr/share/verilator/include", "-I/usr/share/verilator/include/vltstd", *[f"-Iobj_{m['class']}" for m in models]]
    defines = ["-DVM_COVERAGE=1"] if coverage else []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        archives = list(pool.map(lambda model: compile_model(folder, design, model, coverage), models))
    name, objdir = models[-1]["class"], f"obj_{models[-1]['class']}"
    runtime = [f"{o}.o" for o in ["verilated", "verilated_dpi", "verilated_fst_c", "verilated_threads"] + (["verilated_cov"] if coverage else [])]
    sh(["make", "-s", "-j2", "-C", objdir, "-f", f"{name}.mk", "OPT_GLOBAL=-O1", "CXX=ccache g++", *runtime], folder)
    sources = bench_sources(design, coverage) + list(extra_sources)
    place = lambda source: f"{pathlib.Path(source).stem}.bench.o"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:   # one object a source, so that ccache has them
        list(pool.map(lambda f: sh(["ccache", "g++", "-std=c++20", "-O1", "-DSC_CPLUSPLUS=201703L", *defines, *includes, "-c", f, "-o", place(f)], folder),
                      sources))
    objects = [*map(place, sources), *archives, *[f"{objdir}/{o}" for o in runtime]]
    link(folder, objects)
    return objects
