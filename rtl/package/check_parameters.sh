#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each parameter of sluice_top outside its range is refused at elaboration, with its name: by Verilator, by Yosys, and
# so by rtl/to_verilog.sh, which writes nothing then. In the Verilog that it writes parameters are numbers.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

refused() {   # <what> <parameter>: the last command failed, and said why
  if [ $1 -eq 0 ]; then echo "$2: $3 accepts it"; exit 1; fi
  grep -q "sluice_top: ${2%=*} must be" "$work/log" && return
  echo "$2: refused by $3 without its name:"
  cat "$work/log"
  exit 1
}

for illegal in NUM_SM=0 NUM_SM=257 MAX_KERNELS=1 MAX_KERNELS=9 MAX_CTAS=3 MAX_CTAS=33 NUM_SCHED=0 NUM_SCHED=5 \
               REGION_UNITS=8 REGION_UNITS=129 SM_ENABLE=2 SM_READY=2 FLUSH=21 PRIORITY=2 PATIENCE=21 PATIENCE=3 \
               CHURN=20 TAIL=2 LAUNCH_QUEUE=9 BALANCE=3; do
  yosys -q -p "read_verilog -sv rtl/sluice_pkg.sv rtl/sluice_top.sv; chparam -set ${illegal/=/ } sluice_top; \
hierarchy -top sluice_top" > "$work/log" 2>&1
  refused $? $illegal Yosys
  [ $illegal = NUM_SM=0 ] && continue   # Verilator ends at the widths of blocks without an SM
  small=(-GNUM_SM=2 -GMAX_KERNELS=2 -GMAX_CTAS=4 -GREGION_UNITS=0)
  verilator --lint-only "${small[@]}" -G$illegal -f rtl/sluice.f --top-module sluice_top > "$work/log" 2>&1
  refused $? $illegal Verilator
done
rtl/to_verilog.sh sluice_top -o "$work/sluice_top.v" -GNUM_SM=2 -GMAX_CTAS=3 > "$work/log" 2>&1
refused $? MAX_CTAS=3 to_verilog.sh
[ ! -e "$work/sluice_top.v" ] || { echo "to_verilog.sh wrote a unit with MAX_CTAS=3"; exit 1; }
echo "21 illegal parameters: each refused"
