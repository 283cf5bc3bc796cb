#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes results/synth/configurations.json anew: area, clock, power, coverage, mutation score and proofs of the named configurations. Hours.
set -euo pipefail
if [ $# -lt 2 ] || [[ $1 = -* ]]; then
  echo "usage: tb/configurations.sh LIBERTY SEED ...    the cells, and seeds of mutation that were not used before" >&2
  exit 2
fi
library=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
work=$PWD/build/configurations
mkdir -p "$work"
cmake --build --preset release --target tb_sluice_top
SLUICE_FST_DIR=$work build/release/bin/tb_sluice_top --gtest_filter='SluiceTop.NamedConfigurationsDecide'
synth/options.py --named --liberty "$library" --activity "$work" --json results/synth/configurations.json
tb/coverage.sh || [ $? = 1 ]   # 1: below a bound, and then the figure says so
scores=()
for seed in "$@"; do
  tb/mutation.sh --seed "$seed" --long --json > "$work/mutation_$seed.json" || [ $? = 1 ]
  scores+=("$work/mutation_$seed.json")
done
for name in small standard full; do
  mkdir -p "$work/$name"
  (cd build/coverage/sluice_top && SLUICE_COVERAGE_DIR=$work/$name ./bench --gtest_filter="SluiceTop.${name^}ConfigurationAgrees*")
  tb/coverage.sh --report-only --of "$work/$name" --json > "$work/$name.json" || [ $? = 1 ]
  tb/configurations.py "$name" --coverage "$work/$name.json" --mutation "${scores[@]}"
done
docs/fill_numbers.py --update docs/reference/area_timing_power.md
