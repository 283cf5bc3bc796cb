#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves the properties of the RTL: runs standard SymbiYosys files with Yosys, yosys-smtbmc and ABC.

  rtl/formal/run.sh [module ...] [--json] [--long]      one line a property: proven / bounded N / reached / failed
  rtl/formal/run.sh [module ...] --mutants [--json]     breaks the design in known ways, which properties must refuse
  rtl/formal/run.sh [module ...] --long --due           only what takes minutes and was not run since it was edited
  rtl/formal/run.sh --check                             runs nothing: names what that would be; 1 where there is some

A module is rtl/formal/<module>.sby. Its mutants are in rtl/formal/mutants/<module>.toml, by file: name = [text that
stands there once, text of the broken design, properties that must fail..., { task or depth, where not of all }]. What
is understood of the .sby format: [tasks] with their groups, lines "task: ..." in other sections, [options] mode (bmc,
prove, cover: by ABC) and depth, [engines] "smtbmc z3" (mode prove: the k-induction of that name, but with ABC's SAT
solver, which is faster on bits), "abc pdr", "abc bmc3", [script], [files].
Tasks whose name begins with "long" run only with --long, mutants of files that begin with `long = true` in nightly
runs; results/formal/long.json has what of these ran well, each with a hash of its text without comments: properties,
task and mutant, and one of the RTL, without its checks of parameters. Work is kept in build/formal/. Exit code 1 when
a property fails or a mutant lives."""
import argparse
import concurrent.futures
import json
import re
import shutil
import subprocess
import sys

from designs import FORMAL, ROOT, broken_designs, check, key, long_ones, parse, ran, remember

WORK = ROOT / "build/formal"
SMT_STEPS = ["async2sync", "chformal -assume -early", "memory_map", "opt_clean", "dffunmap", "opt_clean",
             "write_smt2 -wires model.smt2"]
AIG_STEPS = ["async2sync", "chformal -cover -remove", "chformal -assume -early", "memory_map",
             "setundef -undriven -anyseq", "setattr -unset keep", "delete -output",
             "opt -full", "techmap", "opt -fast", "dffunmap", "setundef -zero", "aigmap", "opt_clean",
             "write_aiger -I -B -zinit model.aig"]
# A cover statement as an assertion that must fail.
COVER_MAP = "module \\$cover (A, EN); input A, EN; \\$assert _TECHMAP_REPLACE_ (.A(~A), .EN(EN)); endmodule\n"
COVER_STEPS = ["chformal -assert -remove", "techmap -map cover.v"]


def command(args, cwd, *others):
    """Runs a program that may need others."""
    for program in (args[0], *others):
        if not shutil.which(program):
            print(f"formal: {program}: no such program; ./setup.sh installs it", file=sys.stderr)
            sys.exit(2)
    return subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Task:
    """One task of one .sby file in a work folder, of the design itself or of a mutant."""

    def __init__(self, module, name, sections, mutant=None):
        self.sections, self.mode = sections, sections["options"]["mode"]
        self.depth = int((mutant or {}).get("depth", sections["options"].get("depth", 20)))
        self.dir = WORK / module / "_".join(filter(None, [name, mutant["name"] if mutant else ""]) or ["task"])
        self.dir.mkdir(parents=True, exist_ok=True)
        for line in sections["files"]:
            source = FORMAL / line.split()[-1]
            text = source.read_text()
            if mutant and source.name == mutant["file"]:
                if text.count(mutant["find"]) != 1:
                    sys.exit(f"{module}: mutant {mutant['name']}: \"{mutant['find']}\" is {text.count(mutant['find'])} "
                             f"times in {source.name}: must be there once")
                text = text.replace(mutant["find"], mutant["replace"])
            (self.dir / source.name).write_text(text)

    def build(self, *models):
        """Writes one model or several, each from the script's design by its own steps."""
        lines = self.sections["script"] + ["design -save prepared"] + [line for steps in models
            for line in ["design -load prepared", *steps]]
        (self.dir / "model.ys").write_text("\n".join(lines) + "\n")
        result = command(["yosys", "-q", "model.ys"], self.dir)
        if result.returncode:
            sys.exit(f"{self.dir}: yosys model.ys:\n{result.stdout}")

    def names(self, kind):
        found = re.findall(rf"^; yosys-smt2-{kind} \d+ (\S+)", (self.dir / "model.smt2").read_text(), re.M)
        return sorted(found)

    def smtbmc(self, solver):
        result = command(["yosys-smtbmc", "-s", solver, "-t", str(self.depth), "model.smt2"], self.dir, solver)
        (self.dir / "smtbmc.log").write_text(result.stdout)
        if "Status: " not in result.stdout:
            sys.exit(f"{self.dir}: yosys-smtbmc:\n{result.stdout}")
        return result.returncode == 0

    def abc(self, how):
        """The log of one ABC command on the AIG of the model: constraints folded in, all assertions as one output,
        rewritten for SAT (some inductions are five times faster so)."""
        log = command(["yosys-abc", "-c", f"read_aiger model.aig; fold; strash; orpos; drwsat; {how}"], self.dir).stdout
        (self.dir / f"{how.split()[0]}.log").write_text(log)
        return log

    def induct(self):
        """[(property, result)] by k-induction over all assertions together, k the depth: bmc3 is the base."""
        if "No output asserted" not in self.abc(f"bmc3 -F {self.depth}"):
            return self.blame()
        good = "Networks are equivalent" in self.abc(f"ind -F {self.depth}")
        # In mode prove an induction that does not go through is a failure: the file says what it promises.
        return [(name, "proven" if good else f"failed (holds to {self.depth}, induction does not go through)")
                for name in self.names("assert")]

    def fails(self, prop):
        """Whether ABC finds a counter-example of one assertion within the depth; of "induction", whether the induction
        of all doesn't go through."""
        if prop == "induction":
            self.build(AIG_STEPS)
            return "UNDECIDED" in self.abc(f"ind -F {self.depth}")   # what ABC says then; no word of it is no verdict
        self.build((COVER_STEPS if self.mode == "cover" else []) +
                   [f"select -set other t:$assert c:{prop} %d", "chformal -remove @other"] + AIG_STEPS)
        log = command(["yosys-abc", "-c", f"read_aiger model.aig; fold; strash; bmc3 -F {self.depth}"], self.dir).stdout
        (self.dir / f"bmc3_{prop}.log").write_text(log)
        return "was asserted in frame" in log

    def run(self):
        """[(property, result)]"""
        engine = self.sections["engines"][0].split()
        self.build(*([SMT_STEPS, AIG_STEPS] if self.mode != "cover" and (engine[0] == "abc" or self.mode == "prove")
                     else [SMT_STEPS]))
        if self.mode == "cover":
            (self.dir / "cover.v").write_text(COVER_MAP)
            return [(name, "reached" if self.fails(name) else "failed") for name in self.names("cover")]
        if engine[0] == "abc":
            how = engine[1] if engine[1] != "bmc3" else f"bmc3 -F {self.depth}"
            log = command(["yosys-abc", "-c", f"read_aiger model.aig; fold; strash; {how}"], self.dir).stdout
            (self.dir / "abc.log").write_text(log)
            if "Property proved" in log and engine[1] == "pdr":
                return [(name, "proven") for name in self.names("assert")]
            if "No output asserted" in log and engine[1] == "bmc3":
                return [(name, f"bounded {self.depth}") for name in self.names("assert")]
            return self.blame()
        if self.mode == "prove":
            return self.induct()
        if self.smtbmc(engine[1]):
            return [(name, f"bounded {self.depth}") for name in self.names("assert")]
        return self.blame()

    def blame(self):
        return [(name, "failed" if self.fails(name) else "unknown") for name in self.names("assert")]


