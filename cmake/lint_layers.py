#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.layers: no #include goes upward in LAYERS, none closes a cycle, no folder of sw/ outgrows a quarter of the code, and no two headers
of the product define a type of one name: the linker would keep either's functions for both."""
import collections
import pathlib
import re
import subprocess
import sys

# From the bottom up: a file includes files of its own folder and of those before it. "..." is the folder with all below it.
LAYERS = """
sw/core sw/io
sw/partition sw/policy
sw/workload sw/trace
sw/scheduler
sw/driver
sw/report
sw/service sw/service/examples
sw/gpu/runtime sw/gpu/rewrite sw/gpu/fatbin sw/gpu/source
sw/gpu/record
sw/gpu/cuda
sw/gpu/apps sw/gpu/jobs
sw/gpu/experiments sw/gpu/report
sw/interpose
systemc/sim
systemc/unit/ports systemc/unit/twin systemc/unit/rtl systemc/unit/rtl/on_demand
lib...
systemc/memory systemc/sm
systemc/host
systemc
study study/rtl_benchmark
cli
synth tb... tests... fuzz...
""".split()
# Headers of others, or generated: where they may be included.
FOREIGN = {r"systemc|tlm|tlm_utils/.*": r"systemc|lib|tb|tests",
           r"(cuda|nvrtc|cu[A-Z_]).*\.h": r"sw/gpu/cuda|sw/interpose|tests/fake_cuda|tests/interpose|tests/gpu/programs|tests/gpu/llm|tests/gpu/sm90",
           r"verilated.*\.h|V\w+\.h": r"systemc/unit/rtl|study/rtl_benchmark|tb", r"sluice_provenance\.h": r"study|cli", r"interpose_symbols\.inc": r"sw/interpose"}
TYPE = re.compile(r"^(?:namespace ([\w:]+) \{|(?:struct|class) (\w+)(?: final)?(?: :.*)? ?\{)", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)', re.MULTILINE)


def layer(folder):
    """The folder's row, or None."""
    return next((i for i, row in enumerate(LAYERS) if folder == row or row.endswith("...") and f"{folder}/".startswith(row[:-3] + "/")), None)


def cycle(node, graph, done, path=()):
    """A path from `node` that ends where it has been, or None."""
    if node in path:
        return path[path.index(node):] + (node,)
    if node in done:
        return None
    done.add(node)
    return next(filter(None, (cycle(other, graph, done, path + (node,)) for other in sorted(graph.get(node, ())))), None)


def check(files):
    """What is wrong with `files`, path -> text."""
    wrong, graphs = [], (collections.defaultdict(set), collections.defaultdict(set))
    for path, text in files.items():
        folder = str(pathlib.PurePosixPath(path).parent)
        if layer(folder) is None:
            wrong.append(f"{path}: {folder} has no row in LAYERS")
        for quote, name in INCLUDE.findall(text):
            foreign = [allowed for header, allowed in FOREIGN.items() if re.fullmatch(header, name)]
            wrong += [f"{path} includes {name}: only {allowed} may" for allowed in foreign if not re.match(f"({allowed})(/|$)", folder)]
            if quote == "<" or foreign:
                continue
            other = next((p for p in (name, f"{folder}/{name}") if p in files), None)
            if other is None:
                wrong.append(f"{path} includes {name}: not in the repository")
                continue
            above = str(pathlib.PurePosixPath(other).parent)
            graphs[0][path].add(other)
            graphs[1][folder] |= {above} - {folder}
            if (layer(above) or 0) > (layer(folder) or 0):
                wrong.append(f"{path} includes {name}: {above} is above {folder}")
    defined = collections.defaultdict(set)
    for path, text in files.items():
        namespace = ""
        for opened, name in TYPE.findall(text) if re.match(r"(sw|systemc|study|cli)/.*\.h$", path) else ():
            namespace = opened or namespace
            defined[f"{namespace}::{name}"] |= {path} if name else set()
    wrong += [f"{name} is defined in {' and '.join(sorted(where))}" for name, where in sorted(defined.items()) if len(where) > 1]
    for graph in graphs:
        done = set()
        wrong += [f"cycle: {' -> '.join(found)}" for node in sorted(graph) if (found := cycle(node, graph, done))]
    return wrong


def main():
    tracked = subprocess.run(["git", "ls-files", "*.h", "*.cpp", "*.cu", "*.cuh", "rtl/*.sv"], capture_output=True, text=True, check=True)
    files = {p: pathlib.Path(p).read_text() for p in tracked.stdout.split() if pathlib.Path(p).exists()}
    wrong = check({p: t for p, t in files.items() if not p.endswith(".sv")})
    lines = {p: t.count("\n") for p, t in files.items() if re.match(r"(rtl|sw|systemc|study|cli)/", p)}
    for folder in sorted({m[0] for p in lines if (m := re.match(r"sw/\w+", p))}):
        share = sum(n for p, n in lines.items() if p.startswith(f"{folder}/")) / sum(lines.values())
        if "--verbose" in sys.argv:
            print(f"{share:6.1%} {folder}")
        if share > 0.25:
            wrong.append(f"{folder} holds {share:.0%} of all code: more than a quarter")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
