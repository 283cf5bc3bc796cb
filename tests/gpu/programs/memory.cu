// SPDX-License-Identifier: Apache-2.0
// Memory of all kinds, used by launches and by the host beside them.
#include "program.h"

namespace {

__constant__ unsigned constant[1024];
__device__ unsigned variable[2];
__device__ __managed__ unsigned managed_variable;

__global__ void adds_constants(unsigned* v, unsigned at) {
  spend(3000);
  v[number()] = v[number()] * 5 + constant[at];
}
__global__ void uses_variable(unsigned* v) {
  spend(3000);
  v[number()] = v[number()] * 5 + variable[0];
  if (threadIdx.x == 0) atomicAdd(&variable[1], 1);
}
__global__ void counts_managed(unsigned* v) {
  v[number()] += 1;
  if (threadIdx.x == 0) atomicAdd(&managed_variable, 1);
}
__global__ void from_heap(unsigned* v) {
  __shared__ unsigned* mine;
  if (threadIdx.x == 0) mine = static_cast<unsigned*>(std::malloc(blockDim.x * 4));
  __syncthreads();
  auto* one = new unsigned(7);
  if (mine == nullptr || one == nullptr) {
    v[number()] = 99;
    return;
  }
  mine[threadIdx.x] = *one + blockIdx.x;
  __syncthreads();
  v[number()] += mine[blockDim.x - 1 - threadIdx.x] - blockIdx.x;
  delete one;
  __syncthreads();
  if (threadIdx.x == 0) std::free(mine);
}
__global__ void reads_texture(cudaTextureObject_t texture, cudaSurfaceObject_t surface, unsigned wide) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < wide) {
    const auto w = tex2D<unsigned>(texture, static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F);
    unsigned before = 0;
    surf2Dread(&before, surface, x * 4, y);
    surf2Dwrite(before * 3 + w, surface, x * 4, y);
  }
}
__global__ void reads_linear(cudaTextureObject_t texture, unsigned* v) {
  v[number()] += tex1Dfetch<unsigned>(texture, static_cast<int>(number()));
}

