// SPDX-License-Identifier: Apache-2.0
// Launches, and the ends of streams and contexts.
#include <functional>
#include <memory>
#include <optional>

#include "sw/interpose/hooks.h"
#include "sw/interpose/program.h"
#include "sw/interpose/recorder.h"

namespace sluice::interpose {

namespace {

Program& program() { return Program::instance(); }

template <Symbol Own>
CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode) {
  program().captures();
  return real<decltype(cuStreamBeginCapture)>(Own)(stream, mode);
}
template <Symbol Own>
CUresult begin_capture_to(CUstream stream, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* edges,
                          std::size_t count, CUstreamCaptureMode mode) {
  program().captures();
  return real<decltype(cuStreamBeginCaptureToGraph)>(Own)(stream, graph, after, edges, count, mode);
}
/// Captures in the mode of its time: all threads.
template <Symbol Own>
CUresult begin_capture_first(CUstream stream) {
  program().captures();
  return real<CUresult(CUstream)>(Own)(stream);
}
CUresult stream_create(CUstream* stream, unsigned flags) {
  const auto drain = program().stream_begins();
  return SLUICE_REAL(cuStreamCreate)(stream, flags);
}
CUresult stream_create_with_priority(CUstream* stream, unsigned flags, int priority) {
  const auto drain = program().stream_begins();
  return SLUICE_REAL(cuStreamCreateWithPriority)(stream, flags, priority);
}
CUresult stream_destroy(CUstream stream) {
  program().stream_ends(stream);
  return SLUICE_REAL(cuStreamDestroy_v2)(stream);
}
/// What sleeps there would keep the driver from ending it.
CUresult context_destroy(CUcontext context) {
  const Program::Drain drain(program());
  const std::shared_ptr<void> kept = program().context_ends(context);
  return SLUICE_REAL(cuCtxDestroy_v2)(context);
}
/// A device's own context ends with its last user, or when it is reset.
CUresult primary_ends(CUdevice device, CUresult (*real)(CUdevice)) {
  CUcontext const context = primary_of(device);
  unsigned flags = 0;
  int active = 0;
  const bool resets = real == SLUICE_REAL(cuDevicePrimaryCtxReset_v2);
  std::optional<Program::Drain> drain;
  if (resets) drain.emplace(program());
  std::shared_ptr<void> kept;
  if (resets && context != nullptr) kept = program().context_ends(context);
  if (!resets && context != nullptr) program().context_may_end(context);
  const CUresult result = real(device);
  if (!resets && context != nullptr && SLUICE_REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) == CUDA_SUCCESS &&
      active == 0)
    kept = program().context_ends(context, true);
  return result;
}
CUresult primary_release(CUdevice device) { return primary_ends(device, SLUICE_REAL(cuDevicePrimaryCtxRelease_v2)); }
CUresult primary_reset(CUdevice device) { return primary_ends(device, SLUICE_REAL(cuDevicePrimaryCtxReset_v2)); }

