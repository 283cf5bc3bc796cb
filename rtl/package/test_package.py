#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.package: the packages say what the RTL and the register map say. Ports and parameters are held against Yosys'
elaboration, with two sets of parameters; files against rtl/sluice.f; the registers of IP-XACT and SystemRDL against
each other and rtl/csr/sluice_regs.toml."""
import json
import pathlib
import re
import subprocess
import tempfile
import tomllib
import unittest
import xml.etree.ElementTree as xml

import yaml  # Debian: python3-yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
NS = {"ipxact": "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"}
with tempfile.NamedTemporaryFile(suffix=".xml") as made:
    subprocess.run([ROOT / "rtl/package/generate.py", "--check", "--ipxact", made.name], check=True)
    COMPONENT = xml.parse(made.name).getroot()
CORE = yaml.safe_load((ROOT / "rtl/sluice.core").read_text().removeprefix("CAPI=2:\n"))
SOURCES = (ROOT / "rtl/sluice.f").read_text().split()


def text(element, path):
    found = element.find("/".join(f"ipxact:{step}" for step in path.split("/")), NS)
    return None if found is None else found.text


def elaborated(parameters):
    """{port: (direction, bits)} of sluice_top."""
    chosen = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(["yosys", "-q", "-p",
                        f"read_verilog -sv rtl/sluice_pkg.sv rtl/sluice_top.sv; chparam {chosen} sluice_top; "
                        f"hierarchy -top sluice_top; proc; write_json {out.name}"], cwd=ROOT, check=True)
        module = next(m for m in json.load(out)["modules"].values() if m["attributes"].get("top"))
    return {name: ({"input": "in", "output": "out"}[port["direction"]], len(port["bits"]))
            for name, port in module["ports"].items()}


def flat(register, base, names):
    """Fields of one register: {(name, address): [(field, lsb, width, access)]}."""
    fields = [(text(f, "name"), int(text(f, "bitOffset")), int(text(f, "bitWidth")))
              for f in register.findall("ipxact:field", NS)]
    return {(names + text(register, "name"), base + int(text(register, "addressOffset").lstrip("'h"), 16),
             int(text(register, "dim") or 1)): fields}


def ipxact_registers():
    block, found = COMPONENT.find(".//ipxact:addressBlock", NS), {}
    for register in block.findall("ipxact:register", NS):
        found |= flat(register, 0, "")
    slots = block.find("ipxact:registerFile", NS)
    for register in slots.findall("ipxact:register", NS):
        found |= flat(register, int(text(slots, "addressOffset").lstrip("'h"), 16), "SLOT.")
    return found


def rdl_registers():
    """The same of SystemRDL, by its grammar for reg, regfile and field, without its properties."""
    with tempfile.NamedTemporaryFile(suffix=".rdl") as made:
        subprocess.run([ROOT / "rtl/csr/generate.py", "--rdl", made.name], check=True)
        source = re.sub(r"//.*|\"[^\"]*\"", "", pathlib.Path(made.name).read_text())
    slot_base = int(re.search(r"slot_f SLOT\[4\] @0x(\w+)", source)[1], 16)
    found = {}
    for block in re.finditer(r"reg \{((?:[^{}]|\{[^{}]*\})*)\} (\w+)(?:\[(\d+)\])? @0x(\w+)", source):
        fields = [(name, int(low), int(high) - int(low) + 1) for name, high,
                  low in re.findall(r"\} (\w+)\[(\d+):(\d+)\]", block[1])]
        slot = block.start() > source.index("regfile slot_f")
        found[("SLOT." if slot else "") + block[2], int(block[4], 16) + slot * slot_base, int(block[3] or 1)] = fields
    return found


class Package(unittest.TestCase):
    def test_ports_are_those_that_elaborate(self):
        declared = {p.find("ipxact:name", NS).text: p for p in COMPONENT.findall(".//ipxact:ports/ipxact:port", NS)}
        for parameters in ({"NUM_SM": 16, "MAX_KERNELS": 4, "MAX_CTAS": 8, "NUM_SCHED": 2},
                           {"NUM_SM": 3, "MAX_KERNELS": 2, "MAX_CTAS": 5, "NUM_SCHED": 4}):
            ports = {name: (text(p, "wire/direction"), 1 + eval(text(p, "wire/vectors/vector/left") or "0", {},
                dict(parameters)))
                     for name, p in declared.items()}
            self.assertEqual(ports, elaborated(parameters))

    def test_every_axi_port_is_mapped_once(self):
        mapped = [text(m, "physicalPort/name") for m in COMPONENT.findall(".//ipxact:portMap", NS)]
        self.assertEqual(sorted(mapped), sorted(p for p in elaborated({"NUM_SM": 1}) if p.startswith("s_axi_")))

    def test_parameters_agree(self):
        header = (ROOT / "rtl/sluice_top.sv").read_text().split(") (")[0]
        rtl = {name: int(value) for name, value in re.findall(r"parameter int unsigned (\w+)\s*=\s*(\d+)", header)}
        self.assertEqual(rtl, {p.get("parameterId"): int(text(p, "value"))
                               for p in COMPONENT.findall("ipxact:parameters/ipxact:parameter", NS)})
        self.assertEqual(rtl, {name: p["default"] for name, p in CORE["parameters"].items()})

    def test_named_configurations_are_the_measured_ones(self):
        def values(target):
            return {name: int(value) for name, value in (p.split("=") for p in target["parameters"] if "=" in p)}
        measured = {row["name"]: row["parameters"]
                    for row in json.loads((ROOT / "results/synth/configurations.json").read_text())}
        self.assertEqual(measured, {name: values(CORE["targets"][name]) for name in measured})
        self.assertEqual(measured["standard"], values(CORE["targets"]["default"]))

    def test_files_are_those_of_the_list(self):
        self.assertEqual(["rtl/" + path for path in CORE["filesets"]["rtl"]["files"]], SOURCES)
        self.assertEqual(["rtl/" + text(f, "name") for f in COMPONENT.findall(".//ipxact:file", NS)], SOURCES)
        for fileset in CORE["filesets"].values():
            for path in fileset["files"]:
                self.assertTrue((ROOT / "rtl" / path).is_file(), path)
        for target in CORE["targets"].values():
            self.assertLessEqual(set(target["filesets"]), set(CORE["filesets"]))

    def test_registers_agree(self):
        data = {}
        for file in ("sluice_regs", "sluice_slot_regs"):
            data |= tomllib.loads((ROOT / f"rtl/csr/{file}.toml").read_text())
        wanted = {}
        for kind, prefix, base in (("register", "", 0), ("slot_register", "SLOT.", data["slot_base"])):
            for name, r in data[kind].items():
                wanted[prefix + name, base + r["address"], r.get("count", 1)] = [(f["name"], f["lsb"], f["width"])
                    for f in r["field"]]
        self.assertGreater(len(wanted), 30)
        self.assertEqual(wanted, ipxact_registers())
        self.assertEqual(wanted, rdl_registers())


if __name__ == "__main__":
    unittest.main()
