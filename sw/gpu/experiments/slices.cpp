// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/slices.h"

#include <algorithm>
#include <array>

#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/slice.h"

namespace sluice::gpu {

namespace {

void wait(const EventHandle& event) {  // by looking: a sleeping host would add its own microseconds
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) result = driver().cuEventQuery(event.get());
  check(result, "a slice failed on the GPU");
}

}  // namespace

Slices::Slices(const GpuSession& session, const PreparedKernel& kernel) : kernel_(kernel) {
  const LaunchSpec& spec = kernel.spec();
  const CompiledKernel native = session.compiler().compile(spec.text, spec.file, spec.kernel, spec.options);
  sliced_ = Kernel(session.context(), sliced(only_kernel(normalised(native.ptx), native.symbol), native.symbol, spec.grid),
                   native.symbol);
  sliced_.configure(spec.shared_bytes, -1);
}

void Slices::launch(CUstream stream, std::uint32_t first, std::uint32_t blocks) const {
  const LaunchSpec& spec = kernel_.spec();
  std::vector<void*> parameters = kernel_.parameters();
  parameters.push_back(&first);
  check(driver().cuLaunchKernel(sliced_.function(), blocks, 1, 1, spec.block[0], spec.block[1], spec.block[2], spec.shared_bytes,
                                stream, parameters.data(), nullptr),
        spec.label + ": launch of a slice");
}

double Slices::run(CUstream stream, std::uint32_t blocks, std::size_t queued) const {
  const auto all = static_cast<std::uint32_t>(kernel_.spec().blocks());
  std::array<EventHandle, 2> done;
  for (EventHandle& e : done) e = make_event();
  const Clock::time_point start = Clock::now();
  std::size_t n = 0;
  for (std::uint32_t first = 0; first < all; ++n) {
    if (n >= queued) wait(done[(n - queued) % done.size()]);
    const std::uint32_t count = std::min(blocks, all - first);
    launch(stream, first, count);
    first += count;
    check(driver().cuEventRecord(done[n % done.size()].get(), stream), "recording an event");
  }
  check(driver().cuStreamSynchronize(stream), kernel_.spec().label + " failed on the GPU");
  return seconds(Clock::now() - start) * 1e3;
}

double native_by_clock(const PreparedKernel& kernel, CUstream stream) {
  const Clock::time_point start = Clock::now();
  kernel.launch_native(stream);
  check(driver().cuStreamSynchronize(stream), kernel.spec().label + " failed on the GPU");
  return seconds(Clock::now() - start) * 1e3;
}

}  // namespace sluice::gpu
