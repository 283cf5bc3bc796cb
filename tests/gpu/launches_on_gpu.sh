#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What launches cost a program: natively, under MPS, with a fixed quota, and under a service with MPS, in turns (launches.cu).
# usage: launches_on_gpu.sh SLUICE [ROUNDS] >lines.jsonl   (needs a GPU and nvcc; a quarter of a minute a round)
set -eu
sluice=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d) service=
trap '[ -z "$service" ] || { kill "$service" && wait "$service" || true; }; rm -rf "$work"' EXIT
nvcc -O2 -arch=sm_90 "$root/tests/gpu/launches.cu" -o "$work/launches"
export SLUICE_COMPILE_WAIT_MS=10000 SLUICE_CACHE_DIR=$work/cache  # each round launches the transformed kernels, from the first launch on
"$sluice" serve --mps --executor gpu --socket "$work/s" --scheduler even >"$work/service.txt" 2>&1 &
service=$!
for ((i = 0; i < 100; i++)); do
  if [ -S "$work/s" ]; then break; fi
  sleep 0.1
done
pipes=$(find "$work" -maxdepth 1 -type d -name '*mps*')
"$sluice" gpu experiment verify --apps BLK --out "$work/machine" >/dev/null 2>&1  # writes which GPU, driver and commit these are
where=$(python3 -c "
import json, sys
m = json.load(open(sys.argv[1]))
print(json.dumps({k: m[k] for k in ('name', 'driver_cuda')} | {k: m['measured']['verify'][k] for k in ('date', 'commit')}).lstrip('{'))" "$work/machine/machine.json")
for ((round = 0; round < ${2:-3}; round++)); do
  for what in native mps quota service; do
    case $what in
      native) line=$("$work/launches") ;;
      mps) line=$(CUDA_MPS_PIPE_DIRECTORY=$pipes "$work/launches") ;;
      quota) line=$("$sluice" run --quota 32 -- "$work/launches" 2>/dev/null) ;;
      service) line=$("$sluice" run --socket "$work/s" -- "$work/launches" 2>/dev/null) ;;
    esac
    line=${line#\{}
    echo "{\"what\": \"$what\", \"round\": $round, ${line%\}}, $where"
  done
done
