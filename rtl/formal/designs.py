# SPDX-License-Identifier: Apache-2.0
"""What rtl/formal/run.py proves: .sby files, their broken designs, and of those that take minutes what has run, in
results/formal/long.json."""
import fcntl
import hashlib
import json
import os
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMAL = ROOT / "rtl/formal"
RAN = ROOT / "results/formal/long.json"


def parse(path):
    """{task: {section: [lines]}} of an .sby file; one task "" when it has no [tasks]."""
    sections, name = {}, None
    for raw in re.sub(r"\s*\\\n\s*", " ", path.read_text()).splitlines():   # a backslash at its end: the line goes on
        line = raw.split("#")[0].rstrip()
        if header := re.fullmatch(r"\[(\w+)\]", line):
            name = header[1]
            sections[name] = []
        elif line and name:
            sections[name].append(line)
    tasks = {line.split()[0]: line.split() for line in sections.pop("tasks",
        [])} or {"": []}   # with the groups that each is in
    tags = set().union(*tasks.values())
    out = {}
    for task in tasks:
        out[task] = {}
        for name, lines in sections.items():
            kept = []
            for line in lines:
                tag = re.match(r"(~?)(\w+):\s+(.*)", line)
                if tag and tag[2] in tags:
                    if (tag[2] in tasks[task]) != (tag[1] == "~"):
                        kept.append(tag[3])
                else:
                    kept.append(line)
            out[task][name] = kept
        out[task]["options"] = dict(line.split(None, 1) for line in out[task]["options"])
    return out


def mutants_of(module):
    path = FORMAL / f"mutants/{module}.toml"
    return tomllib.loads(path.read_text()) if path.exists() else {}


def broken_designs(module):
    broken = mutants_of(module)
    of_all = {key: value for key, value in broken.items() if not isinstance(value, dict)
              and key != "long"}   # task and depth
    mutants = []
    for file, rows in broken.items():
        for name, (find, replace, *rest) in rows.items() if isinstance(rows, dict) else ():
            own = rest.pop() if isinstance(rest[-1], dict) else {}
            mutants.append({**of_all, **own, "name": name, "file": file, "find": find, "replace": replace,
                            "fails": rest})
    return mutants


def hashed(*texts):
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def without_checks(text):
    """Without a module's checks of its parameters: where the design is built, they left nothing in it."""
    inner = r"(?:[^()]|\([^()]*\))*"
    return re.sub(rf" if \((?:[^()]|\({inner}\))*\) \$error\(\"[^\"]*\"\);", "", text)


def bare(path):
    """A source without what changes nothing: comments, blanks, checks of parameters."""
    return without_checks(re.sub(r"\s+", " ", re.sub(r"//.*|/\*.*?\*/", "", path.read_text())))


def key(sections, mutant=None):
    """{"proof": hash, "rtl": hash} of a task, or of a mutant in it."""
    sources = [FORMAL / line.split()[-1] for line in sections["files"]]
    of = lambda here: [bare(path) for path in sources if (path.parent == FORMAL) == here]
    return {"proof": hashed(json.dumps([sections, mutant]), *of(True)), "rtl": hashed(*of(False))}


def ran():
    return json.loads(RAN.read_text()) if RAN.exists() else {}


def remember(name, what):
    """Adds to the record, which other runs may be adding to."""
    RAN.parent.mkdir(exist_ok=True)
    folder = os.open(RAN.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    part = RAN.with_suffix(".part")
    part.write_text(json.dumps(dict(sorted((ran() | {name: what}).items())), indent=0) + "\n")
    os.replace(part, RAN)
    os.close(folder)


def long_ones(module):
    """[(name, key)] of the tasks and mutants of a module that quick runs leave out."""
    tasks, mutants = parse(FORMAL / f"{module}.sby"), mutants_of(module).get("long")
    first = next(name for name, sections in tasks.items() if sections["options"]["mode"] != "cover")
    yield from ((f"{module} {name}", key(sections)) for name, sections in tasks.items() if name.startswith("long"))
    for mutant in broken_designs(module):
        task = mutant.get("task", first)
        if mutants or task.startswith("long"):
            yield f"{module} mutant {mutant['name']}", key(tasks[task], mutant)


def check(modules):
    """Names what takes minutes and has been edited since it ran; the RTL under it may have been."""
    done = ran()
    every = [(name, what, done.get(name, {})) for module in modules for name, what in long_ones(module)]
    edited = [name for name, what, then in every if then.get("proof") != what["proof"]]
    for name in edited:
        print(f"{name}: not run since it was edited: rtl/formal/run.sh {name.split()[0]} --long --due"
              + " --mutants" * (" mutant " in name))
    print(f"{len(every)} long proofs and mutants: {len(edited)} edited since they ran, the RTL of "
          f"{sum(then.get('rtl') != what['rtl'] for _, what, then in every)}")
    return not edited
