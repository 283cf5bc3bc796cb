# SPDX-License-Identifier: Apache-2.0
"""Reads Liberty files: cells with their areas, pins, functions, energies, and what else their groups say."""
import bisect
import hashlib
import itertools
import math
import os
import pathlib
import re

import cells
import units
from functions import compiled, evaluate, expression   # noqa: F401

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build/synth"
TOKEN = re.compile(r'"[^"]*"|[{}();:,"]|[^\s{}();:,"]+')
NAME = re.compile(r"[A-Za-z_]\w*")
FUNCTIONS = ("function", "three_state", "next_state", "clocked_on", "enable", "data_in", "clear", "preset")


class Group:
    """A Liberty group: kind (args) { attributes; groups }."""

    def __init__(self, kind, args, source="", line=0):
        self.kind, self.args, self.source, self.line, self.attributes, self.groups = kind, args, source, line, {}, []
        self.places = {}   # attribute: its line, and where its values stand in the text

    def all(self, kind):
        return [g for g in self.groups if g.kind == kind]

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    def number(self, name, default=0.0):
        text = str(self.attributes.get(name, default))
        return float(text) if re.fullmatch(r"\+?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?", text) else self.fail(name, "must be a number, 0 or more")

    def fail(self, name, what):
        raise SystemExit(f"synth: {self.source}:{self.places[name][0]}: {name} = {self.attributes[name][:60]}: {what}")

    def check(self, templates):
        """Stops at tables and functions that Yosys, ABC or OpenSTA would read as something else, or give up at."""
        for name, text in self.attributes.items():
            if (name == "values" or name.startswith("index_")) and not re.fullmatch(r"[\s\d.,eE+-]*", text.replace('"', "")):
                self.fail(name, "must be numbers")
            if name in FUNCTIONS and "[" not in text:   # a bit of a bus: of cells that no netlist here has
                try:
                    compiled(text)
                except (IndexError, SyntaxError):
                    self.fail(name, "must be a function of pins, with the operators ! ' * & + | ^ and parentheses, also around ^ beside an and")
        if "values" in self.attributes:
            template = templates.get((self.args or [""])[0], self)
            said = math.prod(len(numbers(axis)) for axis in (self.get(name) or template.get(name) for name in ("index_1", "index_2", "index_3")) if axis)
            if len(numbers(self.get("values"))) != said:
                self.fail("values", f"{len(numbers(self.get('values')))} numbers, where its indices ask for {said}")
        for group in self.groups:
            group.check(templates)

    def add(self, name, words, line, span):
        self.attributes[name] = " ".join(words).strip('"')
        self.places.setdefault(name, [line]).append(span)


def numbers(text):
    return [float(x) for x in text.replace(",", " ").replace('"', " ").split()]


