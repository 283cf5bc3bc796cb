#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What needs a GPU and is no measurement: bad input, a host killed at any moment, the sanitizers. Prints one line a check, exit code 1 if
# one fails. Usage: on_gpu.sh SLUICE
S=$1; D=$(mktemp -d); bad=0
trap 'rm -rf "$D"' EXIT
check() { if [ "$2" = 0 ]; then echo "ok    $1"; else echo "FAIL  $1"; bad=1; fi; }
# One line, naming the thing: refuses has exit code 2 (bad input), fails 3 (the GPU).
refuses() { says 2 "$@"; }
fails() { says 3 "$@"; }
says() {
  local expected=$1 words=$2; shift 2
  local said; said=$("$@" 2>&1 >/dev/null); local code=$?
  { [ $code = "$expected" ] && [ "$(wc -l <<<"$said")" = 1 ] && grep -q "$words" <<<"$said"; }
  check "refused: ${said//"$D"\//}" $?
}
cat > "$D/k.cu" <<'K'
__global__ void traps(unsigned* out, unsigned n) { if (blockIdx.x == 7) asm volatile("trap;"); out[blockIdx.x * 64 + threadIdx.x] = n; }
__global__ void wild(unsigned* out) { out[(1ull << 40) + threadIdx.x] = 1; }
K
cat > "$D/launches.cu" <<'K'
__global__ void child(unsigned* out) { out[0] = 1; }
__global__ void launches(unsigned* out) { child<<<1, 1>>>(out); }
K
cat > "$D/cannot.cu" <<'K'
#include <cooperative_groups.h>
__global__ void grid_sync(unsigned* out, unsigned n) { if (n == 7) cooperative_groups::this_grid().sync(); out[blockIdx.x * 64 + threadIdx.x] = n; }
K
echo '__global__ void broken(unsigned* out) { out[0] = nothing; }' > "$D/broken.cu"
refuses "does not compile" $S gpu run --kernel "$D/broken.cu:broken,args=out:u32:4"
fails "failed on the GPU" $S gpu run --kernel "$D/k.cu:traps,grid=100,block=64,args=out:u32:6400;u32:3"
fails "failed on the GPU" $S gpu run --kernel "$D/k.cu:wild,block=64,args=out:u32:64"
fails "MiB of GPU memory asked for" $S gpu run --kernel "$D/k.cu:traps,grid=1,block=64,args=out:f64:60000000000;u32:3"
refuses "the kernel takes 2" $S gpu run --kernel "$D/k.cu:traps,args=out:u32:4"
refuses "must be 1" $S gpu run --app HOT --small --policy static --quota 99
refuses "can.t be read" $S gpu run --kernel "$D/absent.cu:k,args=out:u32:4"
CUDA_VISIBLE_DEVICES= fails "GPU" $S gpu probe
refuses "dynamic parallelism" $S gpu run --kernel "$D/launches.cu:launches,grid=1,block=32,args=out:u32:64"
"$S" gpu run --kernel "$D/cannot.cu:grid_sync,grid=100,block=64,args=out:u32:6400;u32:3" --policy static --quota 1 2>&1 | grep -q "cooperative grid synchronisation"
check "a kernel with grid synchronisation runs untransformed, with the reason" $?
"$S" gpu probe --json >/dev/null; check "the GPU works on" $?
# Killed at random moments of a run that lasts seconds; the next run must find a working GPU.
for i in 1 2 3 4 5 6; do
  "$S" gpu run --app BLK --app LBM --policy even --passes 20000 >/dev/null 2>&1 & p=$!
  sleep $((1 + i % 3)).$((RANDOM % 10)); kill -9 $p 2>/dev/null; wait $p 2>/dev/null
  "$S" gpu run --app HOT --small --policy static --quota 2 --json >/dev/null; check "host killed, attempt $i: the next run is right" $?
done
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck; do
    for app in BLK BFS DXT HOT KNN MM NN SHM LAT; do
      compute-sanitizer --target-processes all --tool $tool --error-exitcode 9 "$S" gpu run --small --app $app --policy static --quota 2 >/dev/null 2>&1
      check "compute-sanitizer $tool $app" $?
    done
    compute-sanitizer --target-processes all --tool $tool --error-exitcode 9 "$S" gpu run --small --app HOT --app DXT --policy even --passes 3 >/dev/null 2>&1
    check "compute-sanitizer $tool HOT with DXT" $?
  done
fi
exit $bad
