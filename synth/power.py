# SPDX-License-Identifier: Apache-2.0
"""Dynamic power and leakage of a mapped netlist from what happened in a real run.

Registers and inputs are taken cycle by cycle from a waveform of the RTL (the netlist keeps their names); everything between them is
computed from the netlist, all cycles at once: a net is one long integer, bit t its value in cycle t. So transitions are exact but for
glitches, which zero-delay values don't have. Energies: switching C V^2 / 2 a transition; internal by the arcs of the pins that moved, their
`when` conditions as they held; clock pins by the cycles in which the gate in front of them let the clock through; leakage as the library
gives it."""
import copy
import json
import subprocess
import threading

import latches
import liberty
import mapping

SLEW = 0.05   # ns, of all energies: near the median of the netlists here; its influence has not been measured
PORT_LOAD = 0.005   # pF
COMPILING = threading.Lock()


def changes(path, scope):
    """Lines of fst_changes for a waveform; the program is compiled on first use, with the reader that Verilator carries."""
    program, verilator = mapping.BUILD / "fst_changes", "/usr/share/verilator/include/gtkwave"
    source = mapping.ROOT / "synth/fst_changes.cpp"
    with COMPILING:   # of threads, one
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            mapping.BUILD.mkdir(parents=True, exist_ok=True)
            objects = {c: str(mapping.BUILD / f"{c}.o") for c in ("fstapi", "fastlz", "lz4")}
            for c, o in objects.items():
                subprocess.run(["gcc", "-w", "-O2", f"-I{verilator}", "-DFST_CONFIG_INCLUDE=\"fst_config.h\"", "-c", f"{verilator}/{c}.c", "-o", o], check=True)
            subprocess.run(["g++", "-O2", f"-I{verilator}", str(source), *objects.values(), "-lz", "-lpthread", "-o", str(program)], check=True)
    with subprocess.Popen([program, path, scope], stdout=subprocess.PIPE, text=True) as run:
        yield from run.stdout
    if run.returncode:
        raise SystemExit(2)


class Waveform:
    """{signal bit name: integer, bit t = value in cycle t}. A cycle is a time at which the clock is low, with all else settled."""

    def __init__(self, lines, clock="clk_i"):
        signals, value, since, self.bits, self.cycles = {}, {}, {}, {}, 0
        changed, clock_number, started = set(), None, False
        rows = {}

        def settle(number):
            run = self.cycles - since[number]
            if run and number in value:
                ones = ((1 << run) - 1) << since[number]
                row = rows[number]
                for i, c in enumerate(reversed(value[number])):
                    if c == "1":
                        row[i] |= ones
            since[number] = self.cycles

        pending = {}

        def commit():   # the values that hold from the present time on
            for number, new in pending.items():
                settle(number)
                value[number] = new
            pending.clear()

        for line in lines:
            head, _, rest = line.rstrip("\n").partition(" ")
            if head == "s":
                name, width, number = rest.rsplit(" ", 2)
                number = int(number)
                signals[name] = number
                rows.setdefault(number, [0] * int(width))
                since[number] = 0
                if name == clock:
                    clock_number = number
            elif head == "t":
                commit()
                if started and value.get(clock_number) == "0":
                    self.cycles += 1
                started = True
            else:
                pending[int(head)] = rest
        commit()
        if clock_number is None:
            raise SystemExit(f"synth: the waveform has no {clock} in this scope")
        for number in rows:
            settle(number)
        for name, number in signals.items():
            for i, row in enumerate(rows[number]):
                self.bits[f"{name}[{i}]"] = row

    def rest(self, cycles=64):
        """The last cycle but one, held (the last has the end of the last CTA in it): the clock still runs."""
        still = copy.copy(self)
        still.cycles = cycles
        still.bits = {n: ((1 << cycles) - 1) * (row >> (self.cycles - 2) & 1) for n, row in self.bits.items()}
        return still


