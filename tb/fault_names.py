# SPDX-License-Identifier: Apache-2.0
"""What a fault of Yosys' `mutate` is, in words that outlive a change elsewhere, and the entry of tb/mutation_equivalent.toml that argues it away."""
import re

from bench_build import ROOT, RTL


def source(module):
    return next(ROOT / f for f in RTL if f.endswith(f"/{module}.sv")).read_text().splitlines()


def place(mutation):
    """File and line of the fault; Yosys also names the instances above it, whose text begins with the instance's name, and line 0 for defaults."""
    found = ("?", 1)
    for file, line, column in re.findall(r"-src \S*/(\w+)\.sv:(\d+)\.(\d+)", mutation):
        if line != "0" and not source(file)[int(line) - 1][int(column) - 1:].startswith("i_"):
            found = (file, int(line))
    return found


def block(mutation):
    return place(mutation)[0]


def choices(folder):
    """{multiplexer of the flattened design: what it chooses, and by what, where the source has names for them}"""
    name = r"\S*\\\\?([\w.]+)(?:\[\d+:\d+\])?( \[\d+\])?"
    found = {}
    for cell, body in re.findall(r"^  cell \$mux (\S+)\n(.*?)^  end", (folder / "flat.il").read_text(), re.M | re.S):
        ports = {port: "".join(m.groups("")).rsplit(".", 1)[-1] for port in "YS" if (m := re.search(rf"connect \\{port} {name}$", body, re.M))}
        found[cell] = "".join(f" {word} {ports[port]}" for word, port in (("for", "Y"), ("if", "S")) if port in ports)
    return found


def describe(mutation, chosen={}):
    """The fault in words that outlive a change elsewhere: file, text of the source line, and what happens to which bit of what, in which instance."""
    option = dict(re.findall(r"-(\w+) (\S+)", mutation))
    file, line = place(mutation)
    text = source(file)[line - 1].strip() if file != "?" else ""
    kind = re.sub(r"^.*\$", "", re.sub(r"\$\d+$|\$[^$]*\.sv.*$", "", option["cell"]))
    instance = re.match(r"\$flatten\\([\w.\\\[\]]+)\.\$", option["cell"])
    return {"file": f"{file}.sv", "line": line, "text": text,
            "fault": f"{option['mode']} {kind}.{option['port']}[{option['portbit']}]" + (f" by [{option['ctrlbit']}]" if "ctrlbit" in option else "")
                     + (f" of {option['wire']}[{option['wirebit']}]" if "wire" in option else "") + chosen.get(option["cell"], "")
                     + (" in " + instance[1].replace("\\", "") if instance else "")}


def argument(argued, design, place):
    """The entry that says why this survivor is no fault, or None."""
    for entry in argued:
        if entry["design"] == design and entry["file"] == place["file"] and re.search(entry["text"], place["text"]) and re.search(entry["fault"], place["fault"]):
            return entry
    return None
