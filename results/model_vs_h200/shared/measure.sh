#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the ten applications and runs curves and pairs on the model, in parts: what is there is kept, and the same command goes on.
# usage: [ELEVENTHS=N] measure.sh SLUICE OUT [SECONDS [STEP...]]
# N: the machine is so many elevenths of an H200, 12 SMs each; 1 without it. Recordings and runs grow with it, so each N has an OUT of its own.
# SECONDS: after them nothing is begun, and what runs is stopped (default: a day). Runs that ended are kept in OUT.
# STEP: record (needs a GPU, half a minute), curves, warped_slicer, even, spatial, left_over; all without one. Of 16 cores curves take
# about four minutes, the others two to five each, with N = 1. Once all are there, ../take_in.py evaluated model.json OUT/results-*.json makes it anew.
set -eu
mkdir -p "$2"
sluice=$(realpath "$1") out=$(realpath "$2") seconds=${3:-86400}
steps=("${@:4}")
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../../..")
n=${ELEVENTHS:-1}
nodes=$((3049907 * n))
applications=(BFS MM HOT KNN NN LBM MVP BLK DXT IMG)  # by registers of a CTA: the runtime places the larger ones first, and the older warps go first
pairs=$(for ((i = 0; i < 10; i++)); do for ((j = i + 1; j < 10; j++)); do echo "${applications[i]}_${applications[j]}"; done; done | paste -sd,)
bfs="in:u32:$((nodes + 1)):iota:8:0:1;in:u32:$((nodes * 8)):uniform:0:$((nodes - nodes % 256)):2;in:u8:$nodes:chance:0.25:0:3"
bfs+=";in:u8:$nodes:chance:0.4:0:4;out:u32:$nodes;out:u8:$nodes;u32:6;u32:$nodes"
record() { # FOLDER DIVISOR
  local ctas
  [ -e "$1/workload.toml" ] && return
  mkdir -p "$1"
  for ctas in BLK:1192 DXT:2383 HOT:1024 IMG:1192 KNN:894 LBM:1787 MM:149 MVP:397 NN:1192; do
    "$sluice" gpu record --app "${ctas%:*}" --ctas "$((${ctas#*:} * n / $2))" --limit 8G --out "$1/${ctas%:*}"
  done
  "$sluice" gpu record --kernel "$root/sw/gpu/apps/bfs.cu:bfs,grid=$(((nodes + 511) / 512)),block=512,args=$bfs" --ctas "$((596 * n / $2))" --limit 8G --out "$1/BFS"
  (cd "$1" && "$sluice" import traces "${applications[@]}" --like "$root/configs/workloads/table2.toml" --machine "$out/runtime.toml" --out workload.toml)
}
run() { # STEP FOLDER WORKLOAD MACHINE ARGUMENTS...
  local left=$((seconds - SECONDS))
  [ -e "$out/results-$1.json" ] && return
  if ((left > 5)) && timeout -s INT -k 10 "$left" "$sluice" eval --workload "$3" --machine "$4" --pairs "$pairs" --partitioner twin --out "$out/$2" "${@:5}"; then
    cp "$out/$2/results.json" "$out/results-$1.json"
  else
    echo "$1: not through; the same command goes on" >&2
  fi
}
interval=$(awk "BEGIN { print 13.09 / $n }")
sed "s/^num_sms = 12 /num_sms = $((12 * n)) /; s/^l2_slices = 9 /l2_slices = $((9 * n)) /; s/^channels = 9\$/channels = $((9 * n))/
  s/^cta_interval = [0-9.]*/cta_interval = $interval/" "$here/h200_eleventh.toml" >"$out/runtime.toml"
sed 's/^cta_launch_latency = .*/cta_launch_latency = 380/; /^kernels_stay\|^cta_launch_latency_apart/d' "$out/runtime.toml" >"$out/hardware.toml"
[ ${#steps[@]} -gt 0 ] || steps=(record curves warped_slicer even spatial left_over)
for step in "${steps[@]}"; do
  case $step in
    record) record "$out/tenth" 1; record "$out/twentieth" 2 ;;
    curves) run curves curves "$out/tenth/workload.toml" "$out/runtime.toml" --policies solo_curve --window 20000 --curve-window 300000 ;;
    warped_slicer | even) run "$step" quotas "$out/tenth/workload.toml" "$out/runtime.toml" --policies "$step" --window 600000 --curve-window 1000 ;;
    spatial) run "$step" "$step" "$out/tenth/workload.toml" "$out/hardware.toml" --policies spatial --window 600000 --curve-window 1000 ;;
    left_over) run "$step" "$step" "$out/twentieth/workload.toml" "$out/hardware.toml" --policies left_over --window 1500000 --curve-window 1000 ;;
    *) echo "$step: no step" >&2 && exit 2 ;;
  esac
done
