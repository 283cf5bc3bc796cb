#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws small blocks as schematics of word-level operators, with netlistsvg (npm install netlistsvg; NETLISTSVG names another program).
set -euo pipefail
usage() { echo "usage: synth/schematic.sh [-o folder] module ...   (default: build/schematics, profile_counters)"; }
root="$(cd "$(dirname "$0")/.." && pwd)"
out="$root/build/schematics"
case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  -o) [ $# -ge 2 ] || { usage >&2; exit 2; }; out=$2; shift 2 ;;
  -*) usage >&2; exit 2 ;;
esac
program=${NETLISTSVG:-netlistsvg}
command -v "$program" > /dev/null || { echo "schematic.sh: no $program: npm install netlistsvg, or NETLISTSVG=program" >&2; exit 2; }
command -v yosys > /dev/null || { echo "schematic.sh: no yosys: ./setup.sh installs it" >&2; exit 2; }
[ $# -gt 0 ] || set -- profile_counters
for module in "$@"; do
  grep -qE "/$module\.sv$" "$root/rtl/sluice.f" || { echo "schematic.sh: $module: not in rtl/sluice.f" >&2; exit 2; }
done
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for module in "$@"; do
  (cd "$root" && yosys -q -p "read_verilog -sv $(tr '\n' ' ' < rtl/sluice.f); hierarchy -check -top $module; proc; flatten; opt -full; wreduce; opt_clean -purge
    rename -top $module; delete */t:\$assert; write_json $work/$module.json" > "$work/log" 2>&1) ||
    { echo "schematic.sh: $module: Yosys failed:" >&2; cat "$work/log" >&2; exit 1; }
  "$program" "$work/$module.json" -o "$out/$module.svg"
  echo "$out/$module.svg"
done
