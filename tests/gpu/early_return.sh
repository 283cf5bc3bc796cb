#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a GPU: a kernel whose threads return at different times. Prints one line a case, exit code 1 if one fails. Usage: early_return.sh SLUICE
S=$1; D=$(mktemp -d); bad=0
trap 'rm -rf "$D"' EXIT
cat > "$D/early.cu" <<'K'
__device__ __noinline__ unsigned other(unsigned* part, unsigned alone) {
  __syncthreads();
  return alone ? 0 : part[threadIdx.x ^ 1];
}
__global__ void early(unsigned* out, unsigned rounds) {
  __shared__ unsigned part[256];
  const unsigned last = 2 + 2 * (blockIdx.x * 7 % (blockDim.x / 2 - 1)), i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i;
  __syncthreads();
  if (threadIdx.x >= last) { out[i] = 7; return; }
  for (unsigned r = 0; r < rounds; ++r) {
    const unsigned x = part[(threadIdx.x + 1) % last];
    __syncthreads();
    part[threadIdx.x] = x * 5 + r;
    if (r % 16 == 15 && threadIdx.x >= last - r / 16) { out[i] = x; return; }
    if (r % 16 == 15 && last <= r / 16 + 1) { out[i] = r; return; }
    __syncthreads();
  }
  out[i] = part[threadIdx.x] + other(part, last < 64);
}
K
# Parts of warps return at different times, before barriers of the others; outputs are compared with those of the kernel as it is.
for block in 256 200 64 33; do
  for quota in 1 3; do
    "$S" gpu run --kernel "$D/early.cu:early,grid=20011,block=$block,args=out:u32:$((20011 * block));u32:40" --policy static --quota $quota > "$D/said" 2>&1
    code=$?; [ $code = 0 ] || bad=1
    echo "threads return early, blocks of $block, quota $quota: exit code $code: $(tail -1 "$D/said")"
  done
done
exit $bad
