// SPDX-License-Identifier: Apache-2.0
// What users' kernels do and the transformation must keep: one thing a kernel. Every output is written whatever the order of blocks.

__device__ __noinline__ unsigned block_number() {  // a function of its own that reads the block index and the grid's size
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__constant__ unsigned kMix[4] = {2654435761u, 2246822519u, 3266489917u, 668265263u};

__global__ void early_return(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] & 1) {
    out[i] = in[i] * 3 + 1;
    return;
  }
  out[i] = in[i] / 2;
}

/// Threads return between barriers; the others go on to meet at them. Leader included.
__global__ void early_return_and_barriers(const unsigned* in, unsigned* out) {
  __shared__ unsigned line[128];
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  line[threadIdx.x] = in[i];
  __syncthreads();
  if (threadIdx.x < 32 * (blockIdx.x & 3)) {
    out[i] = line[127 - threadIdx.x];
    return;
  }
  const unsigned mine = line[threadIdx.x ^ 1];
  __syncthreads();
  line[threadIdx.x] = mine + 1;
  __syncthreads();
  if (threadIdx.x & 1) return (void)(out[i] = line[threadIdx.x - 1]);
  __syncthreads();
  out[i] = line[threadIdx.x + 1] ^ mine;
}

__global__ void static_shared(const float* in, float* out, int width) {  // 2-D: a transposition by tiles
  __shared__ float tile[16][17];
  const int x = (int)(blockIdx.x * 16 + threadIdx.x), y = (int)(blockIdx.y * 16 + threadIdx.y);
  tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  out[(blockIdx.x * 16 + threadIdx.y) * gridDim.y * 16 + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void dynamic_shared(const double* in, double* out) {
  extern __shared__ double reversed[];
  const size_t first = (size_t)blockIdx.x * blockDim.x;
  reversed[blockDim.x - 1 - threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = sqrt(fabs(reversed[threadIdx.x])) + in[first + threadIdx.x];
}

template <typename T, int Steps>
__global__ void templated(const T* in, T* out, T factor) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  T v = in[i];
  for (int s = 0; s < Steps; ++s) v = v * factor + (T)s;
  out[i] = v;
}

__global__ void device_function(unsigned* out) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block_number() * threads + thread] = block_number() * kMix[thread & 3] + gridDim.z;
}

__global__ void __launch_bounds__(96, 12) launch_bounds(const float* in, float* out) {
  const unsigned i = blockIdx.x * 96 + threadIdx.x;
  out[i] = __expf(in[i]) * sinf(in[i]);
}

__global__ void three_dimensions(unsigned* out, unsigned seed) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
                 z = blockIdx.z * blockDim.z + threadIdx.z;
  out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] = (x * 73856093u) ^ (y * 19349663u) ^ (z * 83492791u) ^ seed;
}

__global__ void grid_stride(const unsigned* in, unsigned* out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = __brev(in[i]) + gridDim.x;
}

__global__ void integer_atomics(const unsigned char* in, unsigned* histogram) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 16; ++k) atomicAdd(&mine[in[(blockIdx.x * 16 + k) * 256 + threadIdx.x]], 1u);
  __syncthreads();
  atomicAdd(&histogram[threadIdx.x], mine[threadIdx.x]);
}

/// Copies that end while the thread works on, as the runtime's own do.
__global__ void asynchronous_copies(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned buffer[2][256];
  const unsigned* from = in + blockIdx.x * 512;
  for (int half = 0; half < 2; ++half) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(&buffer[half][threadIdx.x * 4]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;" ::"r"(to),
                 "l"(from + half * 256 + threadIdx.x * 4)
                 : "memory");
  }
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[blockIdx.x * 512 + k * 64 + threadIdx.x] = buffer[0][255 - (k * 64 + threadIdx.x)];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[blockIdx.x * 512 + 256 + k * 64 + threadIdx.x] = buffer[1][(k * 64 + threadIdx.x) ^ 5];
}

__global__ void named_barriers(const unsigned* in, unsigned* out) {  // two halves of a block, each with a barrier of its own
  __shared__ unsigned words[256];
  const unsigned i = blockIdx.x * 256 + threadIdx.x, half = threadIdx.x / 128;
  words[threadIdx.x] = in[i];
  if (half == 0)
    asm volatile("bar.sync 1, 128;" ::: "memory");
  else
    asm volatile("bar.sync 2, 128;" ::: "memory");
  out[i] = words[half * 128 + (127 - threadIdx.x % 128)] + half;
}

// Blocks whose last warp is not full, of which the warps go on by themselves.
__global__ void partial_warp(const unsigned* in, unsigned* out, unsigned n) {  // 2-D; returns early, loops of unequal length
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;
  const unsigned i = block * blockDim.x * blockDim.y + thread;
  if (i >= n) return;
  unsigned v = in[i];
  for (unsigned k = 0; k < (in[i] & 15) + threadIdx.y; ++k) {
    if (v == 7) {
      out[i] = k;
      return;
    }
    v = v & 1 ? 3 * v + 1 : v / 2;
  }
  out[i] = v ^ blockIdx.y << 16 ^ gridDim.y;
}
__global__ void partial_warp_3d(unsigned* out, unsigned seed) {
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] =
      (threadIdx.x * 73856093u) ^ (threadIdx.y * 19349663u) ^ (threadIdx.z * 83492791u) ^ (blockIdx.x << 20) ^ (blockIdx.y << 10) ^
      blockIdx.z ^ seed;
}
__global__ void less_than_a_warp(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2654435761u + threadIdx.x;
}
__global__ void __launch_bounds__(1000) many_warps(const float* in, float* out) {
  const unsigned i = blockIdx.x * 1000 + threadIdx.x;
  out[i] = sinf(in[i]) * (float)threadIdx.x;
}
__global__ void partial_warp_atomics(const unsigned char* in, unsigned* histogram) {
  atomicAdd(&histogram[in[blockIdx.x * blockDim.x + threadIdx.x]], threadIdx.x);
}
__global__ void partial_warp_vote(const unsigned* in, unsigned* out) {  // lanes that are not there must stay so
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __popc(__activemask()) * 64 + __popc(__ballot_sync(__activemask(), in[i] & 1));
}

// What cannot be made persistent.
__global__ void grid_barrier(unsigned* out) {
  unsigned address;
  asm volatile("mov.u32 %0, %%envreg2;" : "=r"(address));  // as cooperative_groups::this_grid().sync() begins
  out[blockIdx.x * blockDim.x + threadIdx.x] = address;
}
__global__ void cluster(unsigned* out) {
  unsigned id;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(id));
  out[blockIdx.x * blockDim.x + threadIdx.x] = id;
}
__global__ void thread_exit(unsigned* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (threadIdx.x & 1) asm volatile("exit;");
}
__global__ void early_return_and_named_barrier(unsigned* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (threadIdx.x >= 32) return;
  asm volatile("bar.sync 1, 32;");
}
