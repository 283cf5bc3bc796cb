#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes everything that follows from the register map, rtl/csr/sluice_regs.toml:

  rtl/csr/sluice_csr_pkg.sv   RTL constants
  sw/driver/sluice_regs.h     C++ constants
  docs/reference/register_map.md        the page

and, where it is asked for, what is not kept in the tree:

  --rdl FILE                  SystemRDL 2.0
  --table FILE                C++ table of all registers with their ranges, for the model and its benches

--check writes nothing and exits 1 when one of the first three is out of date."""
import argparse
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPDX = "SPDX-License-Identifier: Apache-2.0"
NOTE = "Generated from rtl/csr/sluice_regs.toml by rtl/csr/generate.py: change it there."
PARAMETERS = ["NUM_SM", "MAX_KERNELS", "MAX_CTAS", "NUM_SCHED", "REGION_UNITS", "SM_ENABLE", "SM_READY", "LAUNCH_QUEUE",
              "FLUSH", "PATIENCE", "PRIORITY", "CHURN", "TAIL", "BALANCE"]


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def load():
    data = {}
    for file in ("sluice_regs", "sluice_slot_regs"):
        data |= tomllib.loads((ROOT / f"rtl/csr/{file}.toml").read_text())
    for kind in ("register", "slot_register"):
        prefix = "Slot" if kind == "slot_register" else ""
        limit = data["slot_stride"] if prefix else data["slot_base"]
        used = {}
        data[kind] = [{"name": name, **register} for name, register in data[kind].items()]
        for r in data[kind]:
            r["count"] = r.get("count", 1)
            r["id"] = prefix + camel(r["name"])
            for i in range(r["count"]):
                address = r["address"] + 4 * i
                if address % 4 or address >= limit or address in used:
                    sys.exit(f"sluice_regs.toml: {r['name']}: address {address:#x}: must be a free multiple of 4 "
                             f"below {limit:#x}")
                used[address] = r["name"]
            bits = 0
            for f in r["field"]:
                mask = ((1 << f["width"]) - 1) << f["lsb"]
                if bits & mask or mask >> 32:
                    sys.exit(f"sluice_regs.toml: {r['name']}.{f['name']}: overlaps another field or bit 31")
                bits |= mask
                f["access"] = f.get("access", r["access"])
                f["id"] = r["id"] + (camel(f["name"]) if len(r["field"]) > 1 else "")
                f["min"] = f.get("min", 0)
                f["max"] = f.get("max", (1 << f["width"]) - 1)
            r["mask"] = bits
    revision = ".".join(str(f["reset"]) for r in data["register"] if r["name"] == "REVISION"
                        for f in reversed(r["field"]))
    if f"project(sluice VERSION {revision} " not in (ROOT / "CMakeLists.txt").read_text():
        sys.exit(f"sluice_regs.toml: REVISION is {revision}: must be the project's version, in CMakeLists.txt")
    if data["slot_base"] + data["slots"] * data["slot_stride"] > 1 << data["address_bits"]:
        sys.exit("sluice_regs.toml: the kernel slots end beyond address_bits")
    return data


def systemverilog(d):
    out = [f"// {SPDX}", "// sluice_csr_pkg: addresses, ranges and reset values of the register map.", f"// {NOTE}",
           "package sluice_csr_pkg;",
           "  // verilator lint_off UNUSEDPARAM"]
    w = d["address_bits"]

    def constant(name, width, value):
        out.append(f"  localparam logic [{width - 1}:0] {name} = {width}'d{value};")

    for name, values in d["enums"].items():
        width = next(f["width"] for kind in ("register", "slot_register") for r in d[kind] for f in r["field"]
                     if f.get("enum") == name)
        for value, number in values.items():
            constant(f"{name}{camel(value)}", width, number)
    for key in ("slot_base", "slot_stride"):
        out.append(f"  localparam logic [{w - 1}:0] {camel(key)} = {w}'h{d[key]:03x};")
    for kind, suffix in (("register", "Addr"), ("slot_register", "Offset")):
        for r in d[kind]:
            width = w if suffix == "Addr" else (d["slot_stride"] - 1).bit_length()
            out.append(f"  localparam logic [{width - 1}:0] {r['id']}{suffix} = {width}'h{r['address']:03x};")
            if r["access"] == "rw" and len(r["field"]) > 1:
                out.append(f"  localparam logic [31:0] {r['id']}Mask = 32'h{r['mask']:08x};")
            for f in r["field"]:
                if len(r["field"]) > 1:
                    out.append(f"  localparam int unsigned {f['id']}Lsb = {f['lsb']};")
                if isinstance(f.get("reset"), int) and r["count"] == 1:
                    constant(f"{f['id']}Reset", f["width"], f["reset"])
                if f["access"] == "rw" and len(r["field"]) == 1 and r["count"] == 1:
                    for limit in ("min", "max"):
                        if isinstance(f[limit], int) and (limit, f[limit]) != ("min", 0):
                            constant(f"{f['id']}{camel(limit)}", 32, f[limit])
    return "\n".join(out + ["  // verilator lint_on UNUSEDPARAM", "endpackage", ""])


def cpp(d):
    out = [f"// {SPDX}", f"// {NOTE}", "// clang-format off", "#pragma once", "#include <cstdint>", "",
           "#include \"sw/core/share.h\"", "", "namespace sluice::regs {", ""]
    for name, values in d["enums"].items():
        if name == "Mode":   # everybody's word, not only the registers'
            out += [f"static_assert(static_cast<std::uint32_t>(Mode::{camel(v)}) == {n});" for v, n in values.items()]
            continue
        inner = ", ".join(f"k{camel(v)} = {n}" for v, n in values.items())
        out += [f"enum class {name} : std::uint32_t {{ {inner} }};"]
    out += ["", "/// Bits of a register.", "struct Field {", "  unsigned lsb, width;",
            "  [[nodiscard]] constexpr std::uint32_t max() const { return width == 32 ? ~0U : (1U << width) - 1; }",
            "  [[nodiscard]] constexpr std::uint32_t get(std::uint32_t word) const { return (word >> lsb) & max(); }",
            "  [[nodiscard]] constexpr std::uint32_t put(std::uint32_t value) const { return (value & max()) << lsb; }",
            "};", ""]
    out += [f"inline constexpr std::uint32_t kSlotBase = {d['slot_base']:#05x};",
            f"inline constexpr std::uint32_t kSlotStride = {d['slot_stride']:#04x};",
            "/// Byte address of a kernel slot's register.",
            "constexpr std::uint32_t slot(unsigned kernel, std::uint32_t offset) "
            "{ return kSlotBase + kernel * kSlotStride + offset; }"]
    for kind, title in (("register", "Byte addresses."), ("slot_register", "Offsets in a kernel slot, for slot().")):
        out += ["", f"// {title}"]
        for r in d[kind]:
            out.append(f"inline constexpr std::uint32_t k{r['id']} = {r['address']:#05x};  // {r['text']}")
            if len(r["field"]) > 1:
                out += [f"inline constexpr Field k{f['id']}{{{f['lsb']}, {f['width']}}};" for f in r["field"]]
    out += ["", "/// Elaboration parameters of the unit (register PARAMS).", "struct Parameters {",
            "  std::uint32_t num_sm = 16, max_kernels = 4, max_ctas = 8, num_sched = 2, region_units = 64;",
            "  std::uint32_t sm_enable = 0, sm_ready = 0, launch_queue = 0, flush = 0, patience = 0, priority = 0, "
            "churn = 0, tail = 0,\n                balance = 0;  ///< options: 0 is off", "};", "",
            "}  // namespace sluice::regs", ""]
    return "\n".join(out)


def cpp_table(d):
    out = [f"// {NOTE}", "#pragma once", "#include <string>", "#include <utility>", "#include <vector>", "",
           "#include \"sw/driver/sluice_regs.h\"", "",
           "namespace sluice::regs {", "", "/// As the RTL calls them.",
            "inline constexpr std::pair<const char*, std::uint32_t Parameters::*> kParameterNames[] = {",
            "    " + ", ".join(f'{{"{p}", &Parameters::{p.lower()}}}' for p in PARAMETERS) + "};", "",
            "/// As in sluice_regs.toml.", "enum class Access { Ro, Rw, W1c, W1s, Wo, Level };",
            "enum class Needs { Nothing, AllFree, SlotFree, Undecided };",
            "struct FieldInfo {", "  std::string name;", "  Field bits;", "  Access access;",
            "  std::uint32_t reset, min, max;", "};",
            "struct RegisterInfo {", "  std::string name;  ///< a kernel slot's as \"SLOT2.WARPS\"",
            "  std::uint32_t address;", "  Needs needs;",
            "  std::vector<FieldInfo> fields;", "  bool sms;    ///< a bit an SM",
            "  bool locks;  ///< as it is while LOCK is 1",
            "};", "", "/// Every register of a unit with these parameters.",
            "inline std::vector<RegisterInfo> registers(const Parameters& p) {", "  std::vector<RegisterInfo> all;"]

    def number(value):
        if value == "FLUSH":
            return "p.flush != 0 ? 1U : 0U"
        return f"p.{value.lower()}" if value in PARAMETERS else f"{value}U"

    def entry(r, name, address, indent):
        fields = ",\n".join(f'{indent}     {{"{f["name"]}", {{{f["lsb"]}, {f["width"]}}}, '
                            f'Access::{camel(f["access"])}, '
                            f'{number(f.get("reset", 0))}, {number(f["min"])}, {number(f["max"])}}}'
                            for f in r["field"])
        needs = camel(r.get("needs", "nothing"))
        there = f"if (p.{r['when'].lower()} != 0) " if "when" in r else ""
        sms, locks = ("true" if r.get(what) else "false" for what in ("sms", "locks"))
        return f"{indent}{there}all.push_back({{{name}, {address}, Needs::{needs}, {{\n{fields}}}, {sms}, {locks}}});"

    for r in d["register"]:
        for i in range(r["count"]):
            name = r["name"] + (str(i) if r["count"] > 1 else "")
            out.append(entry(r, f'"{name}"', f"{r['address'] + 4 * i:#05x}", "  "))
    out += ["  for (unsigned k = 0; k < p.max_kernels; ++k) {",
            '    const std::string prefix = "SLOT" + std::to_string(k) + ".";']
    for r in d["slot_register"]:
        for i in range(r["count"]):
            name = r["name"] + (str(i) if r["count"] > 1 else "")
            out.append(entry(r, f'prefix + "{name}"', f"slot(k, {r['address'] + 4 * i:#04x})", "    "))
    out += ["  }", "  return all;", "}", "", "}  // namespace sluice::regs", ""]
    return "\n".join(out)


def markdown(d):
    out = ["# Register map", "",
           f"{NOTE} 32-bit registers, byte addresses; behaviour: [sluice_csr](blocks/sluice_csr.md).", "",
           "Access is `ro` (read-only), `rw`, `w1c` (sticky, write 1 to clear), or `w1s` (command, write 1, reads 0). "
            "`wo` and `level` go with a command of the",
           "same register; `level` reads back. `rw` values outside their range are refused with BAD_CONFIG. "
            "Footnotes: ¹ only while every kernel slot is FREE;",
           "² only while this slot is FREE (else SLOT_BUSY). ³ only while STATUS shows IDLE or MONITOR: a decision "
            "keeps what it began with.",
           "⁴ only in a unit with the parameter of that name; else the address has no register. "
            "⁵ only while LOCK is 0.", ""]
    for kind, title in (("register", "Global"), ("slot_register",
                        f"Kernel slot k, at {d['slot_base']:#x} + k * {d['slot_stride']:#x}")):
        out += [f"## {title}", "", "| address | register | bits | field | access | reset | range | meaning |",
                "|---|---|---|---|---|---|---|---|"]
        for r in d[kind]:
            address = f"`{r['address']:#05x}`" + (f" + 4 * i, i = 0..{r['count'] - 1}" if r["count"] > 1 else "")
            name = r["name"] + ("`i`" if r["count"] > 1 else "")
            note = ({"all_free": "¹", "slot_free": "²", "undecided": "³"}.get(r.get("needs"), "")
                    + ("⁴" if "when" in r else "") + ("⁵" if r.get("locks") else ""))
            out.append(f"| {address} | **{name}**{note} | | | | | | {r['text']} |")
            for f in r["field"]:
                bits = f"{f['lsb'] + f['width'] - 1}:{f['lsb']}" if f["width"] > 1 else f"{f['lsb']}"
                span = f"{f['min']}..{f['max']}" if f["access"] == "rw" and f["width"] < 32 else ""
                reset = f.get("reset", 0 if f["access"] == "w1c" else "")
                reset = f"0x{reset:X}" if isinstance(reset, int) and reset > 0xFFFFF else reset
                values = f": see {f['enum']}" if "enum" in f else ""
                out.append(f"| | | {bits} | {f['name']} | {f['access']} | {reset} | {span} | {f['text']}{values} |")
        out.append("")
    out += ["## Values", "", "| field | values |", "|---|---|"]
    out += [f"| {name} | {', '.join(f'{n} {v}' for v, n in values.items())} |" for name, values in d["enums"].items()]
    return "\n".join(out + [""])


def systemrdl(d):
    access = {"ro": "sw = r; hw = w;", "rw": "sw = rw; hw = r;", "w1c": "sw = rw; onwrite = woclr; hw = w; hwset;",
              "w1s": "sw = w; hw = r; singlepulse;", "wo": "sw = w; hw = r;", "level": "sw = rw; hw = r;"}
    out = [f"// {NOTE} Default parameters.", "addrmap sluice {", f'  name = "Sluice SM resource partitioner";',
           "  default regwidth = 32;"]

    def registers(rs, indent):
        for r in rs:
            out.append(f'{indent}reg {{ name = "{r["name"]}"; desc = "{r["text"].replace(chr(34), chr(39))}";')
            for f in r["field"]:
                reset = f.get("reset", 0)
                options = dict.fromkeys(PARAMETERS[5:], 0)
                reset = {"NUM_SM": 16, "MAX_KERNELS": 4, "MAX_CTAS": 8, "NUM_SCHED": 2, "REGION_UNITS": 64,
                         **options}.get(reset, reset)
                text = f["text"].replace('"', "'")
                out.append(f'{indent}  field {{ {access[f["access"]]} desc = "{text}"; }} '
                           f'{f["name"]}[{f["lsb"] + f["width"] - 1}:{f["lsb"]}] = {f["width"]}\'h{reset:x};')
            array = f"[{r['count']}]" if r["count"] > 1 else ""
            step = " += 4" if array else ""
            out.append(f"{indent}}} {r['name']}{array} @{r['address']:#x}{step};")

    registers(d["register"], "  ")
    out.append('  regfile slot_f { name = "kernel slot";')
    registers(d["slot_register"], "    ")
    out += ["  };", f"  slot_f SLOT[4] @{d['slot_base']:#x} += {d['slot_stride']:#x};", "};", ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rdl", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--table", metavar="FILE", type=pathlib.Path)
    args = parser.parse_args()
    data = load()
    for path, write in ((args.rdl, systemrdl), (args.table, cpp_table)):
        if path and (not path.exists() or path.read_text() != write(data)):
            path.write_text(write(data))
    if args.rdl or args.table:
        return
    outputs = {"rtl/csr/sluice_csr_pkg.sv": systemverilog(data), "sw/driver/sluice_regs.h": cpp(data),
               "docs/reference/register_map.md": markdown(data)}
    stale = [path for path, text in outputs.items()
             if not (ROOT / path).exists() or (ROOT / path).read_text() != text]
    if args.check:
        for path in stale:
            print(f"{path}: out of date, run rtl/csr/generate.py")
        sys.exit(1 if stale else 0)
    for path in stale:
        (ROOT / path).write_text(outputs[path])
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