def plain(text):
    """Without comments and continued lines; every line keeps its number."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n") or " ", text, flags=re.S)
    return re.sub(r"\\[ \t\r]*\n", " \n", text)


def parse(text, path):
    """The library of a plain text."""
    found = list(TOKEN.finditer(text))
    tokens = [t[0] for t in found] + ["", ""]
    ends = [m.start() for m in re.finditer("\n", text)]
    line = lambda i: 1 + bisect.bisect(ends, found[min(i, len(found) - 1)].start()) if found else 1

    def fail(i, what):
        raise SystemExit(f"synth: {path}:{line(i)}: {what}")

    root, stack, i = None, [], 0
    while i < len(found):
        token, following = tokens[i], tokens[i + 1]
        if token == "}":
            if not stack:
                fail(i, "a closing brace too many")
            root = stack.pop()
            i += 1
        elif token == ";":
            i += 1
        elif not re.fullmatch(r"\w[\w.-]*", token) or following not in (":", "(") or (not stack and following == ":") or (not stack and root):
            fail(i, f"{token[:40]!r}: not Liberty: `library (...) {{`, `name : value;` or `name (...)` should be here")
        elif following == ":":
            end = i + 2
            while end < len(found) and tokens[end] not in (";", "}") and (end == i + 2 or line(end) == line(end - 1)):
                end += 1
            if end == i + 2:
                fail(i, f"{token}: has no value")
            stack[-1].add(token, tokens[i + 2:end], line(i), (found[i + 2].start(), found[end - 1].end()))
            i = end
        else:
            end = next((k for k in range(i + 2, len(found)) if tokens[k] in (")", "{", "}", ";")), len(found))
            if tokens[end] != ")":
                fail(i, f"{token}: its parenthesis is not closed")
            args = [t.strip('"') for t in tokens[i + 2:end] if t != ","]
            if tokens[end + 1] == "{":
                if token in ("cell", "pin", "ff", "latch") and not args:
                    fail(i, f"{token} (): has no name")
                if token == "cell" and stack and any(g.args == args for g in stack[-1].all("cell")):
                    fail(i, f"cell {args[0]}: comes twice")
                group = Group(token, args, path, line(i))
                if stack:
                    stack[-1].groups.append(group)
                stack.append(group)
            elif stack:
                stack[-1].add(token, args, line(i), (found[i + 1].end(), found[end].start()))
            else:
                fail(i, f"{token}: stands outside of the library")
            i = end + 1 + (tokens[end + 1] == "{")
    if stack:
        raise SystemExit(f"synth: {path}:{stack[-1].line}: {stack[-1].kind} ({', '.join(stack[-1].args)}) is not closed: is the file cut off?")
    if root is None or root.kind != "library":
        raise SystemExit(f"synth: {path}: not a Liberty file (library (...) {{ ... }})")
    return root


class Cell:
    def __init__(self, group):
        self.group, self.name, self.area = group, group.args[0], group.number("area")
        self.leakage = group.number("cell_leakage_power")   # nW
        self.usable = group.get("dont_use", "").lower() != "true"
        self.pins = {name: g for g in group.all("pin") for name in g.args}
        self.inputs = [p for p, g in self.pins.items() if g.get("direction") == "input"]
        self.outputs = [p for p, g in self.pins.items() if g.get("direction") == "output"]
        self.flop = next(iter(group.all("ff")), None)
        self.latch = next(iter(group.all("latch")), None)
        states = [name for kind in ("ff", "latch", "ff_bank", "latch_bank") for g in group.all(kind) for name in g.args]
        for pin in self.pins.values():   # ABC gives up at the library
            unknown = set(NAME.findall(pin.get("function", ""))) - {*self.pins, *states}
            if unknown and "[" not in pin.get("function") and not group.all("statetable"):
                pin.fail("function", f"{', '.join(sorted(unknown))}: no pin of {self.name}")

    def function(self, pin):
        return self.pins[pin].get("function")

    def is_gate(self):
        """Whether every output is a function of the inputs alone."""
        known = lambda pin: self.function(pin) and set(NAME.findall(self.function(pin))) <= set(self.inputs)
        return not self.flop and not self.latch and all(map(known, self.outputs))

    def is_inverter(self):
        return (self.usable and len(self.inputs) == len(self.outputs) == 1 and self.is_gate()
                and set(self.truth(self.outputs[0])) == {"0"})

    def is_plain_latch(self):
        """One that is open while an input is high, and neither set nor cleared."""
        kept = self.latch
        return (kept is not None and self.usable and kept.get("enable") in self.inputs and kept.get("data_in") in self.inputs
                and not kept.get("clear") and not kept.get("preset") and any(self.function(p) == kept.args[0] for p in self.outputs))

    def truth(self, pin):
        """Rows of inputs, as strings of 0 and 1, for which an output is 1."""
        for bits in itertools.product((0, 1), repeat=len(self.inputs)):
            if evaluate(self.function(pin), dict(zip(self.inputs, bits))):
                yield "".join(map(str, bits))


class Library:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        try:
            text = self.path.read_text(errors="replace")
        except OSError as error:
            raise SystemExit(f"synth: --liberty {path}: {error.strerror}") from None
        if self.path.suffix == ".cells":
            text = cells.expand(text)
            self.for_tools(text, BUILD)
        text = plain(text)
        self.root = parse(text, path)
        converted = units.normal(text, self.root, path)
        if converted:
            self.root = parse(converted, path)
            self.for_tools(converted, BUILD / "units" / hashlib.sha256(converted.encode()).hexdigest()[:12])
        self.templates = {g.args[0]: g for g in self.root.groups if g.kind.endswith("template") and g.args}
        self.root.check(self.templates)
        self.cells = {c.args[0]: Cell(c) for c in self.root.all("cell")}
        if not any(c.flop for c in self.cells.values()):
            raise SystemExit(f"synth: {path}: no flip-flop in it (ff groups of {len(self.cells)} cells)")
        self.latch = min((c for c in self.cells.values() if c.is_plain_latch()), key=lambda c: (len(c.outputs), c.area), default=None)
        self.inverters = sorted((c for c in self.cells.values() if c.is_inverter()), key=lambda c: (c.area, c.pins[c.inputs[0]].number("capacitance"), c.name))
        if not self.inverters:
            raise SystemExit(f"synth: {path}: no inverter in it (a cell of one input A and one output !A)")
        self.voltage = self.root.number("nom_voltage", 1.0)
        for cell in self.cells.values():
            cell.leakage *= units.unit(self.root, path, "leakage_power_unit")

    def for_tools(self, text, folder):
        """The tools read this text, as <name>.lib of a folder."""
        self.path = folder / self.path.with_suffix(".lib").name
        folder.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}")   # another program may read it now
        part.write_text(text)
        part.replace(self.path)

    def inverter(self, size):
        """The smallest inverter, the second smallest and so on."""
        return self.inverters[min(size, len(self.inverters)) - 1]

    def latch_pins(self):
        """Names of a latch's enable, data and output."""
        state = self.latch.latch.args[0]
        return self.latch.latch.get("enable"), self.latch.latch.get("data_in"), next(p for p in self.latch.outputs if self.latch.function(p) == state)

    def latch_map(self, small):
        """A Yosys techmap for the latch of the clock gate. Its data comes from an inverter of its own, unless it is to be small: the setup time of a latch
        whose data has other loads, and slow edges, is half a nanosecond."""
        inverter = self.inverter(1)
        enable, data_in, out = self.latch_pins()
        pins = f".{enable}(e), .{data_in}(d), .{out}(Q)"
        data = ("assign d = D;" if small else
                f"\\$_NOT_ i_d_n (.A(D), .Y(d_n));\n  {inverter.name} i_d (.{inverter.inputs[0]}(d_n), .{inverter.outputs[0]}(d));")
        return "".join(f"module \\$_DLATCH_{polarity}_ (input E, D, output Q);\n  wire e, d, d_n;\n  {driver}\n  {data}\n"
                       f"  {self.latch.name} _TECHMAP_REPLACE_ ({pins});\nendmodule\n"
                       for polarity, driver in (("P", "assign e = E;"), ("N", "\\$_NOT_ i_not (.A(E), .Y(e));")))


