#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many faults do the benches catch? Yosys' `mutate` puts faults into the flattened design, all of them into one Verilated model that
takes the fault's number from SLUICE_MUTANT; the quick bench runs once a fault. A fault that no bench sees is compared with the design by
proof (register by register, then as sequential circuits from reset): proven equal it is no fault. What is left runs the long
campaign (--long), and may be argued in tb/mutation_equivalent.toml; an argument about one output has the proof for the others.

  tb/mutation.sh [design ...] [--count N] [--seed N] [--long] [--json]

Work is kept in build/mutation/<design>/<seed>; what is there is taken up again, a fault that was run is not run again."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tomllib

import bench_build
from bench_build import DESIGNS, ROOT, RTL, bench_sources, compile_bench, sh
from fault_names import argument, block, choices, describe

WORK = ROOT / "build/mutation"
DPI = 'import "DPI-C" function int sluice_mutant();\n'
CPU_LIMIT_S, PROOF_LIMIT_S, REACHED_LIMIT_S = 300, 60, 200   # of a bench, of a proof, of one over what is reached; a bench takes seconds
STUCK_S = 7200                         # of wall time: waits for something that does not come, which is no result


def yosys(folder, name, lines):
    (folder / name).write_text("\n".join(lines) + "\n")
    return sh(["yosys", "-q", name], folder)


def flatten(folder, design):
    """The design without hierarchy, as flat.il. Outputs get buffers, so that no port's wire is read inside."""
    top = design["top"]
    parameters = " ".join(f"-set {k} {v}" for k, v in design.get("parameters", {}).items())
    yosys(folder, "flat.ys", [f"read_verilog -sv {' '.join(os.path.relpath(ROOT / f, folder) for f in RTL)}", f"chparam {parameters} {top}" if parameters else "",
                              f"hierarchy -check -top {top}", "proc", "flatten", "opt_clean", f"rename -top {top}", "iopadmap -bits -outpad outbuf A:Y",
                              "setparam -set A_SIGNED 0 -set A_WIDTH 1 -set Y_WIDTH 1 t:outbuf", "setattr -unset keep t:outbuf",
                              "chtype -set $pos t:outbuf", "write_ilang flat.part"])
    os.replace(folder / "flat.part", folder / "flat.il")


def mutate(folder, design, count, seed):
    """Writes the design with `count` faults, returns what each of them is."""
    yosys(folder, "list_all.ys", ["read_ilang flat.il", f"mutate -list {count * (60 if 'blocks' in design else 2)} -seed {seed} -o list.ys"])
    mutations, tied = [], set()
    for line in (folder / "list.ys").read_text().splitlines():
        vector = re.search(r"-cell (\S+) -port ([YQ]) ", line)   # one bit of it tied to another, a further fault there is a loop
        if re.search(r"-cell \S*\$(iopadmap|mem)", line) or block(line) not in design.get("blocks", [block(line)]) or (vector and vector.groups() in tied):
            continue
        mutations.append(line)
        if vector and "-ctrlbit" in line:
            tied.add(vector.groups())
    mutations = mutations[:count]
    (folder / "list.ys").write_text("".join(line.replace("mutate ", f"mutate -ctrl mutsel 12 {n} ", 1) + "\n" for n, line in enumerate(mutations, 1)))
    # A fault joins bits of one vector; Verilator, which orders whole vectors, would see loops: every driver gets a wire of its own.
    yosys(folder, "mutate.ys", ["read_ilang flat.il", "script list.ys", "delete -port w:mutsel", "splitnets -driver", "write_verilog -noattr mutated.v"])
    text = (folder / "mutated.v").read_text()
    text = text.replace("  wire [11:0] mutsel;", f"  {DPI}  reg [11:0] mutsel;\n  initial mutsel = sluice_mutant();", 1)
    (folder / "mutated.v").write_text("/* verilator lint_off WIDTH */\n" + text)
    return mutations


def limited(command, seconds, **more):
    """Runs a program for so much CPU time, which other work on the machine does not shorten. None when it wanted more."""
    result = subprocess.run(["prlimit", f"--cpu={seconds}:{seconds + 5}", *command], timeout=STUCK_S, **more)
    return None if result.returncode == -signal.SIGXCPU else result


