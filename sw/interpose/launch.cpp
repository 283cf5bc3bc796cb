// SPDX-License-Identifier: Apache-2.0
// A launch under the fixed quota. Each stream has a control block of its own: its launches follow each other, so one is enough.
// The quota never shrinks, so every CTA with a slot stays until the queue is empty, and the grid's end is the job's end.
#include <algorithm>
#include <cstddef>

#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/rewrite/transform.h"
#include "sw/interpose/program.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

namespace {

struct Argument {
  SluiceJob job;
};

/// Allocations are allowed while another thread captures.
class Relaxed {
 public:
  Relaxed() { SLUICE_REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }
  ~Relaxed() { SLUICE_REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace

std::optional<std::string> Program::prepare(Kernel& kernel, const Launch& launch, Transformed& out) {
  if (quota_.ctas == 0) return "no quota is set";
  if (launch.facts.cooperative) return std::string(gpu::gate_row(gpu::GateRule::Cooperative).native);
  if (kernel.form == nullptr) return kernel.why;
  if (kernel.form->refusal) return kernel.form->refusal->reason;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (SLUICE_REAL(cuStreamIsCapturing)(launch.stream, &capture) != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE)
    return "captured into a graph";
  const Shape& fits = shape(kernel, launch.function, launch.facts);
  if (fits.native == 0 || fits.transformed == 0) return std::string(gpu::gate_row(gpu::GateRule::SharedRoom).native);
  if (const auto refused = gpu::refuse_launch(*kernel.form, launch.facts, {sms_, fits.native, fits.shared_left}))
    return refused->reason;
  // CTAs without a slot give up after a while: where others fill the range, blocks could be left.
  if (quota_.first > 0 || quota_.last < sms_ - 1) return "a range of SMs that other work may fill: not enforced";
  Control* const at = control(launch.stream);
  if (at == nullptr || !begin(*at, launch.stream, fits.transformed)) return "no memory for the job's state";

  auto argument = std::make_shared<Argument>();
  argument->job = gpu::job_shape({launch.facts.grid, 1, sms_ * fits.transformed, kernel.form->waits ? 1U : 0U});
  argument->job.control = reinterpret_cast<SluiceControl*>(at->memory);
  out.shared = launch.facts.dynamic_shared + kernel.form->shared_behind;
  argument->job.shared_at = out.shared - static_cast<unsigned>(sizeof(SluiceState));
  out.function = kernel.function;
  out.grid[0] = sms_;
  out.grid[1] = fits.transformed;
  char* buffer = nullptr;
  for (void** e = launch.extra; e != nullptr && *e != CU_LAUNCH_PARAM_END; e += 2)
    if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(e[1]);
  if (!kernel.parameters.empty() && buffer == nullptr && launch.parameters == nullptr) return "no arguments are given";
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
    out.parameters.push_back(buffer != nullptr ? buffer + kernel.parameters[i].first : launch.parameters[i]);
  out.parameters.push_back(&argument->job);
  out.keep = argument;
  return std::nullopt;
}

Program::Control* Program::control(CUstream stream) {
  StreamId id;
  if (SLUICE_REAL(cuCtxGetId)(nullptr, &id.first) != CUDA_SUCCESS ||
      SLUICE_REAL(cuStreamGetId)(stream, &id.second) != CUDA_SUCCESS)
    return nullptr;
  Control& control = controls_[id];
  if (control.memory != 0) return &control;
  const Relaxed relaxed;
  for (auto old = retired_.begin(); old != retired_.end(); ++old) {
    if (old->first != id.first || SLUICE_REAL(cuEventQuery)(old->second.free) != CUDA_SUCCESS) continue;
    SLUICE_REAL(cuEventDestroy_v2)(old->second.free);
    control = {old->second.memory, old->second.wanted, nullptr};
    retired_.erase(old);
    return &control;
  }
  if (SLUICE_REAL(cuMemAlloc_v2)(&control.memory, sizeof(SluiceControl)) != CUDA_SUCCESS) {
    controls_.erase(id);
    return nullptr;
  }
  const CUdeviceptr quotas = control.memory + offsetof(SluiceControl, orders.quota);
  const std::uint32_t last = std::min(quota_.last, sms_ - 1), count = quota_.first <= last ? last - quota_.first + 1 : 0;
  if (SLUICE_REAL(cuMemsetD8Async)(control.memory, 0, sizeof(SluiceControl), stream) == CUDA_SUCCESS &&
      SLUICE_REAL(cuMemsetD32Async)(quotas + 4 * quota_.first, quota_.ctas, count, stream) == CUDA_SUCCESS)
    return &control;
  SLUICE_REAL(cuMemFree_v2)(control.memory);
  controls_.erase(id);
  return nullptr;
}

bool Program::begin(Control& control, CUstream stream, std::uint32_t ctas) const {
  const std::uint32_t last = std::min(quota_.last, sms_ - 1), wanted = std::min(quota_.ctas, ctas) * (last - quota_.first + 1);
  const auto set = [&](std::size_t at, std::uint32_t value, std::size_t words) {
    return SLUICE_REAL(cuMemsetD32Async)(control.memory + at, value, words, stream) == CUDA_SUCCESS;
  };
  if (control.wanted != wanted && !set(offsetof(SluiceControl, orders.wanted), wanted, 1)) return false;
  control.wanted = wanted;
  return set(offsetof(SluiceControl, next), 0, 2);
}

void Program::stream_ends(CUstream stream) {
  const std::scoped_lock lock(order_);
  StreamId id;
  if (controls_.empty() || SLUICE_REAL(cuCtxGetId)(nullptr, &id.first) != CUDA_SUCCESS ||
      SLUICE_REAL(cuStreamGetId)(stream, &id.second) != CUDA_SUCCESS)
    return;
  const auto found = controls_.find(id);
  if (found == controls_.end()) return;
  const Relaxed relaxed;
  CUevent event = nullptr;
  if (SLUICE_REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
      SLUICE_REAL(cuEventRecord)(event, stream) == CUDA_SUCCESS)
    retired_.push_back({id.first, {found->second.memory, found->second.wanted, event}});
  controls_.erase(found);
}

}  // namespace sluice::interpose
