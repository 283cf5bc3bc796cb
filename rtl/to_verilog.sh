#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes a module of the RTL as plain Verilog-2005, through Yosys, for tools that don't read SystemVerilog.
set -euo pipefail
usage() {
  cat <<END
usage: rtl/to_verilog.sh [top] [-o file] [-p prefix] [-GNAME=value ...]
  top             a module of rtl/sluice.f (default: sluice_top); everything below it is written too
  -o file         where to (default: standard output)
  -p prefix       of every module's name, for a design that has the same names, or several units
  -GNAME=value    sets a parameter of top
END
}
root="$(cd "$(dirname "$0")/.." && pwd)"
top=sluice_top output=- prefix="" parameters=""
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) usage; exit 0 ;;
    -o) [ $# -ge 2 ] || { usage >&2; exit 2; }; output=$(realpath -m "$2"); shift ;;  # before the change of folder
    -p) [[ ${2:-} =~ ^[a-zA-Z_][a-zA-Z0-9_]*$ ]] || { usage >&2; exit 2; }; prefix=$2; shift ;;
    -G*=*) parameter=${1#-G}; parameters+=" -set ${parameter%%=*} ${parameter#*=}" ;;
    -*) usage >&2; exit 2 ;;
    *) top=$1 ;;
  esac
  shift
done
cd "$root"
if ! grep -qE "/$top\.sv$" rtl/sluice.f; then
  modules=$(sed -n 's|rtl/\(.*/\)\?\([a-z_]*\)\.sv|\2|p' rtl/sluice.f | grep -v _pkg | tr '\n' ' ')
  echo "to_verilog.sh: $top: no such module; rtl/sluice.f has: $modules" >&2
  exit 2
fi
written="$(mktemp)"
trap 'rm -f "$written"' EXIT
yosys -q -p "read_verilog -sv $(tr '\n' ' ' < rtl/sluice.f); ${parameters:+chparam$parameters $top;} \
hierarchy -check -top $top; proc; opt_clean; rename -top $top; \
write_verilog -noattr $written" 2>&1 | grep -v '^Warning: Replacing memory' >&2 || true
[ -s "$written" ] || { echo "to_verilog.sh: Yosys wrote nothing" >&2; exit 1; }
# Yosys names a module after its parameters, "\$paramod$5b2c...\sluice_csr_slot": plain names read better, and every
# tool takes them.
python3 - "$written" "$prefix" <<'END'
import re, sys
path, prefix = sys.argv[1:]
text = open(path).read()
names = {}
for long in dict.fromkeys(re.findall(r"^module (\\\$paramod\S+)", text, re.M)):
    base = re.search(r"\\([a-z]\w*)(?=\\|$)", long[1:])[1]
    others = sum(n.startswith(base) for n in names.values())
    names[long] = base if base not in names.values() else f"{base}_{1 + others}"
for long, short in names.items():
    text = text.replace(long + " ", short + " ")
if prefix:
    modules = set(re.findall(r"^module (\w+)", text, re.M))
    prefixed = lambda m: m[1] + (prefix if m[2] in modules else "") + m[2]
    text = re.sub(r"^(module |  )(\w+)(?=[ (])", prefixed, text, flags=re.M)
open(path, "w").write(text)
END
if [ "$output" = - ]; then cat "$written"; else cat "$written" > "$output"; fi
