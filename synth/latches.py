# SPDX-License-Identifier: Apache-2.0
"""Registers made smaller, on the gates of Yosys before ABC (scripts with `small`, synth/mapping.py). A flip-flop is two latches: a master that is transparent while
the clock is low, and a slave. Where several registers behind clock gates are written from one net, as the rows of a table are, one master serves them all:
each keeps its slave, a row latch, which its gate opens while the clock is high. Cycles and values are those of the flip-flops."""
import collections

MASTERS_OF_AN_INVERTER = 8   # the clock pin of a latch is 4 fF; a slow edge there costs more than inverters
FEWEST_ROWS = 3              # two flip-flops are as small as three latches
FEWEST_ROWS_FOR_A_CLOCK = 24   # of the other scripts: a row latch is slower than a flip-flop, and a few rows save little
FEWEST_GATED = 2             # bits of one enable: two pay for their gate where they become row latches


def cell(kind, output, **connections):
    """A cell of Yosys' JSON; output: its output pin."""
    return {"hide_name": 1, "type": kind, "parameters": {}, "attributes": {}, "port_directions": {p: "output" if p == output else "input" for p in connections},
            "connections": {p: [b] for p, b in connections.items()}}


def mark_gated(module):
    """Gives registers with an enable the attribute `gated` when all those of the same enable together are worth a clock gate."""
    bits = collections.Counter()
    registers = [c for c in module["cells"].values() if c["type"] in ("$dffe", "$adffe")]
    enable = lambda c: (c["connections"]["CLK"][0], c["connections"]["EN"][0], c["parameters"]["EN_POLARITY"])
    for c in registers:
        bits[enable(c)] += len(c["connections"]["Q"])
    for c in registers:
        if bits[enable(c)] >= FEWEST_GATED:
            c["attributes"]["gated"] = "1"


def share_masters(module, library, fewest=FEWEST_ROWS):
    """Replaces flip-flops behind clock gates that are written from one net by a master and row latches."""
    clock = module["ports"]["clk_i"]["bits"][0]
    written = collections.defaultdict(list)
    for name, c in module["cells"].items():
        if c["type"] == "$_DFF_P_" and c["connections"]["C"][0] != clock:
            written[c["connections"]["D"][0]].append(name)
    top = max(b for net in module["netnames"].values() for b in net["bits"] if isinstance(b, int))
    enable, data, out = library.latch_pins()
    latch = lambda e, d, q: cell(library.latch.name, out, **{enable: e, data: d, out: q})
    inverter = library.inverter(2)
    a, y = inverter.inputs[0], inverter.outputs[0]
    masters = 0
    for net, rows in sorted(written.items(), key=str):
        if len(rows) < fewest:
            continue
        if masters % MASTERS_OF_AN_INVERTER == 0:
            low = top = top + 1
            module["cells"][f"$low{masters}"] = cell(inverter.name, y, **{a: clock, y: low})
        top += 1
        module["cells"][f"$master{masters}"] = latch(low, net, top)
        masters += 1
        for row in rows:
            pins = module["cells"][row]["connections"]
            module["cells"][row] = latch(pins["C"][0], top, pins["Q"][0])


def row_latches(cells, library, clock):
    """Names of the latches of a netlist that hold a register's bit: all but those that are open while the clock is low (of clock gates, and masters). A row
    latch that is not behind a master would be open while its data changes: SystemExit."""
    driver = {}
    for name, c in cells.items():
        if c["type"] in library.cells:
            for pin in library.cells[c["type"]].outputs:
                driver.update((b, name) for b in c["connections"].get(pin, []))

    def low(bit):
        """Whether a net is the clock upside down."""
        inverted = False
        while bit != clock:
            source = cells.get(driver.get(bit))
            kind = source and library.cells[source["type"]]
            if not kind or kind.flop or kind.latch or len(kind.inputs) != 1:
                return False
            inverted ^= next(iter(kind.truth(kind.outputs[0]))) == "0"
            bit = source["connections"][kind.inputs[0]][0]
        return inverted

    latches = {n: c for n, c in cells.items() if c["type"] in library.cells and library.cells[c["type"]].latch}
    if not latches:
        return set()
    enable, data, _ = library.latch_pins()
    rows = {n for n, c in latches.items() if not low(c["connections"][enable][0])}
    for name in rows:
        if driver.get(latches[name]["connections"][data][0]) not in latches.keys() - rows:
            raise SystemExit(f"synth: latch {name} is open while the clock is high, and not behind one that is closed then")
    return rows
