# SPDX-License-Identifier: Apache-2.0
"""Maps a module of rtl/sluice.f to the cells of a Liberty file with Yosys and its ABC."""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile

import latches

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/synth"
OF_THE_FLOW = ("mapping.py", "latches.py", "clock_gate.v", "clock_gate_map.v")
FILES = (ROOT / "rtl/sluice.f").read_text().split()

# ABC scripts that were compared (docs/user/synthesis.md); {d} is the clock period in ps.
SCRIPTS = {
    "amap": "strash; ifraig; scorr; dc2; dch; amap -m; topo; buffer -c; upsize -D {d}; dnsize -D {d}",
    "map": "strash; ifraig; scorr; dc2; dch -f; map -B 0.9; topo; buffer -c; upsize -D {d}; dnsize -D {d}",
    "deep": "strash; ifraig; scorr; dc2; &get -n; &st; &dch -f; &nf; &put; topo; buffer -c; upsize -D {d}; dnsize -D {d}",
    "area": "strash; ifraig; scorr; dc2; dch; amap -m; topo; buffer -c; dnsize",
    # `if -g` makes the logic shallow first: what dc2 left as ripples becomes trees.
    "level": "strash; ifraig; scorr; dc2; strash; dch; if -g -K 4; strash; dch; amap -m; topo; buffer -c; upsize -D {d}; dnsize -D {d}",
    "fast": "strash; ifraig; scorr; dc2; strash; dch; if -g -K 8; strash; if -g -K 6; strash; dch; &get -n; &nf; &put; topo; buffer -c -N 16; upsize -D {d}; dnsize -D {d}",
}
# Few cells whatever the clock: more rounds of rewriting, few buffers. With it registers share master latches (latches.py), registers of a bit share the clock
# gates of wider ones, and the latches of the gates have no inverters of their own.
SCRIPTS["small"] = ("strash; ifraig; scorr; balance -l; resub -K 6 -l; rewrite -l; resub -K 6 -N 2 -l; refactor -l; resub -K 8 -l; balance -l; resub -K 8 -N 2 -l; "
                    "rewrite -l; resub -K 10 -l; rewrite -z -l; resub -K 10 -N 2 -l; balance -l; resub -K 12 -l; refactor -z -l; resub -K 12 -N 2 -l; rewrite -z -l; "
                    "balance -l; dch; amap -m; topo; buffer -c -N 24; dnsize")
DEFAULT = "fast"


HERE = "the work folder"   # in a script: where it runs, by a path that has no blanks, as Yosys passes it on to ABC


