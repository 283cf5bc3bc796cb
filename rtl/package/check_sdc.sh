#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OpenSTA reads rtl/sluice.sdc for a mapped block of the unit: no error, no warning, and every endpoint is constrained.
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in yosys sta; do
  command -v $tool > /dev/null || { echo "check_sdc.sh: no $tool: ./setup.sh installs it" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
liberty=$(cd synth && python3 -c "import liberty; print(liberty.Library('tech/sluice45.cells').path)")
yosys -q -p "read_verilog -sv rtl/common/rr_arbiter.sv; chparam -set N 4 rr_arbiter; hierarchy -top rr_arbiter; \
synth -flatten -top rr_arbiter; rename -top block; dfflibmap -liberty $liberty; abc -liberty $liberty; clean; \
write_verilog -noattr $work/block.v"
cat > "$work/sta.tcl" <<END
read_liberty $liberty
read_verilog $work/block.v
link_design block
set sluice_period 1.5
source rtl/sluice.sdc
puts "setup: [check_setup -verbose -unconstrained_endpoints -no_clock -no_input_delay]"
report_checks -path_delay max -format summary
exit
END
sta -no_splash -exit "$work/sta.tcl" < /dev/null | tee "$work/log"
grep -q '^setup: 1$' "$work/log"
! grep -qiE '^(error|warning)' "$work/log"
