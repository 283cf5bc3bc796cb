#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes rows of results.csv: `results/balance/measure.sh OUT [SWEEP...]`, all in configs/sweeps/balance, or those of these names;
# rows of other sweeps stay. Goes on where it was stopped.
set -e
out=$1
[ $# -gt 1 ] || set -- "$1" $(basename -s .toml -a configs/sweeps/balance/*.toml)
shift
sluice=${SLUICE:-build/release/bin/sluice} rows=results/balance/results.csv
for sweep; do $sluice sweep "configs/sweeps/balance/$sweep.toml" --out "$out"; done
$sluice report "$out" --sql "
  SELECT sweep, parameters, mix, policy, cycles, stp, antt, partition,
    (SELECT CASE WHEN json_extract(result, '\$.decisions[#-1].balance.kept') >= 0 THEN
       json_extract(result, '\$.decisions[#-1].balance.candidates[' || json_extract(result, '\$.decisions[#-1].balance.kept') || '].score') END
     FROM runs WHERE name LIKE mix || '-%' AND json_extract(result, '\$.cycles') = cycles) AS promised
  FROM points ORDER BY sweep, task, policy" > "$out/rows.csv"
awk -F, 'NR == FNR { made[$1]; print; next } FNR > 1 && !($1 in made)' "$out/rows.csv" $rows > "$out/all.csv"
(head -n 1 "$out/all.csv"; tail -n +2 "$out/all.csv" | sort -s -t, -k 1,1) > $rows
