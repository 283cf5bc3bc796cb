# SPDX-License-Identifier: Apache-2.0
"""Liberty of synth/tech/*.cells, which write a table of a cell in a row."""
import re

# The rows of a .cells file, which stand for groups with tables: word pin [sense [type]] : numbers of each table | ...
ROWS = {"arc": ("timing", "delay_load_slew", ("cell_rise", "rise_transition", "cell_fall", "fall_transition")),
        "check": ("timing", "check_slew", ("rise_constraint", "fall_constraint")),
        "energy": ("internal_power", "energy_load_slew", ("rise_power", "fall_power")),
        "input_energy": ("internal_power", "energy_slew", ("rise_power", "fall_power"))}
SENSES = {"neg": "negative_unate", "pos": "positive_unate", "non": "non_unate"}


def expand(text):
    """Liberty of a .cells file: Liberty itself, but for rows as in ROWS, `cell name area leakage {`, `in pin capacitance` and
    `out pin capacitance function`, to which the rows behind it belong."""
    out, in_pin = [], False
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        if in_pin and word not in ROWS:
            out.append("    }")
            in_pin = False
        if word == "cell" and "(" not in rest:
            name, area, leakage, _ = rest.split()
            out += [f"  cell ({name}) {{", f"    area : {area};  cell_leakage_power : {leakage};"]
        elif word == "out":
            pin, most, function = rest.split(None, 2)
            out += [f"    pin ({pin}) {{", f'      direction : output;  function : "{function}";  max_capacitance : {most};']
            in_pin = True
        elif word == "in":
            pin, capacitance = rest.split()
            out += [f"    pin ({pin}) {{", f"      direction : input;  capacitance : {capacitance};", "    }"]
        elif word in ROWS:
            about, numbers = rest.split(":")
            pin, *words = about.split() or [""]
            said = [f'related_pin : "{pin}";'] if pin else []
            said += [f"timing_type : {w};" for w in words if w not in SENSES] + [f"timing_sense : {SENSES[w]};" for w in words if w in SENSES]
            kind, template, tables = ROWS[word]
            out.append(f"      {kind} () {{ {'  '.join(said)}".rstrip())
            for table, values in zip(tables, numbers.split("|")):
                rows = re.findall(r"(\S+) (\S+)", values)
                out.append(f"        {table} ({template}) {{ values ({', '.join(f'{chr(34)}{a}, {b}{chr(34)}' for a, b in rows)}); }}")
            out.append("      }")
        else:
            out.append(line)
    return "\n".join(out) + "\n"
