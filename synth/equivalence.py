# SPDX-License-Identifier: Apache-2.0
"""Is a mapped netlist its RTL? Every register is cut: its output becomes an input of both sides, its next state an output, and
berkeley-abc's cec compares all outputs. Registers correspond by the names that Yosys keeps; one that the netlist made a constant, or merged
with another, is compared as such. A row latch (latches.py) is a register, its master a wire that holds while the clock is high. The clock stays a signal:
a gate that lets it through in the wrong cycle, or while it is low, is seen."""
import json
import random
import subprocess

import latches
import liberty
import mapping

GATES = {"$_NOT_": "!A", "$_BUF_": "A", "$_AND_": "A&B", "$_OR_": "A|B", "$_XOR_": "A^B", "$_XNOR_": "!(A^B)", "$_NAND_": "!(A&B)",
         "$_NOR_": "!(A|B)", "$_ANDNOT_": "A&!B", "$_ORNOT_": "A|!B", "$_MUX_": "(A&!S)|(B&S)"}
GATES_ONLY = "memory_map\nopt_clean\ntechmap\ndffunmap\nopt_clean\n"
SWAPS = [({"11"}, {"01", "10", "11"}), ({"00", "01", "10"}, {"00"}), ({"01", "10"}, {"00", "11"})]   # AND and OR, NAND and NOR, XOR and XNOR


