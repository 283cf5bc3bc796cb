// SPDX-License-Identifier: Apache-2.0
// Calls within which the driver waits for the GPU under a lock that keeps other threads out of it, or after which no stream goes
// on before all that ran has ended (measured: results/h200/service, driver_waits). With a launch asleep, the order that wakes it
// would never come. So the wait is done before, without that lock.
#include <cstddef>
#include <tuple>

#include "sw/interpose/hooks.h"
#include "sw/interpose/program.h"

namespace sluice::interpose {

namespace {

Program& program() { return Program::instance(); }

/// Waits for its stream.
template <Symbol Own, bool PerThread, class Function>
struct Copy;
template <Symbol Own, bool PerThread, class... Arguments>
struct Copy<Own, PerThread, CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    program().wait_for_launches(PerThread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY);
    return real<CUresult(Arguments...)>(Own)(arguments...);
  }
};
#define SLUICE_COPIES(NAME)                                                 \
  case k##NAME: return address(Copy<k##NAME, false, decltype(NAME)>::call); \
  case k##NAME##_ptds: return address(Copy<k##NAME##_ptds, true, decltype(NAME)>::call);

/// Host memory that the driver does not know: a copy goes through memory of its own, piece by piece.
bool pageable(CUdeviceptr at) {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  return SLUICE_REAL(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS;
}
bool pageable(const void* at) { return pageable(reinterpret_cast<CUdeviceptr>(at)); }
template <class Shape>
bool touches_pageable(const Shape& copy) {
  return (copy.srcMemoryType == CU_MEMORYTYPE_HOST && pageable(copy.srcHost)) ||
         (copy.dstMemoryType == CU_MEMORYTYPE_HOST && pageable(copy.dstHost)) ||
         (copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED && pageable(copy.srcDevice)) ||
         (copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED && pageable(copy.dstDevice));
}
template <bool PerThread, class Pageable>
void wait_if(const Pageable& any, CUstream stream) {
  if (!program().sleepers_possible()) return;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream == nullptr) stream = PerThread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (SLUICE_REAL(cuStreamIsCapturing)(stream, &capture) != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE) return;
  if (any())
    program().wait_for_launches(stream);
  else
    program().make_room(stream);
}
/// Enters the stream, which is its argument `At`: the driver's queue may be full of what stands behind a launch that sleeps.
template <Symbol Own, bool PerThread, std::size_t At, class Function>
struct Enters;
template <Symbol Own, bool PerThread, std::size_t At, class... Arguments>
struct Enters<Own, PerThread, At, CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    CUstream stream = nullptr;
    if constexpr (At < sizeof...(Arguments)) stream = std::get<At>(std::tie(arguments...));
    wait_if<PerThread>([] { return false; }, stream);
    return real<CUresult(Arguments...)>(Own)(arguments...);
  }
};
template <Symbol Own, bool PerThread>
CUresult to_device(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  wait_if<PerThread>([&] { return pageable(from); }, stream);
  return real<decltype(cuMemcpyHtoDAsync_v2)>(Own)(to, from, bytes, stream);
}
template <Symbol Own, bool PerThread>
CUresult to_host(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  wait_if<PerThread>([&] { return pageable(to); }, stream);
  return real<decltype(cuMemcpyDtoHAsync_v2)>(Own)(to, from, bytes, stream);
}
template <Symbol Own, bool PerThread>
CUresult somewhere(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  wait_if<PerThread>([&] { return pageable(to) || pageable(from); }, stream);
  return real<decltype(cuMemcpyAsync)>(Own)(to, from, bytes, stream);
}
template <Symbol Own, bool PerThread, class Shape>
CUresult shaped(const Shape* copy, CUstream stream) {
  wait_if<PerThread>([&] { return copy != nullptr && touches_pageable(*copy); }, stream);
  return real<CUresult(const Shape*, CUstream)>(Own)(copy, stream);
}
template <Symbol Own, bool PerThread>
CUresult event_wait(CUstream stream, CUevent event, unsigned flags) {
  wait_if<PerThread>([] { return false; }, stream);
  return program().wait_event(stream == nullptr && PerThread ? CU_STREAM_PER_THREAD : stream,
                              [&] { return real<decltype(cuStreamWaitEvent)>(Own)(stream, event, flags); });
}
#define SLUICE_ASYNC(NAME, OURS, ...)                                            \
  case k##NAME: return address(OURS<k##NAME, false __VA_OPT__(, ) __VA_ARGS__>); \
  case k##NAME##_ptsz: return address(OURS<k##NAME##_ptsz, true __VA_OPT__(, ) __VA_ARGS__>);

