#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pairs under quotas on the committed traces of the ten applications (shorter grids, a BFS of the whole graph), in short windows.
# usage: again.sh SLUICE OUT   (needs no GPU; 20 minutes of two cores)
set -eu
sluice=$(realpath "$1") out=$2
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../../..")
applications=(BFS MM HOT KNN NN LBM MVP BLK DXT IMG)  # as in measure.sh
pairs=$(for ((i = 0; i < 10; i++)); do for ((j = i + 1; j < 10; j++)); do echo "${applications[i]}_${applications[j]}"; done; done | paste -sd,)
for run in even:100000 warped_slicer:200000; do
  "$sluice" eval --workload "$root/configs/workloads/table2_recorded.toml" --machine "$here/h200_eleventh.toml" --pairs "$pairs" --partitioner twin \
    --policies "${run%:*}" --window "${run#*:}" --curve-window 1000 --out "$out/${run%:*}"
done
python3 "$here/compare.py" --model again.json --take "$out"/{even,warped_slicer}/results.json
