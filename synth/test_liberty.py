#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries of others: units, names and paths make no difference, and what the tools can't take is refused with its line."""
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import cells     # noqa: E402
import liberty   # noqa: E402

OURS = cells.expand((HERE / "tech/sluice45.cells").read_text())


def times(text, factor):
    return re.sub(r"-?\d+\.?\d*(?:e-?\d+)?", lambda m: f"{float(m[0]) * factor:.9g}", text)


def other(time=1, load=1, units=(), inverter="INVX", cell="{}"):
    """Our library with its times and capacitances as multiples, the text of its units changed, and other names."""
    def scale(pattern, factor):
        nonlocal text
        text, count = re.subn(pattern, lambda m: m[1] + times(m[2], factor), text)
        assert count, pattern

    text = OURS
    scale(r"((?:rise|fall)_power \(\w+\) {\s*values )(\([^)]*\))", load)
    scale(r"((?:cell_|retaining_)?(?:rise|fall)(?:_transition|_constraint)? \(\w+\) {\s*values )(\([^)]*\))", time)
    scale(r"(capacitance : )([\d.e-]+)", load)
    scale(r"(index_\d )(\(\"0\.03, 0\.2\"\))", time)
    scale(r"(index_\d )(\(\"0\.004, 0\.04\"\))", load)
    for old, new in units:
        assert old in text, old
        text = text.replace(old, new)
    return re.sub(r"\bcell \((\w+)\)", lambda m: f'cell ("{cell.format(m[1])}")', text.replace("INVX", inverter))


FORMS = {   # of open PDKs
    "ps and fF": other(1000, 1000, [('"1ns"', '"1ps"'), ("(1, pf)", "(1, ff)")]),
    "fF, as Nangate's": other(1, 1000, [("(1, pf)", "(1.0,ff)")], "INV_X", "{}"),
    "names as sky130's": other(cell="demo_fd_sc_hd__{}").replace("demo_fd_sc_hd__INVX1", "demo_fd_sc_hd__not_1").replace("INVX", "inv_"),
}