class Side:
    """One of the two: a flat module of Yosys' JSON, its registers found."""

    def __init__(self, path, module, library):
        data = json.loads(path.read_text())["modules"][module]
        self.cells, self.library = data["cells"], library
        self.inputs = [(f"{n}[{i}]", b) for n, p in data["ports"].items() if p["direction"] == "input" for i, b in enumerate(p["bits"])]
        self.outputs = [(f"{n}[{i}]", b) for n, p in data["ports"].items() if p["direction"] == "output" for i, b in enumerate(p["bits"])]
        self.names = {f"{n}[{i}]": b for n, net in sorted(data["netnames"].items()) if not net.get("hide_name") for i, b in enumerate(net["bits"])}
        self.hidden = [net["bits"] for net in data["netnames"].values() if net.get("hide_name")]
        self.clock = next(b for n, b in self.inputs if n == "clk_i[0]")
        self.rows = latches.row_latches(self.cells, library, self.clock)
        self.flops = {}     # output bit -> cell name
        for name, cell in self.cells.items():
            if cell["type"].startswith("$_DFF"):
                self.flops[cell["connections"]["Q"][0]] = name
            elif cell["type"] in library.cells and (library.cells[cell["type"]].flop or name in self.rows):
                for pin in library.cells[cell["type"]].outputs:
                    self.flops[cell["connections"][pin][0]] = name
        self.by_bit = {}
        for name, bit in self.names.items():
            if bit in self.flops:
                self.by_bit.setdefault(bit, []).append(name)

    def beside(self, name):
        """The register that stands where this bit of a register should, in a net that Yosys made and that has other bits of it: `wreduce` drops the names of
        high bits. Whatever registers are held against each other, what is shown holds: outputs and all next states are alike."""
        word, index = name[:-1].rsplit("[", 1)
        for bits in self.hidden:
            for other, bit in enumerate(bits):
                for known in self.by_bit.get(bit, []):
                    if known.startswith(word + "["):
                        place = other + int(index) - int(known[len(word) + 1:-1])
                        if 0 <= place < len(bits) and bits[place] in self.flops and bits[place] not in self.by_bit:
                            return bits[place]
        return None

    def write(self, path, module, free, flop_signal, next_of, low):
        """BLIF; low: latches of the netlist that are open while the clock is low. `free`: names of all inputs;
        flop_signal: register's bit -> signal; next_of: [(output name, register's bit or constant)]."""
        signal = lambda bit: {"0": "$false", "1": "$true", "x": "$false"}.get(bit, f"n{bit}") if isinstance(bit, str) else f"n{bit}"
        lines = [f".model {module}", ".inputs " + " ".join(free),
                 ".outputs " + " ".join([n for n, _ in self.outputs] + [n for n, _ in next_of] + [f"latch_{i}" for i in range(low)]),
                 ".names $false", ".names $true", "1"]
        lines += [line for name, bit in self.inputs for line in (f".names {name} n{bit}", "1 1")]
        lines += [line for bit, source in flop_signal.items() for line in (f".names {source} n{bit}", "1 1")]
        lines += [line for name, bit in self.outputs for line in (f".names {signal(bit)} {name}", "1 1")]
        states, count = {}, 0
        for name, cell in self.cells.items():
            pins = {p: signal(b[0]) for p, b in cell["connections"].items() if b}
            kind = cell["type"]
            if kind in GATES:
                self.function(lines, GATES[kind], pins, pins["Y"])
            elif kind.startswith("$_DFF_"):
                reset = kind[7:-1]   # "", "N0", "N1", "P0", "P1"
                state = {"D": pins["D"], "Q": pins["Q"], "C": pins["C"], "R": pins.get("R", "$false")}
                step = "(C&D)|(!C&Q)" if kind[6] == "P" else "(!C&D)|(C&Q)"
                active = {"": None, "N": "!R", "P": "R"}[reset[:1]]
                states[cell["connections"]["Q"][0]] = (step if not active else f"(!({active})&({step}))" if reset[1] == "0" else f"({active})|({step})", state)
            else:
                lib = self.library.cells[kind]
                if name in self.rows:
                    enable, data, out = self.library.latch_pins()
                    states[cell["connections"][out][0]] = ("(E&D)|(!E&STATE)", {"E": pins[enable], "D": pins[data], "STATE": pins[out]})
                elif lib.latch:
                    out = next(p for p in lib.outputs if lib.function(p) == lib.latch.args[0])
                    lines += [f".names {pins[lib.latch.get('data_in')]} {pins[out]}", "1 1"]
                    self.function(lines, lib.latch.get("enable"), pins, f"latch_{count}")
                    count += 1
                elif lib.flop:
                    step = f"(({lib.flop.get('clocked_on')})&({lib.flop.get('next_state')}))|(!({lib.flop.get('clocked_on')})&STATE)"
                    if lib.flop.get("preset"):
                        step = f"({lib.flop.get('preset')})|({step})"
                    if lib.flop.get("clear"):
                        step = f"(!({lib.flop.get('clear')}))&({step})"
                    for pin in lib.outputs:
                        if lib.function(pin) == lib.flop.args[0] and cell["connections"][pin]:
                            states[cell["connections"][pin][0]] = (step, {**pins, "STATE": pins[pin]})
                else:
                    for pin in lib.outputs:
                        self.function(lines, lib.function(pin), pins, pins[pin])
        for i in range(count, low):
            lines += [f".names n{self.clock} latch_{i}", "0 1"]
        for name, bit in next_of:
            if bit in states:
                self.function(lines, states[bit][0], states[bit][1], name)
            else:
                lines += [f".names {signal(bit)} {name}", "1 1"]
        path.write_text("\n".join(lines) + "\n.end\n")

    @staticmethod
    def function(lines, text, pins, out):
        names = [p for p in pins if p in set(liberty.re.findall(r"[A-Za-z_]\w*", text))]
        lines.append(f".names {' '.join(pins[p] for p in names)} {out}")
        for row in range(1 << len(names)):
            values = {p: row >> i & 1 for i, p in enumerate(names)}
            if liberty.evaluate(text, values):
                lines.append("".join(str(values[p]) for p in names) + (" 1" if names else "1"))


