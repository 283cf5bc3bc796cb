#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the ten applications and runs curves and pairs on the model.
# usage: measure.sh SLUICE OUT   (needs a GPU for half a minute; 15 minutes on 16 cores)
set -eu
sluice=$(realpath "$1") out=$2
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../../..")
nodes=3049907
applications=(BFS MM HOT KNN NN LBM MVP BLK DXT IMG)  # by registers of a CTA: the runtime places the larger ones first, and the older warps go first
pairs=$(for ((i = 0; i < 10; i++)); do for ((j = i + 1; j < 10; j++)); do echo "${applications[i]}_${applications[j]}"; done; done | paste -sd,)
bfs="in:u32:$((nodes + 1)):iota:8:0:1;in:u32:$((nodes * 8)):uniform:0:$((nodes - nodes % 256)):2;in:u8:$nodes:chance:0.25:0:3"
bfs+=";in:u8:$nodes:chance:0.4:0:4;out:u32:$nodes;out:u8:$nodes;u32:6;u32:$nodes"
record() { # FOLDER DIVISOR
  local ctas
  mkdir -p "$1"
  for ctas in BLK:1192 DXT:2383 HOT:1024 IMG:1192 KNN:894 LBM:1787 MM:149 MVP:397 NN:1192; do
    "$sluice" gpu record --app "${ctas%:*}" --ctas "$((${ctas#*:} / $2))" --limit 8G --out "$1/${ctas%:*}"
  done
  "$sluice" gpu record --kernel "$root/sw/gpu/apps/bfs.cu:bfs,grid=5957,block=512,args=$bfs" --ctas "$((596 / $2))" --limit 8G --out "$1/BFS"
  (cd "$1" && "$sluice" import traces "${applications[@]}" --like "$root/configs/workloads/table2.toml" --machine "$here/h200_eleventh.toml" --out workload.toml)
}
run() { # NAME WORKLOAD MACHINE ARGUMENTS...
  "$sluice" eval --workload "$2" --machine "$3" --pairs "$pairs" --partitioner twin --out "$out/$1" "${@:4}"
}
record "$out/tenth" 1
record "$out/twentieth" 2
sed 's/^cta_launch_latency = .*/cta_launch_latency = 380/; /^kernels_stay/d' "$here/h200_eleventh.toml" >"$out/hardware.toml"
run quotas "$out/tenth/workload.toml" "$here/h200_eleventh.toml" --policies even,solo_curve,warped_slicer --window 600000
run spatial "$out/tenth/workload.toml" "$out/hardware.toml" --policies spatial --window 600000
run left_over "$out/twentieth/workload.toml" "$out/hardware.toml" --policies left_over --window 1500000 --curve-window 30000
python3 "$here/compare.py" --take "$out"/{quotas,spatial,left_over}/results.json