def prove(module, args, report, each):
    tasks = parse(FORMAL / f"{module}.sby")
    owed = set()

    def holds(name):
        sections, held = tasks[name], True
        for prop, result in Task(module, name, sections).run():
            if sections["options"]["mode"] != "cover":
                owed.add(prop)
            held &= result.split()[0] in ("proven", "bounded", "reached")
            report["properties"].append({"module": module, "task": name, "name": prop, "result": result})
            if not args.json:
                print(f"{module:22} {prop:48} {result}", flush=True)
        if held and name.startswith("long"):
            remember(f"{module} {name}", key(sections))
        return held

    good = each(holds, [name for name in tasks if (args.long or not name.startswith("long")) and
                        not (args.due and (not name.startswith("long")
                                           or ran().get(f"{module} {name}") == key(tasks[name])))])
    for mutant in broken_designs(module):
        Task(module, "mutant", next(iter(tasks.values())), mutant)   # does its text still stand there once?
        owed -= set(mutant["fails"])
    return all_broken(module, owed) and good


def all_broken(module, owed):
    for prop in sorted(owed):
        print(f"{module:22} {prop}: no mutant breaks it", file=sys.stderr)
    return not owed


def kill(module, args, report, each):
    mutants = broken_designs(module)
    tasks = {n: s for n, s in parse(FORMAL / f"{module}.sby").items() if s["options"]["mode"] != "cover"}
    due, owed = dict(long_ones(module)), {}

    def has(name):
        task = Task(module, name, tasks[name])
        task.build(SMT_STEPS)
        owed.update({prop: name for prop in task.names("assert")})
        return True

    def refused(mutant):
        name = mutant.get("task", next(iter(tasks)))
        long, now = f"{module} mutant {mutant['name']}", key(tasks[name], mutant)
        if args.due and (long not in due or ran().get(long) == now):
            return True
        task, lives = Task(module, name, tasks[name], mutant), False
        for prop in mutant["fails"]:
            killed = task.fails(prop)
            lives |= not killed
            report["mutants"].append({"module": module, "mutant": mutant["name"], "property": prop, "killed": killed})
            if not args.json:
                print(f"{module:22} {mutant['name']:36} {prop:48} {'fails, as it must' if killed else 'LIVES'}",
                      flush=True)
        if not lives and long in due:
            remember(long, now)
        return not lives

    each(has, [name for name in tasks if args.long or not name.startswith("long")])
    mutants = [m for m in mutants if args.long or not m.get("task", next(iter(tasks))).startswith("long")]
    good = each(refused, mutants)
    return all_broken(module, set(owed).difference(*(m["fails"] for m in mutants))) and good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", nargs="*")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--mutants", action="store_true", help="run the broken designs")
    parser.add_argument("--long", action="store_true", help="tasks that take minutes, too")
    parser.add_argument("--due", action="store_true",
                        help="of what takes minutes, what has not run since it or its RTL was edited")
    parser.add_argument("--jobs", type=int, default=1, help="tasks and mutants at a time")
    parser.add_argument("--check", action="store_true", help="names what has not run since it was edited")
    args = parser.parse_args()
    known = sorted(p.stem for p in FORMAL.glob("*.sby"))
    for module in args.module:
        if module not in known:
            parser.error(f"{module}: no proofs; there are: {', '.join(known)}")
    if args.check:
        sys.exit(0 if check(args.module or known) else 1)
    report = {"mutants" if args.mutants else "properties": []}
    work = kill if args.mutants else prove
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool, concurrent.futures.ThreadPoolExecutor(1
        if args.jobs < 2 else len(known)) as modules:
        each = lambda do, names: all(list(pool.map(do, names)))
        good = all(list(modules.map(lambda module: work(module, args, report, each), args.module or known)))
    if args.json:
        print(json.dumps(report, indent=1))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
