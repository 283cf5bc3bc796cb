#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long a block of Sluice's runtime takes beside its own time: blocks that only wait, on all SMs.
# With 169 threads, whose last warp is not full, the runtime of that time let warps go on by themselves.
# usage: turnaround.sh SLUICE >turnaround.jsonl   (needs a GPU with 132 SMs, half a minute)
set -eu
here=$(dirname "$(realpath "$0")")
for threads in 32 128 169 192 256 512; do
  for quota in 1 2 4; do
    for cycles in 0 2000 10000; do
      "$1" gpu run --kernel "$here/../../../tests/gpu/wait.cu:wait_cycles,grid=264000,block=$threads,args=out:u32:264000;i32:$cycles" --policy static --quota "$quota" --json |
        python3 -c "
import json, sys
run = json.load(sys.stdin)
kernel = run['kernels'][0]
print(json.dumps({'gpu': run['gpu'], 'threads': $threads, 'quota': $quota, 'cycles': $cycles,
                  **{key: kernel[key] for key in ('blocks', 'seconds', 'quota_violations')}}))"
    done
  done
done
