#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes a module as plain Verilog, with the parameters that its bench names in a line of its own, and runs tb/verilog/<module>_tb.v on it in
# Icarus: tb/verilog/run.sh <module> [work folder]
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
[ $# -ge 1 ] && [ -f "$root/tb/verilog/$1_tb.v" ] || {
  echo "usage: tb/verilog/run.sh <module> [work folder]; modules: $(cd "$root/tb/verilog" && echo *_tb.v | sed 's/_tb\.v//g')" >&2
  exit 2
}
for tool in yosys iverilog vvp; do
  command -v $tool > /dev/null || { echo "run.sh: no $tool: ./setup.sh installs it" >&2; exit 2; }
done
module=$1
work=${2:-$root/build/verilog}
mkdir -p "$work"
read -ra parameters <<< "$(sed -n 's|^// parameters: ||p' "$root/tb/verilog/${module}_tb.v")"
"$root/rtl/to_verilog.sh" "$module" -o "$work/$module.v" "${parameters[@]}"
iverilog -g2005 -o "$work/$module.vvp" "$root/tb/verilog/${module}_tb.v" "$work/$module.v"
vvp "$work/$module.vvp" | tee "$work/$module.log"
grep -q '^PASS' "$work/$module.log"
