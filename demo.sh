#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up, builds the `sluice` command and nothing else, and runs the quick evaluation: the published idea at work, with the
# RTL partition core in the loop. The first table comes after one pair of kernels. The RTL of one machine is built; that of another would be
# by the first command that asks for it, so the H200 has the RTL's twin.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
sluice=build/release/bin/sluice
policies=left_over,fcfs,even,spatial,warped_slicer,oracle

echo "== Building sluice: minutes the first time"
cmake --preset release -DSLUICE_ALL_UNITS=OFF -DBUILD_TESTING=OFF >/dev/null
# One line that moves on a terminal; elsewhere a line every tenth. What is no progress, an error, is shown as it is.
export NINJA_STATUS="building:%p, %e s "
if [ -t 1 ]; then cmake --build --preset release --target sluice
else cmake --build --preset release --target sluice 2>&1 |
  awk '!/^building:/ { print } /^building:/ && int($2 / 10) != last { last = int($2 / 10); print $1, $2, $3, $4; fflush() }'
fi

fermi=(--machine configs/machines/fermi_table1.toml --workload configs/workloads/table2.toml
       --window 300000 --curve-window 100000 --partitioner rtl --out out/demo)
echo "== Warped-Slicer's machine: a first pair of its applications"
$sluice eval "${fermi[@]}" --pairs DXT_MVP --policies left_over,even,warped_slicer

echo "== The same machine: eight pairs, three categories, the Oracle on two"
$sluice eval "${fermi[@]}" --policies "$policies" --oracle-pairs HOT_BFS,MM_MVP \
  --pairs DXT_MVP,IMG_NN,MM_MVP,HOT_BFS,DXT_LBM,IMG_BLK,DXT_IMG,HOT_MM

echo "== Two kernels of a real H200 profile on an H200-sized machine"
$sluice eval --machine configs/machines/h200.toml --workload configs/workloads/h200_torch_ops.toml \
  --pairs lgamma-vectorized4_vectorized-elementwise --policies left_over,warped_slicer --window 40000 --curve-window 4000 \
  --partitioner twin --out out/demo_h200
echo "== Jobs that arrive over time: in order of arrival, and with priorities that evict"
$sluice schedule --executor model --machine configs/machines/fermi_table1.toml --workload configs/workloads/table2.toml \
  --scenario configs/scenarios/table2_priorities.toml --scheduler arrival,piv
cat <<END
Reports: out/demo/index.html and out/demo_h200/index.html
What to try next:
  $sluice sim --machine configs/machines/fermi_table1.toml --workload configs/workloads/table2.toml --kernels IMG_NN \\
    --policy warped_slicer --timeline out/img_nn.json   # every CTA on every SM, for ui.perfetto.dev
  $sluice bench rtl          # how fast the RTL decides
END
