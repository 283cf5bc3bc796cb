#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes rows of results.csv: `results/balance/measure.sh OUT [SWEEP...]`, all in configs/sweeps/balance, or those of these names;
# rows of other sweeps that are there stay. Goes on where it was stopped, and with what `sluice sweep ... --task` left in OUT/inbox.
set -e
out=$1
[ $# -gt 1 ] || set -- "$1" $(basename -s .toml -a configs/sweeps/balance/*.toml)
shift
sluice=${SLUICE:-build/release/bin/sluice} rows=results/balance/results.csv
for sweep; do $sluice sweep "configs/sweeps/balance/$sweep.toml" --out "$out"; done
$sluice report "$out" --sql "
  WITH r AS (
    SELECT name, result, json_extract(result, '\$.cycles') AS cycles, name LIKE '%-intra_sm-' AS ours,
      CASE WHEN json_extract(result, '\$.decisions[#-1].balance.kept') >= 0 THEN
        '\$.decisions[#-1].balance.candidates[' || json_extract(result, '\$.decisions[#-1].balance.kept') || ']' END AS kept
    FROM runs)
  SELECT sweep, parameters, mix, policy, points.cycles, stp, antt, partition, json_extract(result, kept || '.score') AS promised,
    (SELECT group_concat(round(value, 4), ' ') FROM json_each(result, kept || '.rates')) AS rates,
    (SELECT group_concat(json_extract(value, '\$.finish_cycle'), ' ') FROM json_each(result, '\$.kernels')) AS finish,
    CASE WHEN ours THEN json_extract(result, '\$.decisions[#-1].decided_at') END AS decided
  FROM points LEFT JOIN r ON name LIKE mix || '-%' AND r.cycles = points.cycles AND ours = (policy = 'balance')
  GROUP BY sweep, task, parameters, policy
  ORDER BY sweep, task, policy" > "$out/rows.csv"
awk -F, -v "sweeps= $(basename -s .toml -a configs/sweeps/balance/*.toml | tr '\n' ' ')" '
  NR == FNR { made[$1]; print; next }
  FNR > 1 && !($1 in made) && index(sweeps, " " $1 " ")' "$out/rows.csv" $rows > "$out/all.csv"
(head -n 1 "$out/all.csv"; tail -n +2 "$out/all.csv" | sort -s -t, -k 1,1) > $rows