def killed(folder, design, number, full=False):
    env = dict(os.environ, SLUICE_MUTANT=str(number), GTEST_FAIL_FAST="1", GTEST_FILTER=design.get("filter", "*"))
    env.pop("SLUICE_FULL", None)
    if full:
        env["SLUICE_FULL"] = "1"
    result = limited(["./bench"], CPU_LIMIT_S, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return result.returncode != 0 if result else not full   # a quick run takes seconds: a hang is seen


def netlist(folder, name, mutation, but=None):
    """The flattened design as an AIG, its registers in the same order in every variant: those with a reset start at zero (a reset may follow at
    any time), the others as an additional input says. Without the output `but`."""
    yosys(folder, f"{name}.ys", ["read_ilang flat.il", mutation, f"delete -output w:{but}" if but else "",
                                 f"setattr -set init 4096'b{'0' * 4096} t:$adff* %x:+[Q] w:* %i", "async2sync",
                                 "memory_map", "opt_clean", "techmap", "dffunmap", "abc -g AND -fast", f"write_aiger -zinit {name}.aig"])


def equivalent(folder, number, mutation, but=None):
    """How the fault is proven to change nothing, "" when it isn't: the same outputs and next states as functions of inputs and registers, or the
    same outputs for ever, by signal correspondence, by ABC's sequence of methods, or by an invariant of the states that are reached. `but`: an output
    that is not compared."""
    name = f"fault{number}"
    try:
        netlist(folder, name, mutation, but)
        gold = f"{name}_gold.aig" if but else "gold.aig"
        if but:
            netlist(folder, f"{name}_gold", "", but)
        for how, limit, script in (("function", PROOF_LIMIT_S, f"read_aiger {gold}; comb; write_aiger {name}_comb.aig; read_aiger {name}.aig; comb; write_aiger {name}_fault.aig; "
                                                        f"cec -n {name}_comb.aig {name}_fault.aig"),
                                   ("sequential", PROOF_LIMIT_S, f"miter {gold} {name}.aig; scorr; comb; sat"),
                                   ("sequential", PROOF_LIMIT_S, f"miter {gold} {name}.aig; dprove"),
                                   ("reached states", REACHED_LIMIT_S, f"miter {gold} {name}.aig; scorr; pdr")):
            log = limited(["yosys-abc", "-c", script], limit, cwd=folder, stdout=subprocess.PIPE, text=True)
            if log and any(said in log.stdout for said in ("Networks are equivalent", "UNSATISFIABLE", "Property proved")):
                return how
        return ""
    finally:
        for left in folder.glob(f"{name}[._]*"):
            left.unlink()


def kept(path):
    """The state of a campaign; none when there is none that can be read."""
    try:
        state = json.loads(path.read_text())
        return state if isinstance(state, dict) else {}
    except (OSError, ValueError):
        return {}


def keep(path, state):
    """An interruption leaves the state before or the one after."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(state))
    os.replace(part, path)


def score(count):
    """Killed of what is not equivalent, in percent."""
    return 100.0 * count["killed"] / max(1, count.total() - count["equivalent"])


def tally(rows, key):
    """{block or design: how many killed, equivalent, survived}"""
    out = collections.defaultdict(collections.Counter)
    for row in rows:
        out[row[key]][row["result"].split()[0]] += 1
    return out


def summary(rows, seed):
    """What --json prints."""
    total = collections.Counter(row["result"].split()[0] for row in rows)
    survived = [{k: row[k] for k in ("design", "number", "file", "line", "text", "fault")} for row in rows if row["result"] == "survived"]
    designs = {name: {"seed": seed, "mutants": c.total(), "killed": c["killed"], "equivalent": c["equivalent"], "score_pct": round(score(c), 2)}
               for name, c in tally(rows, "design").items()}
    return {"mutants": len(rows), "killed": total["killed"], "equivalent": total["equivalent"], "score_pct": round(score(total), 2), "seed": seed,
            "designs": designs, "blocks": tally(rows, "block"), "survived": survived}


def prepare(name, args):
    """The folder of the campaign with its bench, and its state so far."""
    design, folder = DESIGNS[name], WORK / name / str(args.seed)
    folder.mkdir(parents=True, exist_ok=True)
    count = args.count or design["count"]
    state_file, flat = folder / "state.json", folder / "flat.il"
    made_of = [*RTL, "rtl/sluice.f", "tb/designs.toml", "tb/mutation.py"]
    if not flat.exists() or any((ROOT / f).stat().st_mtime > flat.stat().st_mtime for f in made_of):
        flatten(folder, design)
    sources = bench_sources(design)
    headers = sorted({h for f in sources for h in pathlib.Path(f).parent.glob("*.h")})
    contents = "".join(pathlib.Path(f).read_text() for f in [flat, *sources, *headers])
    key = f"{count} {args.seed} {hashlib.sha256(contents.encode()).hexdigest()}"
    state = kept(state_file)
    if state.get("key") != key:
        state = {"key": key, "mutations": mutate(folder, design, count, args.seed), "results": {}}
        (folder / "mutant.cpp").write_text('#include <cstdlib>\nextern "C" int sluice_mutant() { const char* n = std::getenv("SLUICE_MUTANT"); '
                                           'return n ? std::atoi(n) : 0; }\n')
        netlist(folder, "gold", "")
        compile_bench(folder, design, ["mutated.v"], ["mutant.cpp"])
        if killed(folder, design, 0):
            sys.exit(f"{name}: the bench fails without a fault: see {folder.relative_to(ROOT)}/bench")
        keep(state_file, state)
    return folder, state


def campaign(name, args, argued, say):
    design, (folder, state) = DESIGNS[name], prepare(name, args)
    chosen = choices(folder)
    todo = [n for n in range(1, len(state["mutations"]) + 1) if str(n) not in state["results"]]

    def run(number):
        mutation = state["mutations"][number - 1]
        if killed(folder, design, number):
            return number, "killed"
        if how := equivalent(folder, number, mutation):
            return number, f"equivalent (proven: {how})"
        entry = argument(argued, name, describe(mutation, chosen))
        if entry and "but" in entry:
            how = equivalent(folder, number, mutation, entry["but"])
            return number, f"equivalent (proven: {how}, but for {entry['but']}: {entry['why']})" if how else "survived"
        return number, "killed (long)" if args.long and killed(folder, design, number, full=True) else "survived"

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done, (number, result) in enumerate(pool.map(run, todo), 1):
            state["results"][str(number)] = result
            keep(folder / "state.json", state)
            if sys.stderr.isatty() or done % 25 == 0 or done == len(todo):
                say(f"{name}: {done} of {len(todo)} faults run")
    for number, mutation in enumerate(state["mutations"], 1):
        result, place = state["results"][str(number)], describe(mutation, chosen)
        entry = argument(argued, name, place)
        if result == "survived" and entry and "but" not in entry:
            result = f"equivalent ({entry['why']})"
        yield {"design": name, "block": block(mutation), "number": number, "result": result, **place}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("design", nargs="*")
    parser.add_argument("--count", type=int, help="faults a design (default: tb/designs.toml)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--long", action="store_true", help="survivors run the long campaign too, five minutes of CPU time at most each")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    for name in args.design:
        if name not in DESIGNS:
            parser.error(f"{name}: no such design; there are: {', '.join(DESIGNS)}")
    if args.jobs < 1 or (args.count or 1) < 1:
        parser.error("--jobs, --count: must be 1 or more")
    path = ROOT / "tb/mutation_equivalent.toml"
    argued = [{"design": design, "file": file, **dict(zip(("text", "fault", "why", "but"), row))}
              for design, files in tomllib.loads(path.read_text()).items() for file, rows in files.items() for row in rows]
    say = lambda text: print(text, file=sys.stderr, flush=True)
    rows = [row for name in args.design or DESIGNS for row in campaign(name, args, argued, say)]
    found = summary(rows, args.seed)
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{'block':24} {'mutants':>8} {'killed':>8} {'equivalent':>11} {'survived':>9}")
        for name, c in sorted(found["blocks"].items()):
            print(f"{name:24} {c.total():8} {c['killed']:8} {c['equivalent']:11} {c['survived']:9}")
        for row in found["survived"]:
            print(f"survived: {row['design']} {row['number']}: {row['file']}:{row['line']}: {row['fault']}: {row['text']}")
        for name, d in found["designs"].items():
            print(f"mutation score of {name}: {d['score_pct']:.1f} % of {d['mutants'] - d['equivalent']} (seed {args.seed})")
    sys.exit(0 if all(d["score_pct"] >= 95 for d in found["designs"].values()) else 1)


if __name__ == "__main__":
    bench_build.run(main)