class Table:
    """A lookup table, linear between its points and beyond them. Called with (load pF, slew ns); tables over one of them ignore the other."""

    def __init__(self, group, library):
        template = library.templates.get((group.args or [""])[0])
        axis = lambda name: numbers(group.get(name) or (template.get(name, "") if template else "")) or None
        self.values, self.first, self.second = numbers(group.get("values")), axis("index_1"), axis("index_2")
        if len(self.values) == 1:
            self.first = self.second = None
        first = template.get("variable_1", "") if template else ""
        self.by_slew = "transition" in first

    @staticmethod
    def between(axis, x):
        i = max(0, min(len(axis) - 2, next((k for k, a in enumerate(axis) if a > x), len(axis)) - 1))
        return i, (x - axis[i]) / (axis[i + 1] - axis[i])

    def __call__(self, load, slew):
        if self.first is None:
            return self.values[0]
        x, y = (slew, load) if self.by_slew else (load, slew)
        if len(self.first) < 2:
            return self.values[0]
        i, u = self.between(self.first, x)
        if self.second is None:
            return self.values[i] * (1 - u) + self.values[i + 1] * u
        j, v = self.between(self.second, y)
        n = len(self.second)
        at = lambda a, b: self.values[a * n + b]
        return (at(i, j) * (1 - v) + at(i, j + 1) * v) * (1 - u) + (at(i + 1, j) * (1 - v) + at(i + 1, j + 1) * v) * u
