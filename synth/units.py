# SPDX-License-Identifier: Apache-2.0
"""A Liberty file in ns, pF and V: the flow, Yosys, ABC and OpenSTA then read the same numbers, whatever the units of the file are."""
import re

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
UNITS = {   # attribute: its values as multiples of what the flow counts in; capacitive_load_unit has a number and one of these
    "time_unit": {"1ps": 1e-3, "10ps": 1e-2, "100ps": 1e-1, "1ns": 1},
    "capacitive_load_unit": {"ff": 1e-3, "pf": 1},
    "voltage_unit": {"1mv": 1e-3, "10mv": 1e-2, "100mv": 1e-1, "1v": 1},
    "leakage_power_unit": {f"{n}{p}w": n * scale for p, scale in (("m", 1e6), ("u", 1e3), ("n", 1), ("p", 1e-3)) for n in (1, 10, 100)},
}
NORMAL = {"time_unit": '"1ns"', "capacitive_load_unit": "1, pf", "voltage_unit": '"1V"'}
# Of which quantity the values of a table are, by its group.
TABLES = {**dict.fromkeys(["cell_rise", "cell_fall", "rise_transition", "fall_transition", "rise_constraint", "fall_constraint", "retaining_rise",
                           "retaining_fall", "retain_rise_slew", "retain_fall_slew", "rise_propagation", "fall_propagation"], "time"),
          **dict.fromkeys(["rise_power", "fall_power", "power"], "energy")}
TIMES = re.compile(r"(default_)?(max|min)_transition|min_pulse_width_(high|low)|min(imum)?_period|(default_)?intrinsic_(rise|fall)|(default_)?slope_(rise|fall)")
CAPACITANCES = re.compile(r"\w*capacitance(_range)?|default_\w*_pin_cap")


def unit(root, path, name):
    """How much of ns, pF, V or nW an attribute of the library says; without it what Yosys and OpenSTA take it for, 1 ns and so on."""
    said = root.get(name)
    if said is None:
        return 1
    number, word = 1.0, said.lower()
    if name == "capacitive_load_unit":
        number, _, word = (float(NUMBER.match(said)[0]) if NUMBER.match(said) else 0.0), *word.partition(" ")[1:]
    allowed = UNITS[name]
    if word.strip() not in allowed or number <= 0:
        raise SystemExit(f"synth: {path}:{root.places[name][0]}: {name} = {said}: must be "
                         f"{'a number and ' if name == 'capacitive_load_unit' else ''}one of {', '.join(allowed)}")
    return number * allowed[word.strip()]


def quantity(group, name, templates):
    """What an attribute's numbers are of."""
    if name == "values":
        return TABLES.get(group.kind)
    if name.startswith("index_"):
        variable = (group if group.get("variable_1") else templates.get((group.args or [""])[0], group)).get("variable_" + name[6:], "")
        return "capacitance" if "capacitance" in variable else "time" if "transition" in variable or "time" in variable else None
    if CAPACITANCES.fullmatch(name):
        return "capacitance"
    return "time" if TIMES.fullmatch(name) else "voltage" if name in ("nom_voltage", "voltage") else None


def normal(text, root, path):
    """The text of a library with ns, pF and V; None when it has them already."""
    time, capacitance, voltage = (unit(root, path, name) for name in NORMAL)
    if time == capacitance == voltage == 1:
        return None
    factors = {"time": time, "capacitance": capacitance, "voltage": voltage, "energy": voltage * voltage * capacitance}
    templates = {g.args[0]: g for g in root.groups if g.kind.endswith("template") and g.args}
    edits = []

    def walk(group):
        for name, (_, *spans) in group.places.items():
            factor = factors.get(quantity(group, name, templates))
            for begin, end in spans:
                if group is root and name in NORMAL:
                    edits.append((begin, end, NORMAL[name]))
                elif factor:
                    edits.append((begin, end, NUMBER.sub(lambda m: f"{float(m[0]) * factor:.9g}", text[begin:end])))
        for inner in group.groups:
            walk(inner)

    walk(root)
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text