/// Waits for all that the process has on the GPU.
template <Symbol Own, class Function>
struct Alone;
template <Symbol Own, class... Arguments>
struct Alone<Own, CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    const Program::Drain drain(program());
    return real<CUresult(Arguments...)>(Own)(arguments...);
  }
};

}  // namespace

/// Each with its form for streams of threads; those without a stream enter the default one.
#define SLUICE_ENTERS(NAME, AT, SUFFIX)                                           \
  case k##NAME: return address(Enters<k##NAME, false, AT, decltype(NAME)>::call); \
  case k##NAME##SUFFIX: return address(Enters<k##NAME##SUFFIX, true, AT, decltype(NAME)>::call);

void* wait_hook(Symbol symbol) {
  switch (symbol) {
    SLUICE_ENTERS(cuMemsetD8_v2, 9, _ptds)
    SLUICE_ENTERS(cuMemsetD16_v2, 9, _ptds)
    SLUICE_ENTERS(cuMemsetD32_v2, 9, _ptds)
    SLUICE_ENTERS(cuMemsetD2D8_v2, 9, _ptds)
    SLUICE_ENTERS(cuMemsetD2D16_v2, 9, _ptds)
    SLUICE_ENTERS(cuMemsetD2D32_v2, 9, _ptds)
    SLUICE_ENTERS(cuMemsetD8Async, 3, _ptsz)
    SLUICE_ENTERS(cuMemsetD16Async, 3, _ptsz)
    SLUICE_ENTERS(cuMemsetD32Async, 3, _ptsz)
    SLUICE_ENTERS(cuMemsetD2D8Async, 5, _ptsz)
    SLUICE_ENTERS(cuMemsetD2D16Async, 5, _ptsz)
    SLUICE_ENTERS(cuMemsetD2D32Async, 5, _ptsz)
    SLUICE_ENTERS(cuMemcpyDtoDAsync_v2, 3, _ptsz)
    SLUICE_ENTERS(cuMemcpyPeerAsync, 5, _ptsz)
    SLUICE_ENTERS(cuEventRecord, 1, _ptsz)
    SLUICE_ENTERS(cuEventRecordWithFlags, 1, _ptsz)
    SLUICE_ENTERS(cuLaunchHostFunc, 0, _ptsz)
    SLUICE_ENTERS(cuStreamAddCallback, 0, _ptsz)
    SLUICE_ENTERS(cuStreamBatchMemOp_v2, 0, _ptsz)
    SLUICE_ENTERS(cuStreamWriteValue32_v2, 0, _ptsz)
    SLUICE_ENTERS(cuStreamWriteValue64_v2, 0, _ptsz)
    SLUICE_ENTERS(cuStreamWaitValue32_v2, 0, _ptsz)
    SLUICE_ENTERS(cuStreamWaitValue64_v2, 0, _ptsz)
    SLUICE_COPIES(cuMemcpy)
    SLUICE_COPIES(cuMemcpyDtoH_v2)
    SLUICE_COPIES(cuMemcpyHtoD_v2)
    SLUICE_COPIES(cuMemcpy2D_v2)
    SLUICE_COPIES(cuMemcpy2DUnaligned_v2)
    SLUICE_COPIES(cuMemcpy3D_v2)
    SLUICE_ASYNC(cuStreamWaitEvent, event_wait)
    SLUICE_ASYNC(cuMemcpyHtoDAsync_v2, to_device)
    SLUICE_ASYNC(cuMemcpyDtoHAsync_v2, to_host)
    SLUICE_ASYNC(cuMemcpyAsync, somewhere)
    SLUICE_ASYNC(cuMemcpy2DAsync_v2, shaped, CUDA_MEMCPY2D)
    SLUICE_ASYNC(cuMemcpy3DAsync_v2, shaped, CUDA_MEMCPY3D)
    case kcuMemFree_v2: return address(Alone<kcuMemFree_v2, decltype(cuMemFree_v2)>::call);
    case kcuMemFreeHost: return address(Alone<kcuMemFreeHost, decltype(cuMemFreeHost)>::call);
    case kcuCtxSetLimit: return address(Alone<kcuCtxSetLimit, decltype(cuCtxSetLimit)>::call);
    case kcuCtxResetPersistingL2Cache:
      return address(Alone<kcuCtxResetPersistingL2Cache, decltype(cuCtxResetPersistingL2Cache)>::call);
    case kcuFuncLoad: return address(Alone<kcuFuncLoad, decltype(cuFuncLoad)>::call);
    case kcuLibraryGetModule: return address(Alone<kcuLibraryGetModule, decltype(cuLibraryGetModule)>::call);
    default: return nullptr;
  }
}

}  // namespace sluice::interpose
