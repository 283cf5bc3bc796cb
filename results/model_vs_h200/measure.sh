#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records the launches of launches.tsv with all CTAs, counts them with Nsight Compute, and runs the traces on the model.
# usage: [MODEL=SLUICE] measure.sh SLUICE USER_SET.cu OUT MACHINE.toml...   (about five minutes on 16 cores and a GPU)
set -u
export sluice=$1 user=$2 out=$3 model=${MODEL:-$1}
machines=("${@:4}")
here=$(dirname "$(realpath "$0")")
mkdir -p "$out/traces" "$out/parts"
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader >"$out/machine.txt"
date -u +%FT%TZ >>"$out/machine.txt"
record() {
  IFS=$'\t' read -r name _ _ spec <<<"$1"
  if [[ $spec == *,grid=* ]]; then args=(--kernel "$user:$spec"); else args=(--small --app "$spec"); fi
  timeout 150 "$sluice" gpu record "${args[@]}" --ctas all --limit 8G --out "$out/traces/$name" --json 2>>"$out/errors.txt" |
    sed "s/^{/{\"launch\":\"$name\",/" >"$out/parts/$name.record"
}
replay() { # LAUNCH MACHINE.toml
  local name
  name=$(basename "$2" .toml)
  timeout "${REPLAY:-200}" "$model" trace "$out/traces/$1/kernelslist.g" --machine "$2" --json 2>>"$out/errors.txt" |
    sed "s/^{/{\"launch\":\"$1\",/" >"$out/parts/$1.$name"
}
export -f record replay
rows=$(grep -v '^#' "$here/launches.tsv")
xargs -d '\n' -P 12 -I{} bash -c 'record "$1"' _ {} <<<"$rows"
cat "$out"/parts/*.record >"$out/recorded.jsonl"
date -u +"recorded %FT%TZ" >>"$out/machine.txt"
for launch in $(cut -f1 <<<"$rows"); do printf '%s\n' "${machines[@]/#/$launch }"; done |
  xargs -P "$(($(nproc) - 2))" -L 1 bash -c 'replay "$@"' _ &
metrics=gpc__cycles_elapsed.max,smsp__inst_executed.sum,sass__inst_executed_per_opcode,dram__bytes_read.sum,dram__bytes_write.sum
metrics+=,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_tex_lookup_miss.sum
for op in ld st red atom; do metrics+=,l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum; done
metrics+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
functions=$(cut -f3 <<<"$rows" | paste -sd'|')
count() { # FILE ARGUMENTS...
  local file=$1
  shift
  timeout 130 ncu --clock-control none --kernel-name "regex:^($functions)\$" --metrics $metrics --print-metric-instances details --csv --page raw \
    "$sluice" gpu run --policy native "$@" >"$file" 2>>"$out/errors.txt"
}
mapfile -t applications < <(grep -v ',grid=' <<<"$rows" | cut -f4)
mapfile -t kernels < <(grep ',grid=' <<<"$rows" | cut -f4)
for ((i = 0; i < ${#applications[@]}; i += 13)); do
  count "$out/ncu-applications-$i.csv" --small $(printf -- '--app %s ' "${applications[@]:i:13}")
done
for ((i = 0; i < ${#kernels[@]}; i += 9)); do
  arguments=()
  for k in "${kernels[@]:i:9}"; do arguments+=(--kernel "$user:$k"); done
  count "$out/ncu-kernels-$i.csv" "${arguments[@]}"
done
date -u +"counted %FT%TZ" >>"$out/machine.txt"
wait
for machine in "${machines[@]}"; do
  cat "$out"/parts/*."$(basename "$machine" .toml)" >"$out/model-$(basename "$machine" .toml).jsonl"
done
date -u +"replayed %FT%TZ" >>"$out/machine.txt"
