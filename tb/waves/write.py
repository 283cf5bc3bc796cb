#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes GTKWave's layouts, build/waves/<design>.gtkw, from layouts.toml beside this file. CMake does so when it configures."""
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def layout(design, top, groups, zoom):
    out = [f"[*] GTKWave layout: gtkwave <waveform>.fst build/waves/{design}.gtkw", "[timestart] 0", "[size] 1600 1000", "[pos] -1 -1",
           f"*-{zoom}.000000 0" + " -1" * 27, "[sst_width] 220", "[signals_width] 330", "[sst_expanded] 0"]
    for group, signals in groups.items():
        out += ["@200", f"-{group}"]
        for signal in signals.split():
            name, _, shown = signal.partition("'")
            out += [{"d": "@24", "b": "@28"}.get(shown, "@22" if name.endswith("]") else "@28"), f"TOP.{top}.{name}"]
    return "\n".join(out + ["[pattern_trace] 1", "[pattern_trace] 0", ""])


def main():
    layouts = tomllib.loads((ROOT / "tb/waves/layouts.toml").read_text())
    (ROOT / "build/waves").mkdir(parents=True, exist_ok=True)
    for design, groups in layouts.items():
        zoom, top, widths = groups.pop("zoom", 20), groups.pop("of", design), groups.pop("widths", {})
        if top != design and not groups:
            groups = {name: re.sub(r"(\w+)\[\d+:0\]", lambda m: f"{m[1]}[{widths[m[1]] - 1}:0]" if m[1] in widths else m[0], signals)
                      for name, signals in layouts[top].items()}
        (ROOT / f"build/waves/{design}.gtkw").write_text(layout(design, top, groups, zoom))


if __name__ == "__main__":
    main()
