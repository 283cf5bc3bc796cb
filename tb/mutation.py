#!/usr/bin/env python3
"""How many faults do the benches catch? Yosys' `mutate` puts faults into the flattened design, all of them into one Verilated model that
takes the fault's number from SLUICE_MUTANT; the quick bench runs once a fault. A fault that no bench sees is compared with the design by
proof (matching registers, induction; then PDR): proven equal it is no fault. Others may be argued in tb/mutation_equivalent.toml.

  tb/mutation.sh [design ...] [--count N] [--seed N] [--json]

Work is kept in build/mutation/<design>; what is there is taken up again, a fault that was run is not run again."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build/mutation"
RTL = (ROOT / "rtl/sluice.f").read_text().split()
DESIGNS = tomllib.loads((ROOT / "tb/mutation_designs.toml").read_text())
DPI = 'import "DPI-C" function int sluice_mutant();\n'


def sh(args, cwd, **more):
    result = subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, args))[:300]}\n{result.stdout[-3000:]}")
    return result.stdout


def yosys(folder, name, lines):
    (folder / name).write_text("\n".join(lines) + "\n")
    return sh(["yosys", "-q", name], folder)


def mutate(folder, design, count, seed):
    """Writes the design with `count` faults, returns what each of them is."""
    top = design["top"]
    parameters = " ".join(f"-set {k} {v}" for k, v in design.get("parameters", {}).items())
    yosys(folder, "flat.ys", [f"read_verilog -sv {' '.join(str(ROOT / f) for f in RTL)}", f"chparam {parameters} {top}" if parameters else "",
                              f"hierarchy -check -top {top}", "proc", "flatten", "opt_clean", f"rename -top {top}", "write_ilang flat.il",
                              f"mutate -list {count} -seed {seed} -ctrl mutsel 12 1 -o list.ys"])
    mutations = [re.sub(r" -ctrl mutsel 12 \d+", "", line) for line in (folder / "list.ys").read_text().splitlines()]
    yosys(folder, "mutate.ys", ["read_ilang flat.il", "script list.ys", "delete -port w:mutsel", "write_verilog -noattr mutated.v"])
    text = (folder / "mutated.v").read_text()
    text = text.replace("  wire [11:0] mutsel;", f"  {DPI}  reg [11:0] mutsel;\n  initial mutsel = sluice_mutant();", 1)
    (folder / "mutated.v").write_text("/* verilator lint_off WIDTH */\n" + text)
    return mutations


def compile_bench(folder, design):
    (folder / "mutant.cpp").write_text('#include <cstdlib>\nextern "C" int sluice_mutant() { const char* n = std::getenv("SLUICE_MUTANT"); '
                                       'return n ? std::atoi(n) : 0; }\n')
    models = {design["class"]: ["-Mdir", "obj", "mutated.v"]}
    for name, parameters in design.get("others", {}).items():   # models that the bench includes, without faults
        models[name] = ["-Mdir", f"obj_{name}", *parameters.split(), *[str(ROOT / f) for f in RTL]]
    objects, includes = [], [f"-I{ROOT}", "-I/usr/share/verilator/include", "-I/usr/share/verilator/include/vltstd"]
    for name, arguments in models.items():
        sh(["verilator", "--cc", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--trace-fst", "-O3", "--prefix", name, "--top-module", design["top"],
            *arguments], folder)
        sh(["make", "-s", "-j2", "-C", arguments[1], "-f", f"{name}.mk", "OPT_FAST=-O1", "CXX=ccache g++", f"{name}__ALL.a"], folder)
        objects.append(f"{arguments[1]}/{name}__ALL.a")
        includes.append(f"-I{arguments[1]}")
    runtime = ["verilated", "verilated_dpi", "verilated_fst_c", "verilated_threads"]
    sh(["make", "-s", "-j2", "-C", "obj", "-f", f"{design['class']}.mk", "OPT_GLOBAL=-O1", "CXX=ccache g++", *[f"{o}.o" for o in runtime]], folder)
    objects += [f"obj/{o}.o" for o in runtime]
    sources = [str(f) for pattern in design["sources"] for f in sorted(ROOT.glob(pattern))] + ["mutant.cpp"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:   # one object a source, so that ccache has them
        list(pool.map(lambda f: sh(["ccache", "g++", "-std=c++20", "-O1", "-DSC_CPLUSPLUS=201703L", *includes, "-c", f, "-o",
                                    f"obj/{pathlib.Path(f).stem}.bench.o"], folder), sources))
    sh(["g++", *[f"obj/{pathlib.Path(f).stem}.bench.o" for f in sources], *objects, "-lgtest", "-lgtest_main", "-lsystemc", "-lfmt", "-lspdlog",
        "-lz", "-lpthread", "-o", "bench"], folder)


def killed(folder, design, number):
    env = dict(os.environ, SLUICE_MUTANT=str(number), GTEST_FAIL_FAST="1", GTEST_FILTER=design.get("filter", "*"))
    env.pop("SLUICE_FULL", None)
    try:
        return subprocess.run(["./bench"], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300).returncode != 0
    except subprocess.TimeoutExpired:
        return True   # hangs: seen


def equivalent(folder, design, number, mutation):
    """Whether the fault is proven to change nothing."""
    top, work = design["top"], folder / f"m{number}"
    work.mkdir(exist_ok=True)
    pair = ["read_ilang ../flat.il", f"rename {top} gold", "read_ilang ../flat.il", mutation, f"rename {top} gate"]
    (work / "equiv.ys").write_text("\n".join(pair + ["memory_map", "equiv_make gold gate both", "hierarchy -top both", "async2sync", "opt_clean",
                                                     "equiv_simple -undef -seq 2", "equiv_induct -undef -seq 2", "equiv_status -assert"]))
    try:
        if subprocess.run(["yosys", "-q", "equiv.ys"], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120).returncode == 0:
            return "induction"
    except subprocess.TimeoutExpired:
        pass
    (work / "miter.ys").write_text("\n".join(pair + [
        "miter -equiv -flatten -make_outputs gold gate miter", "hierarchy -top miter", "async2sync", "memory_map", "delete -output w:* w:trigger %d",
        "opt -full", "techmap", "opt -fast", "dffunmap", "abc -g AND -fast", "opt_clean", "write_aiger -zinit miter.aig"]))
    try:
        subprocess.run(["yosys", "-q", "miter.ys"], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        log = subprocess.run(["yosys-abc", "-c", "read_aiger miter.aig; strash; scorr; pdr -T 60"], cwd=work, stdout=subprocess.PIPE, text=True, timeout=200)
        return "PDR" if "Property proved" in log.stdout or "Networks are equivalent" in log.stdout else None
    except subprocess.TimeoutExpired:
        return None


def block(mutation):
    files = re.findall(r"-src \S*/(\w+)\.sv", mutation)
    return files[-1] if files else "?"


def campaign(name, args, argued, say):
    design, folder = DESIGNS[name], WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    count = args.count or design["count"]
    state_file = folder / "state.json"
    files = RTL + [str(f.relative_to(ROOT)) for pattern in design["sources"] for f in sorted(ROOT.glob(pattern))]
    contents = "".join((ROOT / f).read_text() for f in files)
    key = f"{count} {args.seed} {hashlib.sha256(contents.encode()).hexdigest()}"
    state = json.loads(state_file.read_text()) if state_file.exists() else {}
    if state.get("key") != key:
        state = {"key": key, "mutations": mutate(folder, design, count, args.seed), "results": {}}
        compile_bench(folder, design)
        if killed(folder, design, 0):
            sys.exit(f"{name}: the bench fails without a fault: see build/mutation/{name}/bench")
        state_file.write_text(json.dumps(state))
    todo = [n for n in range(1, len(state["mutations"]) + 1) if str(n) not in state["results"]]

    def run(number):
        mutation = state["mutations"][number - 1]
        if killed(folder, design, number):
            return number, "killed"
        how = equivalent(folder, design, number, mutation)
        return number, f"equivalent ({how})" if how else "survived"

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done, (number, result) in enumerate(pool.map(run, todo), 1):
            state["results"][str(number)] = result
            state_file.write_text(json.dumps(state))
            if sys.stderr.isatty() or done % 25 == 0 or done == len(todo):
                say(f"{name}: {done} of {len(todo)} faults run")
    for number, mutation in enumerate(state["mutations"], 1):
        result = state["results"][str(number)]
        if result == "survived" and mutation in argued:
            result = f"equivalent ({argued[mutation]})"
        yield {"design": name, "block": block(mutation), "number": number, "result": result, "mutation": mutation}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", nargs="*")
    parser.add_argument("--count", type=int, help="faults a design (default: tb/mutation_designs.toml)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    for name in args.design:
        if name not in DESIGNS:
            sys.exit(f"{name}: no such design; there are: {', '.join(DESIGNS)}")
    path = ROOT / "tb/mutation_equivalent.toml"
    argued = {m["mutation"]: m["why"] for m in tomllib.loads(path.read_text()).get("equivalent", [])} if path.exists() else {}
    say = lambda text: print(text, file=sys.stderr, flush=True)
    rows = [row for name in args.design or DESIGNS for row in campaign(name, args, argued, say)]
    blocks = collections.defaultdict(collections.Counter)
    for row in rows:
        blocks[row["block"]][row["result"].split()[0]] += 1
    total = collections.Counter(row["result"].split()[0] for row in rows)
    score = 100.0 * total["killed"] / max(1, len(rows) - total["equivalent"])
    survived = [{k: row[k] for k in ("design", "block", "number", "mutation")} for row in rows if row["result"] == "survived"]
    if args.json:
        print(json.dumps({"mutants": len(rows), "killed": total["killed"], "equivalent": total["equivalent"], "score_pct": round(score, 2),
                          "seed": args.seed, "blocks": blocks, "survived": survived}, indent=1))
    else:
        print(f"{'block':24} {'mutants':>8} {'killed':>8} {'equivalent':>11} {'survived':>9}")
        for name, c in sorted(blocks.items()):
            print(f"{name:24} {c.total():8} {c['killed']:8} {c['equivalent']:11} {c['survived']:9}")
        for row in survived:
            print(f"survived: {row['design']} {row['number']}: {row['mutation']}")
        print(f"mutation score {score:.1f} % of {len(rows) - total['equivalent']} (seed {args.seed})")
    sys.exit(0 if score >= 95 else 1)


main()
