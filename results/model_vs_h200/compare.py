#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Model beside silicon, and recordings beside Nsight Compute's counts, from what measure.sh left in FOLDER, or from what --write kept.

usage: compare.py [FOLDER [MACHINE]] [--write]
prints the tables of README.md; --write: keeps results.json and what the tables need beside this file"""
import csv
import json
import lzma
import pathlib
import re
import sys

from errors import print_lists, write_results

HERE = pathlib.Path(__file__).parent
KEPT = ("launch", "cycles", "warp_instructions", "l1_miss_rate", "l2_miss_rate", "dram_bytes", "cpu_seconds", "peak_rss_mib")
COUNTED = ("Kernel Name", "gpc__cycles", "smsp__inst", "sass__inst", "dram__bytes", "lts__t_sectors", "l1tex__t_")
OPERATIONS = {"LDG": "ld", "STG": "st", "ATOMG": "atom", "RED": "red", "REDG": "red"}


def lines(path):
    """Of FILE, as it was measured, or of FILE.xz, as it is kept."""
    packed = path.with_name(path.name + ".xz")
    text = path.read_text() if path.exists() else lzma.open(packed, "rt").read() if packed.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def keep(name, rows):
    with lzma.open(HERE / (name + ".xz"), "wt", preset=9 | lzma.PRESET_EXTREME) as out:
        out.writelines(json.dumps(r) + "\n" for r in rows)


def number(text):
    return float(text.replace(",", "").split(" ")[0])


def launches():
    rows = [line.split("\t") for line in (HERE / "launches.tsv").read_text().splitlines() if not line.startswith("#")]
    return {name: {"list": which, "function": function, "spec": spec} for name, which, function, spec in rows}


def opcodes(text):
    """'10 (FFMA: 4; MUFU: 6)' by opcode; modifiers are added up."""
    out = {}
    for part in re.search(r"\((.*)\)", text).group(1).split(";"):
        name, count = part.rsplit(":", 1)
        name = name.strip().split(".")[0]
        out[name] = out.get(name, 0) + int(number(count.strip()))
    return out


def counted(folder, wanted):
    """By launch: Nsight Compute's figures. A launch that came several times has its last."""
    found = {r.pop("launch"): r for r in lines(folder / "counted.jsonl")}
    for path in sorted(folder.glob("ncu-*.csv"), key=lambda p: (p.name.split("-")[1], int(re.search(r"(\d+)\.csv", p.name).group(1)))):
        rows = list(csv.reader(line for line in path.read_text().splitlines() if line.startswith('"')))
        if not rows:
            continue
        column = {name: i for i, name in enumerate(rows[0])}
        alike = {}
        for row in rows[2:]:
            name = re.sub(r"^void ", "", row[column["Kernel Name"]])
            key = (name, row[column["Grid Size"]], row[column["Block Size"]])
            alike[key] = {metric: row[i] for metric, i in column.items()}
        for (name, _, _), figures in alike.items():
            base = re.match(r"\w+", name).group(0)
            for launch, l in wanted.items():
                template = re.search(r"<(\w+)", l["spec"])
                if l["function"] == base and launch not in found and (template is None or f"<{template.group(1)}" in name):
                    found[launch] = figures
                    break
    return found


def recorded_table(wanted, recorded, ncu):
    print("| kernel | warp instructions | counted | worst opcode | sectors, recorded / counted (each operation) | joined % | unjoined |")
    print("|---|---|---|---|---|---|---|")
    for name in wanted:
        if name not in recorded:
            continue
        k, c = recorded[name], ncu.get(name)
        unjoined = ", ".join(f"{reason} {count}" for reason, count in k["unjoined"].items()) or "-"
        total, worst, sectors = "-", "-", "-"
        if c:
            total = int(number(c["smsp__inst_executed.sum"]))
            each = opcodes(c["sass__inst_executed_per_opcode"])
            off = [(abs(k["opcodes"].get(o, 0) - n) / n, o) for o, n in each.items()]
            worst = "equal" if max(off)[0] == 0 else f"{max(off)[1]} {100 * max(off)[0]:.2f} %"
            mine = {}
            for opcode, s in k.get("sectors", {}).items():
                into = mine.setdefault(OPERATIONS[opcode], [0, 0])
                into[0] += s["requests"]
                into[1] += s["sectors"]
            sectors = ", ".join(f"{op} {s[1] / s[0]:.3f} / {number(c[prefix + 'sectors' + tail]) / max(1, number(c[prefix + 'requests' + tail])):.3f}"
                                for op, s in mine.items() for prefix, tail in [("l1tex__t_", f"_pipe_lsu_mem_global_op_{op}.sum")])
        print(f"| {name} | {k['warp_instructions']} | {total} | {worst} | {sectors} | {k['joined_pct']:.2f} | {unjoined} |")


def main():
    given = [a for a in sys.argv[1:] if not a.startswith("-")]
    folder, machine = pathlib.Path(given[0] if given else HERE), given[1] if len(given) > 1 else "h200_sm90"
    wanted = launches()
    recorded = {r["launch"]: r["kernels"][0] for r in lines(folder / "recorded.jsonl")}
    model = {r["launch"]: r for r in lines(folder / f"model-{machine}.jsonl") if "cycles" in r}
    ncu = counted(folder, wanted)
    recorded_table(wanted, recorded, ncu)
    kernels = []
    for name, l in wanted.items():
        if name in model and name in ncu and recorded.get(name, {}).get("warp_instructions"):
            kernels.append({"name": name, "list": l["list"], "source": "recorded", "h200_cycles": int(number(ncu[name]["gpc__cycles_elapsed.max"])),
                            "model_cycles": model[name]["cycles"]})
    print("\n| kernel | list | H200, cycles | model, cycles | error |\n|---|---|---|---|---|")
    for k in kernels:
        print(f"| {k['name']} | {k['list']} | {k['h200_cycles']} | {k['model_cycles']} | {100 * (k['model_cycles'] / k['h200_cycles'] - 1):+.1f} % |")
    print_lists(kernels)
    if "--write" in sys.argv:
        keep("counted.jsonl", [{"launch": n, **{k: v for k, v in f.items() if k.startswith(COUNTED)}} for n, f in ncu.items()])
        keep("recorded.jsonl", lines(folder / "recorded.jsonl"))
        keep(f"model-{machine}.jsonl", [{k: r[k] for k in KEPT} for r in model.values()])
        path = HERE / "results.json"
        others = [k for k in json.loads(path.read_text())["kernels"] if k["source"] != "recorded"]  # source_page/compare.py's
        write_results(path, kernels=kernels + others)


if __name__ == "__main__":
    main()