/// @param per_thread  stream 0 is the thread's own
CUlaunchConfig config_of(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                         CUstream stream) {
  return {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0};
}
/// @param native  launches as the program said
template <class Native>
CUresult launch(const CUlaunchConfig& c, CUfunction function, void** parameters, void** extra, bool per_thread, bool cooperative,
                const Native& native) {
  ProgramLaunch l{function, c.hStream == nullptr && per_thread ? CU_STREAM_PER_THREAD : c.hStream, {}, parameters, extra};
  l.facts.grid = {c.gridDimX, c.gridDimY, c.gridDimZ};
  l.facts.block = {c.blockDimX, c.blockDimY, c.blockDimZ};
  l.facts.dynamic_shared = c.sharedMemBytes;
  l.facts.cooperative = cooperative;
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    const CUlaunchAttribute& a = c.attrs[i];
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) l.facts.cooperative = l.facts.cooperative || a.value.cooperative != 0;
    if (a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) l.facts.cluster = true;
    if (a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION && a.value.programmaticStreamSerializationAllowed != 0)
      l.facts.programmatic = true;
    if (a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || a.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
      l.facts.programmatic = true;
  }
  if (Recorder* recorder = Recorder::instance())
    return recorder->launch(l, std::ref(native), [&](CUfunction ours, void** with) {
      CUlaunchConfig config = c;
      config.hStream = l.stream;
      return SLUICE_REAL(cuLaunchKernelEx)(&config, ours, with, nullptr);
    });
  const auto with = [&](const Transformed& ours) {
    CUlaunchConfig config = c;
    config.gridDimX = ours.grid[0];
    config.gridDimY = ours.grid[1];
    config.gridDimZ = 1;
    config.sharedMemBytes = ours.shared;
    config.hStream = l.stream;
    CUlaunchAttribute closely{};
    closely.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    closely.value.programmaticStreamSerializationAllowed = 1;
    if (ours.follows_closely && config.numAttrs == 0) {
      config.attrs = &closely;
      config.numAttrs = 1;
    }
    return SLUICE_REAL(cuLaunchKernelEx)(&config, ours.function, const_cast<void**>(ours.parameters.data()), nullptr);
  };
  return program().launch(l, std::ref(native), std::ref(with));
}
template <Symbol Own, bool PerThread>
CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, CUstream stream, void** parameters, void** extra) {
  return launch(config_of(gx, gy, gz, bx, by, bz, shared, stream), f, parameters, extra, PerThread, false, [&] {
    return real<decltype(cuLaunchKernel)>(Own)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
  });
}
template <Symbol Own, bool PerThread>
CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {
  if (config == nullptr) return real<decltype(cuLaunchKernelEx)>(Own)(config, f, parameters, extra);
  return launch(*config, f, parameters, extra, PerThread, false,
                [&] { return real<decltype(cuLaunchKernelEx)>(Own)(config, f, parameters, extra); });
}
template <Symbol Own, bool PerThread>
CUresult launch_cooperative(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, CUstream stream, void** parameters) {
  return launch(config_of(gx, gy, gz, bx, by, bz, shared, stream), f, parameters, nullptr, PerThread, true, [&] {
    return real<decltype(cuLaunchCooperativeKernel)>(Own)(f, gx, gy, gz, bx, by, bz, shared, stream, parameters);
  });
}

}  // namespace

void* launch_hook(Symbol symbol) {
  switch (symbol) {
    case kcuStreamCreate: return address(stream_create);
    case kcuStreamCreateWithPriority: return address(stream_create_with_priority);
    case kcuStreamDestroy_v2: return address(stream_destroy);
    case kcuLaunchKernel: return address(launch_kernel<kcuLaunchKernel, false>);
    case kcuLaunchKernel_ptsz: return address(launch_kernel<kcuLaunchKernel_ptsz, true>);
    case kcuLaunchKernelEx: return address(launch_kernel_ex<kcuLaunchKernelEx, false>);
    case kcuLaunchKernelEx_ptsz: return address(launch_kernel_ex<kcuLaunchKernelEx_ptsz, true>);
    case kcuLaunchCooperativeKernel: return address(launch_cooperative<kcuLaunchCooperativeKernel, false>);
    case kcuLaunchCooperativeKernel_ptsz: return address(launch_cooperative<kcuLaunchCooperativeKernel_ptsz, true>);
    case kcuStreamBeginCapture: return address(begin_capture_first<kcuStreamBeginCapture>);
    case kcuStreamBeginCapture_ptsz: return address(begin_capture_first<kcuStreamBeginCapture_ptsz>);
    case kcuStreamBeginCapture_v2: return address(begin_capture<kcuStreamBeginCapture_v2>);
    case kcuStreamBeginCapture_v2_ptsz: return address(begin_capture<kcuStreamBeginCapture_v2_ptsz>);
    case kcuStreamBeginCaptureToGraph: return address(begin_capture_to<kcuStreamBeginCaptureToGraph>);
    case kcuStreamBeginCaptureToGraph_ptsz: return address(begin_capture_to<kcuStreamBeginCaptureToGraph_ptsz>);
    case kcuCtxDestroy_v2: return address(context_destroy);
    case kcuDevicePrimaryCtxRelease_v2: return address(primary_release);
    case kcuDevicePrimaryCtxReset_v2: return address(primary_reset);
    default: return nullptr;
  }
}

}  // namespace sluice::interpose
