#!/usr/bin/env bash
# Sets everything up, builds, and runs the quick evaluation: the published idea at work, with the RTL partition core in the loop.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
cmake --preset release >/dev/null
cmake --build --preset release
sluice=build/release/bin/sluice
policies=left_over,fcfs,even,spatial,warped_slicer,oracle

echo "== Warped-Slicer's machine: eight pairs of its applications, three categories, the Oracle on two"
$sluice eval --machine configs/machines/fermi_table1.toml --workload configs/workloads/table2.toml \
  --pairs DXT_MVP,IMG_NN,MM_MVP,HOT_BFS,DXT_LBM,IMG_BLK,DXT_IMG,HOT_MM --policies "$policies" --oracle-pairs HOT_BFS,MM_MVP \
  --window 300000 --curve-window 100000 --partitioner rtl --out out/demo

echo "== Two kernels of a real H200 profile on an H200-sized machine"
$sluice eval --machine configs/machines/h200.toml --workload configs/workloads/h200_torch_ops.toml \
  --pairs lgamma-vectorized4_vectorized-elementwise --policies left_over,fcfs,even,spatial,warped_slicer \
  --window 60000 --curve-window 20000 --partitioner rtl --out out/demo_h200
echo "Reports: out/demo/index.html and out/demo_h200/index.html"