def exchanges(library):
    """{gate of two inputs: the one with the same pins whose function is another of SWAPS}."""
    truths = {}
    for name, cell in library.cells.items():
        if len(cell.inputs) == 2 and len(cell.outputs) == 1 and cell.is_gate():
            truths.setdefault((*cell.inputs, cell.outputs[0], frozenset(cell.truth(cell.outputs[0]))), []).append(name)
    found = {}
    for one, other in [*SWAPS, *((b, a) for a, b in SWAPS)]:
        for (*pins, truth), names in truths.items():
            if truth == one and (*pins, frozenset(other)) in truths:
                found |= dict.fromkeys(names, truths[(*pins, frozenset(other))][0])
    return found


def compare(module, parameters, library, work, seed=0):
    """(equivalent, registers compared, what ABC said). With a seed one gate of the netlist is exchanged first."""
    gold_file = work / "gold.json"
    if not gold_file.exists():
        mapping.yosys(mapping.elaborate(module, parameters) + GATES_ONLY + "write_json gold.json\n", work, "gold")
    gold, gate = Side(gold_file, module, library), Side(work / "netlist.json", module, library)
    if seed:
        exchanged = exchanges(library) | {"$_AND_": "$_OR_", "$_OR_": "$_AND_"}
        candidates = sorted(n for n, c in gate.cells.items() if c["type"] in exchanged)
        if not candidates:
            raise SystemExit(f"synth: {module}: no gate that could be exchanged, to see that a broken netlist is refused")
        cell = gate.cells[random.Random(seed).choice(candidates)]
        cell["type"] = exchanged[cell["type"]]
    free = [n for n, _ in gold.inputs]
    gate_signal, gold_signal, gold_next, gate_next = {}, {}, [], []
    twins = {}   # registers of one D, clock and reset hold the same: Yosys keeps an address twice when it may be part of a memory
    for index, (bit, name) in enumerate(gate.flops.items()):
        pins, kind = gate.cells[name]["connections"], gate.cells[name]["type"]
        same = (kind, *(str(pins[p]) for p in (library.cells[kind].inputs if kind in library.cells else sorted(pins.keys() - {"Q"}))))
        gate_signal[bit] = twins.setdefault(same, f"flop_{index}")
    free += list(twins.values())
    lost = 0
    for index, bit in enumerate(gold.flops):
        names = gold.by_bit.get(bit, [])
        found = next((gate.names[n] for n in names if n in gate.names), None)
        if found not in gate_signal and found not in ("0", "1"):
            found = next(filter(None, map(gate.beside, names)), found)
        if found in gate_signal:
            gold_signal[bit] = gate_signal[found]
        elif found in ("0", "1"):
            gold_signal[bit] = "$true" if found == "1" else "$false"
        else:                       # the netlist does without it: then nothing compared may depend on it
            gold_signal[bit] = f"lost_{lost}"
            free.append(f"lost_{lost}")
            lost += 1
            continue
        gold_next.append((f"next_{index}", bit))
        gate_next.append((f"next_{index}", found))
    low = sum(1 for c in gate.cells.values() if c["type"] in library.cells and library.cells[c["type"]].latch) - len(gate.rows)
    name = f"mutant{seed}" if seed else "netlist"
    gold.write(work / "gold.blif", module, free, gold_signal, gold_next, low)
    gate.write(work / f"{name}.blif", module, free, gate_signal, gate_next, low)
    run = subprocess.run(["berkeley-abc", "-c", f"read_blif gold.blif; strash; write_aiger gold.aig; read_blif {name}.blif; strash; "
                          f"write_aiger {name}.aig; cec -n gold.aig {name}.aig"], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    (work / f"{name}.cec.log").write_text(run.stdout)
    if "equivalent" not in run.stdout and "NOT EQUIVALENT" not in run.stdout.upper():
        raise SystemExit(f"synth: cec gave no answer, see {work}/{name}.cec.log:\n{run.stdout[-400:]}")
    return "Networks are equivalent" in run.stdout, len(gold_next), run.stdout.strip().splitlines()[-1]
