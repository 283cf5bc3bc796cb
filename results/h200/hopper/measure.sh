#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Microbenchmarks of an sm_90 GPU. usage: measure.sh OUT [FOLDER of the programs as built]   (ten seconds)
set -u
out=$1 built=${2:-$1}
here=$(dirname "$(realpath "$0")")/../../../tests/gpu/sm90
mkdir -p "$out"
for program in pipes memory launch reads; do
  [ -x "$built/$program" ] || nvcc -gencode arch=compute_90a,code=sm_90a -O3 -std=c++20 -cudart static -o "$built/$program" "$here/$program.cu" || exit 1
done
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader >"$out/machine.txt"
date -u +%FT%TZ >>"$out/machine.txt"
"$built/pipes" >"$out/pipes.jsonl"
"$built/memory" >"$out/memory.jsonl"
"$built/launch" >"$out/launch_warm.jsonl"
"$built/reads" >"$out/reads.jsonl"
ncu --clock-control none --metrics gpc__cycles_elapsed.max,sm__cycles_elapsed.max,sm__cycles_active.max --csv --page raw "$built/launch" >"$out/launch.csv"
