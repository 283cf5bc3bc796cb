"""Builds a bench of tb/designs.toml directly, without CMake: with a broken design (tb/mutation.py) or with coverage (tb/coverage.py)."""
import concurrent.futures
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
RTL = (ROOT / "rtl/sluice.f").read_text().split()
DESIGNS = tomllib.loads((ROOT / "tb/designs.toml").read_text())


def sh(args, cwd, **more):
    result = subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, args))[:300]}\n{result.stdout[-3000:]}")
    return result.stdout


def bench_sources(design):
    return [str(f) for pattern in ["tb/common/*.cpp", *design["sources"]] for f in sorted(ROOT.glob(pattern))]


def compile_bench(folder, design, verilog, extra_sources=(), flags=()):
    """Verilates `verilog` as the design's class and links folder/bench."""
    name = design["class"]
    parameters = [f"-G{k}={v}" for k, v in design.get("parameters", {}).items()] if flags else []   # a broken design has them in it
    includes = [f"-I{ROOT}", "-I/usr/share/verilator/include", "-I/usr/share/verilator/include/vltstd", "-Iobj"]
    sh(["verilator", "--cc", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Werror-UNOPTFLAT", "--trace-fst", "-O3", "--prefix", name, "--top-module", design["top"], "-Mdir", "obj",
        *parameters, *verilog, *flags], folder)
    sh(["make", "-s", "-j2", "-C", "obj", "-f", f"{name}.mk", "OPT_FAST=-O1", "CXX=ccache g++", f"{name}__ALL.a"], folder)
    runtime = ["verilated", "verilated_dpi", "verilated_fst_c", "verilated_threads"] + (["verilated_cov"] if "--coverage" in flags else [])
    sh(["make", "-s", "-j2", "-C", "obj", "-f", f"{name}.mk", "OPT_GLOBAL=-O1", "CXX=ccache g++", *[f"{o}.o" for o in runtime]], folder)
    objects = [f"obj/{name}__ALL.a", *[f"obj/{o}.o" for o in runtime]]
    sources = bench_sources(design) + list(extra_sources)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:   # one object a source, so that ccache has them
        list(pool.map(lambda f: sh(["ccache", "g++", "-std=c++20", "-O1", "-DSC_CPLUSPLUS=201703L", *(["-DVM_COVERAGE=1"] if "--coverage" in flags else []), *includes, "-c", f, "-o",
                                    f"obj/{pathlib.Path(f).stem}.bench.o"], folder), sources))
    sh(["g++", *[f"obj/{pathlib.Path(f).stem}.bench.o" for f in sources], *objects, "-lgtest", "-lgtest_main", "-lsystemc", "-lfmt", "-lspdlog",
        "-lz", "-lpthread", "-o", "bench"], folder)


