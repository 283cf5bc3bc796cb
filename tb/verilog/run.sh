#!/usr/bin/env bash
# Writes a module as plain Verilog, with the parameters that its bench names in its first line, and runs tb/verilog/<module>_tb.v on it in
# Icarus: tb/verilog/run.sh <module> [work folder]
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
module=$1
work=${2:-$root/build/verilog}
mkdir -p "$work"
read -ra parameters <<< "$(sed -n '1s|^// parameters: ||p' "$root/tb/verilog/${module}_tb.v")"
"$root/rtl/to_verilog.sh" "$module" -o "$work/$module.v" "${parameters[@]}"
iverilog -g2005 -o "$work/$module.vvp" "$root/tb/verilog/${module}_tb.v" "$work/$module.v"
vvp "$work/$module.vvp" | tee "$work/$module.log"
grep -q '^PASS' "$work/$module.log"