class Netlist:
    def __init__(self, path, module, library):
        data = json.loads(path.read_text())["modules"][module]
        self.library = library
        self.rows = latches.row_latches(data["cells"], library, data["ports"]["clk_i"]["bits"][0])
        self.cells = [(n, library.cells[c["type"]], {p: b[0] for p, b in c["connections"].items() if b}) for n, c in data["cells"].items()]
        self.ports = {f"{n}[{i}]": (b, p["direction"]) for n, p in data["ports"].items() for i, b in enumerate(p["bits"])}
        self.names = {}
        for name, net in sorted(data["netnames"].items()):
            if not net.get("hide_name"):
                for i, bit in enumerate(net["bits"]):
                    self.names.setdefault(bit, []).append(f"{name}[{i}]")
        self.load = {}
        for _, cell, pins in self.cells:
            for pin, bit in pins.items():
                if pin in cell.inputs:
                    self.load[bit] = self.load.get(bit, 0.0) + cell.pins[pin].number("capacitance")
        for bit, direction in self.ports.values():
            if direction == "output":
                self.load[bit] = self.load.get(bit, 0.0) + PORT_LOAD

    def evaluate(self, waveform):
        """(value of every net with the clock high, with the clock low, registers and inputs without a waveform)."""
        ones = (1 << waveform.cycles) - 1
        high, low, missing = {"0": 0, "1": ones, "x": 0}, {"0": 0, "1": ones, "x": 0}, []

        def source(bit, names):
            found = next((waveform.bits[n] for n in names if n in waveform.bits), None)
            if found is None:
                missing.append(names[0] if names else str(bit))
            high[bit] = low[bit] = found or 0

        for name, (bit, direction) in self.ports.items():
            if direction == "input" and name != "clk_i[0]":
                source(bit, [name])
        clock = self.ports["clk_i[0]"][0]
        high[clock], low[clock] = ones, 0
        waiting = []
        for item in self.cells:
            name, cell, pins = item
            if cell.flop or name in self.rows:
                for pin in cell.outputs:
                    if pin in pins:
                        source(pins[pin], self.names.get(pins[pin], []))
            else:
                waiting.append(item)
        while waiting:
            later = []
            for item in waiting:
                _, cell, pins = item
                if cell.latch:
                    data = pins[cell.latch.get("data_in")]
                    if data not in high:
                        later.append(item)
                        continue
                    for pin in cell.outputs:
                        if pin in pins:
                            high[pins[pin]] = low[pins[pin]] = high[data]
                elif any(pins[p] not in high for p in cell.inputs if p in pins):
                    later.append(item)
                else:
                    for pin in cell.outputs:
                        if pin in pins:
                            for side in (high, low):
                                side[pins[pin]] = liberty.evaluate(cell.function(pin), {p: side[pins[p]] for p in cell.inputs}, ones) & ones
            if len(later) == len(waiting):
                raise SystemExit("synth: the netlist has a loop without a register")
            waiting = later
        return high, low, missing


def rises_and_falls(high, low, cycles):
    """Transitions of a net: within cycles (clock nets), and from one cycle to the next."""
    ones = (1 << cycles) - 1
    if high == low:
        step = ones >> 1
        return high >> 1 & ~high & step, ~(high >> 1) & high & step
    return high ^ low, high ^ low   # a pulse: both


def energy(cell, group_name, groups, load, table_cache, library):
    key = (cell.name, id(groups[0]) if groups else 0, group_name, round(load, 5))
    if key not in table_cache:
        tables = [liberty.Table(t, library) for g in groups for t in g.all(group_name)]
        table_cache[key] = sum(t(load, SLEW) for t in tables) / len(tables) if tables else 0.0
    return table_cache[key]


