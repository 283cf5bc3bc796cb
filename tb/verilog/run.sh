#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes a module as plain Verilog and runs tb/verilog/<module>_tb.v on it in Icarus: tb/verilog/run.sh <module> [work folder]
# The bench has a line "parameters: -G...", or a line "unit: <prefix> -G..." for each sluice_top that it holds.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
[ $# -ge 1 ] && [ -f "$root/tb/verilog/$1_tb.v" ] || {
  echo "usage: tb/verilog/run.sh <module> [work folder]; modules: $(cd "$root/tb/verilog" && echo *_tb.v | sed 's/_tb\.v//g')" >&2
  exit 2
}
for tool in yosys iverilog vvp; do
  command -v $tool > /dev/null || { echo "run.sh: no $tool: ./setup.sh installs it" >&2; exit 2; }
done
module=$1 bench="$root/tb/verilog/$1_tb.v"
work=${2:-$root/build/verilog}
mkdir -p "$work"
written=()
while read -r prefix parameters; do
  written+=("$work/$prefix$module.v")
  read -ra parameters <<< "$parameters"
  "$root/rtl/to_verilog.sh" sluice_top -p "$prefix" -o "${written[-1]}" "${parameters[@]}"
done < <(sed -n 's|^// unit: ||p' "$bench")
if [ ${#written[@]} -eq 0 ]; then
  written=("$work/$module.v")
  read -ra parameters <<< "$(sed -n 's|^// parameters: ||p' "$bench")"
  "$root/rtl/to_verilog.sh" "$module" -o "${written[0]}" "${parameters[@]}"
fi
iverilog -g2005 -s "${module}_tb" -o "$work/$module.vvp" "$bench" "${written[@]}"
vvp "$work/$module.vvp" | tee "$work/$module.log"
grep -q '^PASS' "$work/$module.log"
