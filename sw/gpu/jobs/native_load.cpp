// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/native_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice::gpu {

LaunchTimes run_native_load(const PreparedKernel& kernel, CUstream stream, const std::atomic<bool>& stop) {
  constexpr std::size_t kInFlight = 3;
  std::array<EventHandle, kInFlight> done;
  for (EventHandle& e : done) e = make_event();
  LaunchTimes times;
  std::size_t launched = 0;
  const auto wait_for = [&](std::size_t launch) {
    check(driver().cuEventSynchronize(done[launch % kInFlight].get()), kernel.spec().label + " failed on the GPU");
    times.push_back(seconds(Clock::now().time_since_epoch()));
  };
  while (!stop) {
    if (launched >= kInFlight) wait_for(launched - kInFlight);
    kernel.launch_native(stream);
    check(driver().cuEventRecord(done[launched % kInFlight].get(), stream), "recording an event");
    ++launched;
  }
  while (times.size() < launched) wait_for(times.size());
  return times;
}

GreenStreams::GreenStreams(const Context& context, unsigned parts) {
  const Driver& d = driver();
  if (!d.green_contexts) throw GpuError("the driver has no green contexts (CUDA 12.4 or later is needed)");
  CUdevResource all{};
  check(d.cuDeviceGetDevResource(context.device(), &all, CU_DEV_RESOURCE_TYPE_SM), "reading the SM resource");
  unsigned groups = parts - 1;
  std::vector<CUdevResource> resources(parts);
  const unsigned size = std::max(kGranularity, context.limits().sms / parts / kGranularity * kGranularity);
  check(d.cuDevSmResourceSplitByCount(resources.data(), &groups, &all, &resources.back(), 0, size),
        fmt::format("splitting {} SMs into {} parts", context.limits().sms, parts));
  if (groups != parts - 1) throw GpuError(fmt::format("{} SMs do not split into {} parts", context.limits().sms, parts));
  for (CUdevResource& resource : resources) {
    CUdevResourceDesc description{};
    check(d.cuDevResourceGenerateDesc(&description, &resource, 1), "describing SMs");
    CUgreenCtx green = nullptr;
    check(d.cuGreenCtxCreate(&green, description, context.device(), CU_GREEN_CTX_DEFAULT_STREAM), "creating a green context");
    contexts_.push_back(green);
    CUstream stream = nullptr;
    check(d.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0), "creating a stream on some SMs");
    streams_.push_back(stream);
    sms_.push_back(resource.sm.smCount);
  }
}

GreenStreams::~GreenStreams() {
  for (CUstream s : streams_) driver().cuStreamDestroy(s);
  for (CUgreenCtx g : contexts_) driver().cuGreenCtxDestroy(g);
}

}  // namespace sluice::gpu