class Libraries(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "my libraries"
        self.folder.mkdir()

    def file(self, text, name="a b.lib"):
        (self.folder / name).write_text(text)
        return self.folder / name

    def row(self, *options):
        found = self.folder / "found.json"
        subprocess.run([HERE / "run.sh", "--top", "serial_unit", "--json", found, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        block = json.loads(found.read_text())["blocks"][0]
        return {k: block[k] for k in ("area_um2", "cells", "flops", "latches", "leakage_mw", "fmax_mhz", "period_ns")}

    def test_the_same_cells_give_the_same_figures_in_any_form(self):
        ours = self.row()
        for name, text in FORMS.items():
            self.assertEqual(self.row("--liberty", self.file(text)), ours, name)

    def test_a_checkout_may_have_blanks_in_its_path(self):
        for part in ("rtl", "synth"):
            shutil.copytree(HERE.parent / part, self.folder / part)
        said = subprocess.run([self.folder / "synth/run.sh", "--top", "serial_unit"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        self.assertIn(f"{self.row()['cells']}", said)

    def test_numbers_are_in_ns_pf_and_pj(self):
        ours = liberty.Library(self.file(other()))
        for name, text in FORMS.items():
            library = liberty.Library(self.file(text))
            inverter, same = library.inverter(2), ours.inverter(2)
            a, b = inverter.inputs[0], same.inputs[0]
            self.assertAlmostEqual(inverter.pins[a].number("capacitance"), same.pins[b].number("capacitance"), 9, name)
            for kind, table in (("timing", "cell_rise"), ("internal_power", "rise_power")):
                at = [liberty.Table(c.pins[c.outputs[0]].all(kind)[0].all(table)[0], l)(0.01, 0.05) for c, l in ((inverter, library), (same, ours))]
                self.assertAlmostEqual(*at, 9, name)

    def test_millivolts_and_microwatts(self):
        library = liberty.Library(self.file(other(units=[('voltage_unit : "1V"', 'voltage_unit : "1mV"'), ("nom_voltage : 1.1", "nom_voltage : 1100"),
                                                         ('"1nW"', '"1uW"')])))
        self.assertAlmostEqual(library.voltage, 1.1)
        self.assertAlmostEqual(library.cells["INVX1"].leakage, 1740)

    def test_cells_are_found_by_their_function(self):
        scan = '  cell (SLATCH) { area : 1; latch (IQ, IQN) { enable : "G"; data_in : "D"; clear : "!R"; } pin (G) { direction : input; } pin (D) ' \
               '{ direction : input; } pin (R) { direction : input; } pin (Q) { direction : output; function : "IQ"; } }\n'
        never = '  cell (TINY) { area : 0.1; dont_use : true; pin (A) { direction : input; } pin (Y) { direction : output; function : "!A"; } }\n'
        text = other()
        library = liberty.Library(self.file(text[:text.rindex("}")] + scan + never + "}\n"))
        self.assertEqual((library.inverter(1).name, library.inverter(2).name, library.latch.name), ("INVX1", "INVX2", "LATCH"))

    def test_any_damage_is_read_or_refused_in_one_line(self):
        """LIBERTY_FUZZ: seconds."""
        words, end, run = liberty.TOKEN.findall(liberty.plain(OURS)), time.time() + float(os.environ.get("LIBERTY_FUZZ", 3)), 0
        while time.time() < end:
            run += 1
            chance, damaged = random.Random(run), list(words)
            for _ in range(chance.choice((1, 1, 2, 5, 40))):
                at, other = chance.randrange(len(damaged)), chance.choice(words + ["-1", "nan", '""', '"', "/*", "\0", "'", "values", "1e999"])
                damaged[at:at + chance.choice((0, 1, 1, 3))] = [other] * chance.choice((0, 1, 1, 2))
            file = self.file(" ".join(damaged[:chance.choice((at, None, None, None))] or words).replace(";", ";\n"))
            try:
                library = liberty.Library(file)
                for table in (t for c in library.cells.values() for p in c.pins.values() for arc in p.groups for t in arc.groups if t.get("values")):
                    liberty.Table(table, library)(0.01, 0.05)
            except SystemExit as error:
                self.assertRegex(str(error), f"^synth: {file}:[^\n]*$", run)

    def test_functions_bind_as_in_all_tools(self):
        for text, same in [("A*(B^C)", "(B^C) A"), ("A (B^C)+D", "(A*(B^C))|D"), ("!A^B", "(!A)^B"), ("A'^B+C", "((!A)^B)|C"), ("A|B&C", "A|(B&C)")]:
            for bits in itertools.product((0, 1), repeat=4):
                values = dict(zip("ABCD", bits))
                self.assertEqual(liberty.evaluate(text, values), liberty.evaluate(same, values), (text, values))

    def test_what_the_tools_cannot_take_is_refused_with_its_line(self):
        text = other()
        line = lambda part: text[:text.index(part)].count("\n") + 1
        area, function, table = "area : 1.408;", 'function : "(!A)"', 'values ("0.0137, 0.074"'
        for old, new, at, what in [
                ('cell ("INVX1")', "cell ()", line('cell ("INVX1")'), "cell (): has no name"), ("pin (A)", "pin ()", line("pin (A)"), "pin (): has no name"),
                (table, table.replace("0.0137, ", ""), line(table), "3 numbers, where its indices ask for 4"),
                ('"1ns"', '"2ns"', line("time_unit"), "time_unit = 2ns: must be one of 1ps, 10ps, 100ps, 1ns"),
                ("(1, pf)", "(1, nf)", line("capacitive_load_unit"), "capacitive_load_unit = 1 nf: must be a number and one of ff, pf"),
                ('"1nW"', '"1W"', line("leakage_power_unit"), "leakage_power_unit = 1W: must be one of"),
                (area, "area : big;", line(area), "area = big: must be a number, 0 or more"), (area, "area : nan;", line(area), "area = nan: must be a number"),
                ('cell ("INVX2")', 'cell ("INVX1")', line('cell ("INVX2")'), "cell INVX1: comes twice"),
                (function, 'function : "A^A*A"', line(function), "function = A^A*A: must be a function of pins"),
                (area, "area : 1 + 0.4;", line(area), "area = 1 + 0.4: must be a number"),
                (area, "area 1.408;", line(area), "'area': not Liberty"), (area, "area : ;", line(area), "area: has no value"),
                (function, 'function : "(!A"', line(function), "function = (!A: must be a function"),
                (function, 'function : "!B"', line(function), "function = !B: B: no pin of INVX1"),
                (table, table.replace("0.0137", "x"), line(table), "must be numbers"), ("timing () {", "timing ( {", line("timing ()"), "is not closed"),
                (text[-60:], "", None, "is not closed"), ("}", "", None, "")]:
            with self.assertRaises(SystemExit) as stop:
                liberty.Library(self.file(text.replace(old, new, 1)))
            said = str(stop.exception)
            self.assertIn(what, said)
            self.assertIn("a b.lib:", said)
            self.assertNotIn("\n", said)
            if at:
                self.assertIn(f"a b.lib:{at}:", said)


unittest.main()