def calculate(netlist, waveform, clock_mhz):
    """{dynamic, switching, internal, clock, leakage in mW; annotated_nets_pct; cycles}. `clock` is the share of clock nets and clock pins."""
    library, cycles = netlist.library, waveform.cycles
    if cycles < 2:
        raise SystemExit("synth: the waveform has no two cycles")
    high, low, missing = netlist.evaluate(waveform)
    moves = {bit: rises_and_falls(high[bit], low[bit], cycles) for bit in high if isinstance(bit, int)}
    switching = internal = clock = leakage = 0.0
    cache = {}
    for bit, (rise, fall) in moves.items():
        joule = 0.5 * netlist.load.get(bit, 0.0) * library.voltage ** 2 * (rise.bit_count() + fall.bit_count())
        switching += joule
        if high[bit] != low[bit]:
            clock += joule
    ones = (1 << cycles) - 1
    for _, cell, pins in netlist.cells:
        leakage += cell.leakage
        values = {p: high[b] for p, b in pins.items()}
        if cell.flop:
            values.update({cell.flop.args[0]: values.get(cell.outputs[0], 0)})
        for pin, bit in pins.items():
            if bit not in moves:
                continue
            groups = cell.pins[pin].all("internal_power")
            rise, fall = moves[bit]
            is_clock = high[bit] != low[bit]
            if pin in cell.inputs:
                for group in groups:
                    held = liberty.evaluate(group.get("when"), values, ones) & ones if group.get("when") else ones
                    joule = ((rise & held).bit_count() * energy(cell, "rise_power", [group], 0, cache, library)
                             + (fall & held).bit_count() * energy(cell, "fall_power", [group], 0, cache, library))
                    internal += joule
                    clock += joule if is_clock else 0
                continue
            # An output's energy belongs to the inputs that moved; several at once share the transition.
            related = {}
            for group in groups:
                related.setdefault(group.get("related_pin"), []).append(group)
            left_rise, left_fall = rise, fall
            for name, arcs in related.items():
                source = pins.get(name)
                moved = (moves[source][0] | moves[source][1]) if source in moves else 0
                if cell.flop or cell.latch or high.get(source) != low.get(source):
                    moved = ones
                load = netlist.load.get(bit, 0.0)
                up, down = left_rise & moved, left_fall & moved
                left_rise, left_fall = left_rise & ~up, left_fall & ~down
                joule = (up.bit_count() * energy(cell, "rise_power", arcs, load, cache, library)
                         + down.bit_count() * energy(cell, "fall_power", arcs, load, cache, library))
                internal += joule
                clock += joule if is_clock else 0
    seconds_us = cycles / clock_mhz   # pJ / us = uW
    mw = lambda pj: round(pj / seconds_us * 1e-3, 6)
    total = [b for b in moves]
    known = len(total) - len(missing)
    return {"dynamic_mw": mw(switching + internal), "switching_mw": mw(switching), "internal_mw": mw(internal), "clock_mw": mw(clock),
            "leakage_mw": round(leakage * 1e-6, 6), "annotated_nets_pct": round(100 * known / max(1, len(total)), 2), "cycles": cycles,
            "missing": missing[:5]}


def write_saif(path, netlist, waveform, module, period_ns):
    """Switching activity as SAIF 2.0, for other tools: named nets of the netlist."""
    high, low, _ = netlist.evaluate(waveform)
    scale = lambda count: round(count * period_ns * 1000)
    lines = ['(SAIFILE', '(SAIFVERSION "2.0")', '(DIRECTION "backward")', '(TIMESCALE 1 ps)', f"(DURATION {scale(waveform.cycles)})", f"(INSTANCE {module}", "(NET"]
    for bit, names in netlist.names.items():
        if bit in high:
            ones = high[bit].bit_count() if high[bit] == low[bit] else waveform.cycles / 2
            moves = sum(m.bit_count() for m in rises_and_falls(high[bit], low[bit], waveform.cycles))
            for name in names:
                escaped = name.removesuffix("[0]").replace("[", "\\[").replace("]", "\\]").replace(".", "\\.")
                lines.append(f"({escaped} (T0 {scale(waveform.cycles - ones)}) (T1 {scale(ones)}) (TX 0) (TC {moves}))")
    path.write_text("\n".join(lines) + "\n)\n)\n)\n")