CASE(constants_in_order, quota) {
  Words v;
  Stream s;
  unsigned x = 0;
  static unsigned from[1024];
  for (unsigned k = 1; k <= 12; ++k) {
    const unsigned last = from[1023] = k * 3;
    ck(cudaMemcpyToSymbolAsync(constant, from, sizeof from, 0, cudaMemcpyHostToDevice, s));
    adds_constants<<<kBlocks, kThreads, 0, s>>>(v, 1023);
    x = step_on_host(x, last);
  }
  v.all(x);
  unsigned told = 0;
  ck(cudaMemcpyFromSymbol(&told, constant, 4, 4092));
  expect(told == 36);
}
CASE(variables, quota) {
  Words v;
  unsigned x = 0, blocks = 0, *at = nullptr;
  std::size_t bytes = 0;
  ck(cudaGetSymbolAddress(reinterpret_cast<void**>(&at), variable));
  ck(cudaGetSymbolSize(&bytes, variable));
  expect(bytes == 8);
  for (unsigned k = 1; k <= 8; ++k) {
    if (k % 2 == 0) ck(cudaMemcpyToSymbol(variable, &k, 4));
    if (k % 2 == 1) step<<<1, 1>>>(at, k);  // by another kernel, through its address
    unsigned now = 0;
    ck(cudaMemcpyFromSymbol(&now, variable, 4));
    uses_variable<<<k == 5 ? 3 : kBlocks, kThreads>>>(v);
    x = step_on_host(x, now);
    blocks += k == 5 ? 3 : kBlocks;
  }
  unsigned counted = 0;
  ck(cudaMemcpyFromSymbol(&counted, variable, 4, 4));
  expect(counted == blocks);
  v.upto(3 * kThreads, x);
}
CASE(managed, quota) {
  unsigned* v = nullptr;
  ck(cudaMallocManaged(&v, kWords * 4));
  std::memset(v, 0, kWords * 4);
  for (unsigned k = 1; k <= 4; ++k) {
    counts_managed<<<kBlocks, kThreads>>>(v);
    finish();
    expect(v[0] == 2 * k - 1 && v[kWords - 1] == 2 * k - 1 && managed_variable == k * (kBlocks + 1) - 1);
    for (unsigned i = 0; i < kWords; ++i) ++v[i];
    ++managed_variable;
    if (k == 2) {
      const cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0};
      ck(cudaMemPrefetchAsync(v, kWords * 4, gpu, 0, nullptr));
      ck(cudaMemAdvise(v, kWords * 4, cudaMemAdviseSetPreferredLocation, gpu));
    }
  }
}
CASE(attached_to_a_stream, quota) {
  Stream a, b;
  unsigned *mine = nullptr, *others = nullptr;
  ck(cudaMallocManaged(&mine, kWords * 4, cudaMemAttachHost));
  ck(cudaMallocManaged(&others, kWords * 4, cudaMemAttachHost));
  std::memset(mine, 0, kWords * 4);
  std::memset(others, 0, kWords * 4);
  ck(cudaStreamAttachMemAsync(a, mine, 0, cudaMemAttachSingle));
  ck(cudaStreamAttachMemAsync(b, others, 0, cudaMemAttachSingle));
  ck(cudaStreamSynchronize(a));
  ck(cudaStreamSynchronize(b));
  for (unsigned k = 1; k <= 3; ++k) {
    step<<<kBlocks, kThreads, 0, a>>>(mine, k);
    step<<<kBlocks, kThreads, 0, b>>>(others, k + 1);
    ck(cudaStreamSynchronize(a));
    for (unsigned i = 0; i < kWords; i += 97) expect(mine[i] == mine[0]);
    ck(cudaStreamSynchronize(b));
  }
  expect(mine[kWords - 1] == step_on_host(step_on_host(1, 2), 3) && others[5] == step_on_host(step_on_host(2, 3), 4));
}
CASE(in_stream_order, quota) {
  Stream a, b;
  Event e;
  cudaMemPool_t pool{};
  ck(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t keep = 1U << 30;
  ck(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  Words v;
  unsigned x = 0;
  for (unsigned k = 1; k <= 12; ++k) {
    unsigned* p = nullptr;
    ck(cudaMallocAsync(&p, kWords * 4, a));
    ck(cudaMemsetAsync(p, 0, kWords * 4, a));
    step<<<kBlocks, kThreads, 0, a>>>(p, k);
    ck(cudaEventRecord(e, a));
    ck(cudaStreamWaitEvent(b, e));
    cross<<<kBlocks, kThreads, 0, b>>>(p, v, kWords);
    if (k % 3 == 0) {
      ck(cudaFreeAsync(p, b));
    } else {
      ck(cudaStreamSynchronize(b));
      ck(cudaFree(p));
    }
    x = x * 3 + k;
  }
  v.all(x);
  ck(cudaMemPoolTrimTo(pool, 0));
}
CASE(copies_of_all_kinds, quota) {
  constexpr unsigned kWide = 512, kHigh = kWords / kWide;
  Words v, u;
  Stream s, t(cudaStreamNonBlocking);
  Event e;
  std::vector<unsigned> pageable(kWords), back(kWords);
  unsigned* pinned = nullptr;
  void* pitched = nullptr;
  std::size_t pitch = 0;
  ck(cudaMallocHost(&pinned, kWords * 4));
  ck(cudaMallocPitch(&pitched, &pitch, kWide * 4, kHigh));
  unsigned x = 0;
  for (unsigned k = 1; k <= 6; ++k, x = step_on_host(x, k - 1)) {
    launch_step(v, k, s);
    ck(cudaMemcpy2DAsync(pitched, pitch, v, kWide * 4, kWide * 4, kHigh, cudaMemcpyDeviceToDevice, s));
    ck(cudaMemcpy2DAsync(pinned, kWide * 4, pitched, pitch, kWide * 4, kHigh, cudaMemcpyDeviceToHost, s));
    ck(cudaEventRecord(e, s));
    ck(cudaStreamWaitEvent(t, e));
    ck(cudaMemcpyAsync(u, pinned, kWords * 4, cudaMemcpyHostToDevice, t));
    launch_step(u, 1, t);
    ck(cudaMemcpyAsync(back.data(), u, kWords * 4, cudaMemcpyDeviceToHost, t));
    ck(cudaStreamSynchronize(t));
    const unsigned expected = step_on_host(step_on_host(x, k), 1);
    for (unsigned i = 0; i < kWords; ++i) expect(back[i] == expected);
    ck(cudaMemcpy(pageable.data(), v, kWords * 4, cudaMemcpyDefault));
    ck(cudaMemcpy(v, pageable.data(), kWords * 4, cudaMemcpyDefault));
  }
  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(v.p, kWide * 4, kWide, kHigh);
  box.dstPtr = make_cudaPitchedPtr(u.p, kWide * 4, kWide, kHigh);
  box.extent = make_cudaExtent(kWide * 4, kHigh / 2, 1);
  box.kind = cudaMemcpyDeviceToDevice;
  ck(cudaMemset2DAsync(u, kWide * 4, 0, kWide * 4, kHigh, s));
  ck(cudaMemcpy3DAsync(&box, s));
  launch_step(u, 2, s);
  u.upto(kWide * (kHigh / 2), step_on_host(x, 2));
  expect(u.back().back() == 2);
}
CASE(textures_and_surfaces, quota) {
  constexpr unsigned kWide = 2000, kHigh = 600;
  cudaArray_t array{}, target{};
  const auto format = cudaCreateChannelDesc<unsigned>();
  ck(cudaMallocArray(&array, &format, kWide, kHigh));
  ck(cudaMallocArray(&target, &format, kWide, kHigh, cudaArraySurfaceLoadStore));
  std::vector<unsigned> in(kWide * kHigh), out(kWide * kHigh);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = i;
  ck(cudaMemcpy2DToArray(array, 0, 0, in.data(), kWide * 4, kWide * 4, kHigh, cudaMemcpyHostToDevice));
  ck(cudaMemcpy2DToArray(target, 0, 0, out.data(), kWide * 4, kWide * 4, kHigh, cudaMemcpyHostToDevice));
  cudaResourceDesc of{};
  of.resType = cudaResourceTypeArray;
  of.res.array.array = array;
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture{}, linear{};
  cudaSurfaceObject_t surface{};
  ck(cudaCreateTextureObject(&texture, &of, &how, nullptr));
  of.res.array.array = target;
  ck(cudaCreateSurfaceObject(&surface, &of));
  for (int k = 0; k < 3; ++k) reads_texture<<<dim3((kWide + 127) / 128, kHigh), 128>>>(texture, surface, kWide);
  ck(cudaMemcpy2DFromArray(out.data(), kWide * 4, target, 0, 0, kWide * 4, kHigh, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < out.size(); ++i) expect(out[i] == 13 * i);
  Words from, v;
  launch_step(from, 4);
  of.resType = cudaResourceTypeLinear;
  of.res.linear = {from.p, format, kWords * 4};
  ck(cudaCreateTextureObject(&linear, &of, &how, nullptr));
  reads_linear<<<kBlocks, kThreads>>>(linear, v);
  v.all(4);
}
CASE(heap_of_the_device, quota) {
  ck(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 256U << 20));
  Words v(4000 * kThreads);
  for (int k = 0; k < 2; ++k) from_heap<<<4000, kThreads>>>(v);
  v.all(14);
}
CASE(out_of_memory, quota) {
  Words v;
  void* none = nullptr;
  launch_step(v, 1);
  say("4 TB", cudaMalloc(&none, 1ULL << 42));
  say("and its order", cudaPeekAtLastError());
  step<<<kBlocks, kThreads>>>(v, 2);  // an error that is not sticky stays until it is read
  std::printf("read: %s\n", cudaGetErrorString(cudaGetLastError()));
  say("in a stream's order", cudaMallocAsync(&none, 1ULL << 42, nullptr));
  say("read", cudaGetLastError());
  say("of the host", cudaMallocHost(&none, 1ULL << 50));
  static_cast<void>(cudaGetLastError());
  say("nothing", cudaMalloc(&none, 0));
  expect(none == nullptr);
  say("freed twice", cudaFree(reinterpret_cast<void*>(0x1000)));
  static_cast<void>(cudaGetLastError());
  v.all(step_on_host(1, 2));
}
CASE(virtual_memory, quota) {
  Words first(1);
  CUmemAllocationProp where{};
  where.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  where.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t grain = 0;
  ck(cuMemGetAllocationGranularity(&grain, &where, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const std::size_t bytes = (kWords * 4 + grain - 1) / grain * grain;
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle one = 0, two = 0;
  ck(cuMemCreate(&one, bytes, &where, 0));
  ck(cuMemCreate(&two, bytes, &where, 0));
  ck(cuMemAddressReserve(&at, 2 * bytes, 0, 0, 0));
  CUmemAccessDesc access{};
  access.location = where.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  for (int round = 0; round < 3; ++round) {  // the two change places
    ck(cuMemMap(at, bytes, 0, round % 2 == 0 ? one : two, 0));
    ck(cuMemMap(at + bytes, bytes, 0, round % 2 == 0 ? two : one, 0));
    ck(cuMemSetAccess(at, 2 * bytes, &access, 1));
    if (round == 0) ck(cudaMemset(reinterpret_cast<void*>(at), 0, 2 * bytes));
    step<<<kBlocks, kThreads>>>(reinterpret_cast<unsigned*>(at), 1);
    step<<<kBlocks, kThreads>>>(reinterpret_cast<unsigned*>(at + bytes), 2);
    finish();
    std::vector<unsigned> seen(kWords);
    ck(cudaMemcpy(seen.data(), reinterpret_cast<void*>(at), kWords * 4, cudaMemcpyDeviceToHost));
    const unsigned expected[] = {1, step_on_host(2, 1), step_on_host(step_on_host(1, 2), 1)};
    for (const unsigned w : seen) expect(w == expected[round]);
    ck(cuMemUnmap(at, bytes));
    ck(cuMemUnmap(at + bytes, bytes));
  }
  ck(cuMemRelease(one));
  ck(cuMemRelease(two));
  ck(cuMemAddressFree(at, 2 * bytes));
}

}  // namespace
