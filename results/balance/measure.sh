#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes every row of results.csv: `results/balance/measure.sh OUT`. Goes on where it was stopped.
set -e
for sweep in configs/sweeps/balance/*.toml; do ${SLUICE:-build/release/bin/sluice} sweep "$sweep" --out "$1"; done
${SLUICE:-build/release/bin/sluice} report "$1" --sql "
  SELECT sweep, parameters, mix, policy, cycles, stp, antt, partition,
    (SELECT json_extract(result, '\$.decisions[#-1].balance.candidates[' || json_extract(result, '\$.decisions[#-1].balance.kept') || '].score')
     FROM runs WHERE name LIKE mix || '-%' AND json_extract(result, '\$.cycles') = cycles) AS promised
  FROM points ORDER BY sweep, task, policy" > results/balance/results.csv