def yosys(script, work, name):
    """Runs a Yosys script in a folder; its output stays in <name>.log."""
    log = work / f"{name}.log"
    with tempfile.TemporaryDirectory() as folder:
        link = pathlib.Path(folder) / "work"
        link.symlink_to(work)
        (work / f"{name}.ys").write_text(script.replace(HERE, str(link)))
        run = subprocess.run(["yosys", "-q", "-l", str(log), f"{name}.ys"], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode:
        lines = run.stdout.strip().splitlines() or [""]
        said = next((line for line in lines if "error" in line.lower()), lines[-1])
        if "ABC" in said:   # which ended before it was done; what it stopped at is in the log
            spoken = [line for line in log.read_text(errors="replace").splitlines() if re.match(r"ABC: [A-Z]\w*\(\)", line) and "skipped" not in line]
            said = " ".join([said, *spoken[-1:]])
        library = str((work / "cells.lib").resolve())   # not by the name that it has here
        raise SystemExit(f"synth: Yosys failed, see {log}: " + re.sub(r"(\S*/)?cells\.lib", lambda _: library, said))


def kept(path):
    """What an earlier run left as JSON; None when there is none that can be read."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def sources(module):
    """The RTL files that a module is made of: packages, and the modules that it instantiates."""
    files = {pathlib.Path(f).stem: f for f in FILES}
    used, todo = {name for name in files if name.endswith("_pkg")}, [module]
    while todo:
        name = todo.pop()
        used.add(name)
        named = set(re.findall(r"^\s*(\w+) (?:#\(|i_\w+ \()", (ROOT / files[name]).read_text(), re.M))
        todo += (named & files.keys()) - used
    return [f for name, f in files.items() if name in used]


def with_fields(fields):
    """The text of sluice_pkg with other widths."""
    text = (ROOT / "rtl/sluice_pkg.sv").read_text()
    for name, width in fields.items():
        text, found = re.subn(rf"(localparam int unsigned {name} +=) \d+;", rf"\1 {width};", text)
        if found != 1:
            raise SystemExit(f"synth: sluice_pkg has no width {name}")
    return text


def elaborate(module, parameters, package=None):
    """Yosys commands that read the RTL, with another file in place of sluice_pkg's if one is given, and flatten a module."""
    chparams = "".join(f" -set {k} {v}" for k, v in parameters.items())
    files = " ".join(f'"{package if package and f.endswith("/sluice_pkg.sv") else ROOT / f}"' for f in sources(module))
    return (f"read_verilog -sv {files}\n" + (f"chparam{chparams} {module}\n" if chparams else "") +
            f"hierarchy -check -top {module}\nrename -top {module}\nproc\nflatten\nopt_clean\n")


def edit(path, module, change):
    """Rewrites a module that Yosys wrote as JSON."""
    design = json.loads(path.read_text())
    change(design["modules"][module])
    path.write_text(json.dumps(design))


def map_module(module, parameters, library, period_ns, script=DEFAULT, gate=True, fields=None):
    """Maps a module, with other widths of sluice_pkg where `fields` has them; returns its work folder with netlist.v, and its statistics.
    Work done before with the same input is kept."""
    small = script == "small"
    key = hashlib.sha256()
    for part in [module, json.dumps(parameters, sort_keys=True), library.path.read_text(errors="replace"), str(period_ns), SCRIPTS[script],
                 str(gate), library.latch_map(small) if library.latch else "", *((ROOT / "synth" / f).read_text() for f in OF_THE_FLOW),
                 *((ROOT / f).read_text() for f in sources(module))]:
        key.update(part.encode())
    if fields:
        key.update(with_fields(fields).encode())
    tag = "_".join([module, *(f"{k}{v}" for k, v in sorted((parameters | (fields or {})).items())), library.path.stem.replace(" ", "_"), script, "gated" if gate else "plain"])
    work = BUILD / f"{tag}-{key.hexdigest()[:12]}"
    stats = work / "stats.json"
    work.mkdir(parents=True, exist_ok=True)
    own = work / f"cells.{os.getpid()}"   # the tools read the library by this name: OpenSTA takes no path with blanks, either
    own.symlink_to(library.path)
    own.replace(work / "cells.lib")
    if kept(stats) is None:
        (work / "abc.constr").write_text(f"set_driving_cell {library.inverter(2).name}\nset_load 5.0 [all_outputs]\n")
        package = None
        if fields:
            package = work / "sluice_pkg.sv"
            package.write_text(with_fields(fields))
        abc = SCRIPTS[script].format(d=round(period_ns * 1000))
        (work / "abc.script").write_text(abc.replace("; ", "\n") + "\n")
        gate = gate and library.latch is not None
        if gate:
            (work / "latch_map.v").write_text(library.latch_map(small))
        gating = f"""read_verilog -icells -lib "{ROOT}/synth/clock_gate.v"
techmap -D FEWEST={1 if small else 2} -map "{ROOT}/synth/clock_gate_map.v" {'a:gated' if small else ''}
opt_clean
opt_merge -share_all
delete clock_gate
read_verilog -icells "{ROOT}/synth/clock_gate.v"
flatten
opt_clean
""" if gate else ""
        registers = f"""{elaborate(module, parameters, package)}
opt_expr
opt_clean
check
opt -nodffe -nosdff
wreduce
peepopt
opt_clean
alumacc
opt
memory -nomap
opt_clean
opt -fast -full
memory_map
opt -undriven -fine
opt_dff -nosdff
"""
        gates = f"""{gating}techmap
opt -fast
"""
        cells = f"""{'techmap -map latch_map.v' if gate else ''}
dfflibmap -liberty cells.lib
opt
abc -liberty {HERE}/cells.lib -constr {HERE}/abc.constr -D {round(period_ns * 1000)} -script {HERE}/abc.script
setundef -zero
opt_clean
write_json netlist.json
opt_clean -purge
splitnets -ports -format __
opt_clean
write_verilog -noattr -noexpr netlist.v
tee -o stat.txt stat -liberty cells.lib
"""
        if gate:
            step = work / "step.json"
            if small:
                yosys(f"{registers}opt_merge -share_all\nwrite_json step.json\n", work, "registers")
                edit(step, module, latches.mark_gated)
                (work / "names.il").write_text("autoidx 100000000\n")   # a new run of Yosys numbers its names from here, not as the last one did
            yosys(("read_ilang names.il\nread_json step.json\n" if small else registers) + f"{gates}write_json step.json\n", work, "gates")
            edit(step, module, lambda m: latches.share_masters(m, library, latches.FEWEST_ROWS if small else latches.FEWEST_ROWS_FOR_A_CLOCK))
            yosys(f"read_json step.json\n{cells}", work, "map")
        else:
            yosys(registers + gates + cells, work, "map")
        counts = {}
        for cell in json.loads((work / "netlist.json").read_text())["modules"][module]["cells"].values():
            counts[cell["type"]] = counts.get(cell["type"], 0) + 1
        unknown = set(counts) - set(library.cells)
        if unknown:
            raise SystemExit(f"synth: {module}: not mapped to {library.path.name}: {', '.join(sorted(unknown))}")
        result = {"area_um2": round(sum(library.cells[c].area * n for c, n in counts.items()), 2), "cells": sum(counts.values()),
                  "flops": sum(n for c, n in counts.items() if library.cells[c].flop),
                  "latches": sum(n for c, n in counts.items() if library.cells[c].latch), "counts": dict(sorted(counts.items()))}
        part = stats.with_suffix(".part")   # an interruption leaves no statistics, or all of them
        part.write_text(json.dumps(result, indent=1))
        part.replace(stats)
    found = json.loads(stats.read_text())
    found["leakage_mw"] = round(sum(library.cells[c].leakage * n for c, n in found["counts"].items()) * 1e-6, 6)
    return work, found
