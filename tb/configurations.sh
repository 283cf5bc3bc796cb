#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures named configurations into results/synth/configurations.json; see the usage below.
set -euo pipefail
usage() {
  cat >&2 <<'U'
usage: tb/configurations.sh [small | standard | full ...] [--liberty FILE] [--coverage] [--mutation SEED ...]
  names       of these configurations (default: all)
  --liberty   area, clock and power with these cells: minutes to an hour each
  --coverage  lines and toggles that any bench reaches in its model, and properties: an hour
  --mutation  the score of seeds that were not used before: hours
What is not asked for stays as it is in the file.
U
  exit 2
}
library='' coverage='' names=() seeds=()
while [ $# -gt 0 ]; do
  case $1 in
    small | standard | full) names+=("$1") ;;
    --liberty) library=$(realpath -e "${2:?--liberty: which file?}"); shift ;;
    --coverage) coverage=yes ;;
    --mutation) while [[ ${2:-} =~ ^[0-9]+$ ]]; do seeds+=("$2"); shift; done; [ ${#seeds[@]} -gt 0 ] || usage ;;
    *) usage ;;
  esac
  shift
done
[ -n "$library$coverage${seeds[*]:-}" ] || usage
[ ${#names[@]} -gt 0 ] || names=(small standard full)
cd "$(dirname "$0")/.."
work=$PWD/build/configurations
mkdir -p "$work"
if [ -n "$library" ]; then
  cmake --build --preset release --target tb_sluice_top
  SLUICE_FST_DIR=$work build/release/bin/tb_sluice_top --gtest_filter='SluiceTop.NamedConfigurationsDecide'
  synth/options.py --named "${names[@]}" --liberty "$library" --activity "$work" --json results/synth/configurations.json
fi
if [ -n "$coverage" ]; then
  tb/coverage.sh || [ $? = 1 ]   # 1: below a bound, and then the figure says so
  for name in "${names[@]}"; do
    tb/coverage.sh --report-only --of "build/coverage/sluice_top/SluiceTop.${name^}ConfigurationAgreesInEveryCycle" --json > "$work/$name.json" || [ $? = 1 ]
  done
fi
scores=()
for seed in "${seeds[@]}"; do
  tb/mutation.sh --seed "$seed" --long --json > "$work/mutation_$seed.json" || [ $? = 1 ]
  scores+=("$work/mutation_$seed.json")
done
if [ -n "$coverage${seeds[*]:-}" ]; then
  for name in "${names[@]}"; do tb/configurations.py "$name" ${coverage:+--coverage "$work/$name.json"} --mutation "${scores[@]}"; done
fi
docs/fill_numbers.py --update docs/reference/area_timing_power.md
