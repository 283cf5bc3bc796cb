#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records every application on a GPU, small with all CTAs and at full scale with 64; counts the small launches with Nsight Compute;
# runs the traces on the model. usage: measure.sh SLUICE MACHINE.toml OUT   (about seven minutes on 16 cores)
set -u
sluice=$1 machine=$2 out=$3
apps="BLK BFS DXT HOT IMG KNN LBM MM MVP NN FMA SFU STREAM SHM L1 LAT FFT MD MD5 RED SCAN SORT SPMV ST2D TRIAD BO FD LM NB PF TP SAD MRIQ TEA GS RG TR"
mkdir -p "$out/traces" "$out/parts"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/machine.txt"
date -u +%FT%TZ >>"$out/machine.txt"
for a in $apps; do
  timeout 100 "$sluice" gpu record --app $a --small --ctas all --limit 8G --out "$out/traces/$a" --json >"$out/parts/$a.small" 2>>"$out/errors.txt" ||
    echo "$a: small: exit code $?" >>"$out/errors.txt"
done
cat "$out"/parts/*.small >"$out/small.jsonl"
for a in $apps; do
  timeout 100 "$sluice" gpu record --app $a --ctas 64 --limit 8G --out "$out/full/$a" --json >>"$out/full.jsonl" 2>>"$out/errors.txt" ||
    echo "$a: full: exit code $?" >>"$out/errors.txt"
done
timeout 200 ncu --metrics smsp__inst_executed.sum,sass__inst_executed_per_opcode,gpc__cycles_elapsed.max --print-metric-instances details --csv --page raw \
  "$sluice" gpu run --policy native --small $(printf -- '--app %s ' $apps) >"$out/ncu.csv" 2>>"$out/errors.txt"
replay() {
  timeout 150 "$1" trace "$3/traces/$4/kernelslist.g" --machine "$2" --json >"$3/parts/$4.model" 2>>"$3/errors.txt" && sed "s/^{/{\"app\":\"$4\",/" "$3/parts/$4.model"
}
export -f replay
printf '%s\n' $apps | xargs -P "$(nproc)" -I{} bash -c 'replay "$@"' _ "$sluice" "$machine" "$out" {} >"$out/model.jsonl"
