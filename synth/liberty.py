# SPDX-License-Identifier: Apache-2.0
"""Reads Liberty files: cells with their areas, pins, functions, energies, and what else their groups say."""
import functools
import itertools
import os
import pathlib
import re

import cells

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build/synth"
TOKEN = re.compile(r'"[^"]*"|[{}();:,]|[^\s{}();:,"]+')


class Group:
    """A Liberty group: kind (args) { attributes; groups }."""

    def __init__(self, kind, args):
        self.kind, self.args, self.attributes, self.groups = kind, args, {}, []

    def all(self, kind):
        return [g for g in self.groups if g.kind == kind]

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    def number(self, name, default=0.0):
        return float(self.attributes.get(name, default))


def parse(text, path):
    tokens = TOKEN.findall(re.sub(r"/\*.*?\*/|\\\n", " ", text, flags=re.S))
    root, stack, i = None, [], 0
    while i < len(tokens):
        token = tokens[i]
        following = tokens[i + 1] if i + 1 < len(tokens) else ""
        if token == "}":
            if not stack:
                raise SystemExit(f"synth: {path}: a closing brace too many")
            root = stack.pop()
            i += 1
        elif following == ":":
            end = i + 2
            while end < len(tokens) and tokens[end] not in (";", "}"):
                end += 1
            stack[-1].attributes[token] = " ".join(tokens[i + 2:end]).strip('"')
            i = end + (end < len(tokens) and tokens[end] == ";")
        elif following == "(":
            end = tokens.index(")", i)
            args = [t.strip('"') for t in tokens[i + 2:end] if t != ","]
            if end + 1 < len(tokens) and tokens[end + 1] == "{":
                group = Group(token, args)
                if stack:
                    stack[-1].groups.append(group)
                stack.append(group)
                i = end + 2
            else:
                if stack:
                    stack[-1].attributes[token] = " ".join(args)
                i = end + 1
        else:
            i += 1
    if root is None or stack or root.kind != "library":
        raise SystemExit(f"synth: {path}: not a whole Liberty file (library (...) {{ ... }})")
    return root


def expression(text):
    """A Liberty Boolean function as Python: !a, a', a*b, a&b, a b, a+b, a|b, a^b become functions of the names."""
    tokens = re.findall(r"[A-Za-z_]\w*|[!'*&+|^()01]", text)

    def xor_level(pos):
        left, pos = and_level(pos)
        while pos < len(tokens) and tokens[pos] == "^":
            right, pos = and_level(pos + 1)
            left = f"({left}^{right})"
        return left, pos

    def or_level(pos):
        left, pos = xor_level(pos)
        while pos < len(tokens) and tokens[pos] in "+|":
            right, pos = xor_level(pos + 1)
            left = f"({left}|{right})"
        return left, pos

    def and_level(pos):
        left, pos = unary(pos)
        while pos < len(tokens) and tokens[pos] not in "+|^)":
            right, pos = unary(pos + (tokens[pos] in "*&"))
            left = f"({left}&{right})"
        return left, pos

    def unary(pos):
        if tokens[pos] == "!":
            inner, pos = unary(pos + 1)
            out = f"(ONE^{inner})"
        elif tokens[pos] == "(":
            out, pos = or_level(pos + 1)
            pos += 1
        else:
            out = {"0": "ZERO", "1": "ONE"}.get(tokens[pos], tokens[pos])
            pos += 1
        while pos < len(tokens) and tokens[pos] == "'":
            out, pos = f"(ONE^{out})", pos + 1
        return out, pos

    return or_level(0)[0]


@functools.lru_cache(maxsize=None)
def compiled(text):
    return compile(expression(text), text, "eval")


def evaluate(text, values, one=1):
    """The function's value for {name: bits}; `one` is the word of all ones."""
    return eval(compiled(text), {"ONE": one, "ZERO": one ^ one}, values)


class Cell:
    def __init__(self, group):
        self.group, self.name, self.area = group, group.args[0], group.number("area")
        self.leakage = group.number("cell_leakage_power")   # nW
        self.pins = {g.args[0]: g for g in group.all("pin")}
        self.inputs = [p for p, g in self.pins.items() if g.get("direction") == "input"]
        self.outputs = [p for p, g in self.pins.items() if g.get("direction") == "output"]
        self.flop = next(iter(group.all("ff")), None)
        self.latch = next(iter(group.all("latch")), None)

    def function(self, pin):
        return self.pins[pin].get("function")

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
            if self.path.suffix == ".cells":   # the tools read build/synth/<name>.lib
                text, self.path = cells.expand(text), BUILD / self.path.with_suffix(".lib").name
                BUILD.mkdir(parents=True, exist_ok=True)
                part = self.path.with_suffix(f".{os.getpid()}")   # another program may read it now
                part.write_text(text)
                part.replace(self.path)
        except OSError as error:
            raise SystemExit(f"synth: --liberty {path}: {error.strerror}")
        try:
            self.root = parse(text, path)
        except (IndexError, ValueError):
            raise SystemExit(f"synth: {path}: not a whole Liberty file (library (...) {{ ... }})") from None
        self.cells = {c.args[0]: Cell(c) for c in self.root.all("cell")}
        if not any(c.flop for c in self.cells.values()):
            raise SystemExit(f"synth: {path}: no flip-flop in it (ff groups of {len(self.cells)} cells)")
        self.latch = next((c for c in self.cells.values() if c.latch), None)
        self.voltage = self.root.number("nom_voltage", 1.0)
        nanowatts = {"100mW": 1e8, "10mW": 1e7, "1mW": 1e6, "100uW": 1e5, "10uW": 1e4, "1uW": 1e3, "100nW": 100, "10nW": 10, "1nW": 1, "100pW": 0.1, "10pW": 0.01, "1pW": 0.001}
        for cell in self.cells.values():
            cell.leakage *= nanowatts[(self.root.get("leakage_power_unit") or "1nW").strip('"')]

    def pick(self, *names):
        """The first of these cells that there is."""
        found = next((n for n in names if n in self.cells), None)
        if not found:
            raise SystemExit(f"synth: {self.path.name}: none of the cells {', '.join(names)}")
        return found

    def latch_pins(self):
        """Names of a latch's enable, data and output."""
        state = self.latch.latch.args[0]
        return self.latch.latch.get("enable"), self.latch.latch.get("data_in"), next(p for p in self.latch.outputs if self.latch.function(p) == state)

    def latch_map(self, small):
        """A Yosys techmap for the latch of the clock gate. Its data comes from an inverter of its own, unless it is to be small: the setup time of a latch
        whose data has other loads, and slow edges, is half a nanosecond."""
        inverter = self.cells[self.pick("INVX1", "INVX2")]
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
        template = {t.args[0]: t for t in library.root.groups if t.kind.endswith("template") or t.kind.endswith("template_")}.get(group.args[0])
        numbers = lambda text: [float(x) for x in text.replace(",", " ").split()]
        axes = {}
        for axis in ("1", "2"):
            index = group.get(f"index_{axis}") or (template.get(f"index_{axis}") if template else None)
            if index:
                axes[axis] = numbers(index)
        self.values = numbers(group.get("values"))
        self.first, self.second = axes.get("1"), axes.get("2")
        if len(self.values) == 1:
            self.first = self.second = None
        first = template.get("variable_1", "") if template else ""
        self.by_slew = "transition" in first
        self.by_load_second = bool(template) and "capacitance" in template.get("variable_2", "")

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
