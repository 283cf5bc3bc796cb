// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/opaque.h"

#include <cstdlib>
#include <string_view>

#include "sw/interpose/context_state.h"
#include "sw/interpose/table.h"

namespace sluice::interpose {

Opaque::Mode Opaque::mode() {
  static const Mode mode = [] {
    const char* set = std::getenv("SLUICE_OPAQUE");
    const std::string_view word = set == nullptr ? "" : set;
    return word == "hold" ? Mode::Hold : word == "split" ? Mode::Split : Mode::Native;
  }();
  return mode;
}

bool Opaque::free() const {
  if (entering_ || !under_way_) return !entering_;
  CUcontext before = nullptr;
  SLUICE_REAL(cuCtxGetCurrent)(&before);
  if (before == nullptr) SLUICE_REAL(cuCtxSetCurrent)(context_);  // a thread of ours
  return SLUICE_REAL(cuEventQuery)(held_) != CUDA_ERROR_NOT_READY;
}

void Opaque::entered(CUstream stream) {
  if (held_ == nullptr) SLUICE_REAL(cuEventCreate)(&held_, CU_EVENT_DISABLE_TIMING);
  SLUICE_REAL(cuEventRecord)(held_, stream);
  SLUICE_REAL(cuCtxGetCurrent)(&context_);
  under_way_ = true;
  entering_ = false;
}

void Opaque::context_ends(CUcontext context) {
  std::erase_if(parts_, [&](const auto& p) { return p.first.first == context; });
  if (context_ != context) return;
  held_ = nullptr;
  under_way_ = false;
}

bool Opaque::ended() {
  if (!under_way_ || !free()) return false;
  under_way_ = false;
  return true;
}

const Opaque::Part* Opaque::part_of(unsigned sms) {
  constexpr unsigned kGranularity = 8;  // of compute capability 9.0
  CUcontext context = nullptr;
  CUdevice device = 0;
  SLUICE_REAL(cuCtxGetCurrent)(&context);
  SLUICE_REAL(cuCtxGetDevice)(&device);
  sms = sms / kGranularity * kGranularity;
  if (context == nullptr || sms == 0 || real(kcuGreenCtxStreamCreate) == nullptr) return nullptr;
  Part& part = parts_[{context, sms}];
  if (part.stream != nullptr) return &part;
  const Relaxed relaxed;
  CUdevResource all{}, group{}, rest{};
  unsigned groups = 1;
  CUdevResourceDesc description{};
  CUgreenCtx green = nullptr;
  const auto good = [](CUresult result) { return result == CUDA_SUCCESS; };
  if (good(SLUICE_REAL(cuDeviceGetDevResource)(device, &all, CU_DEV_RESOURCE_TYPE_SM)) &&
      good(SLUICE_REAL(cuDevSmResourceSplitByCount)(&group, &groups, &all, &rest, 0, sms)) && groups == 1 &&
      good(SLUICE_REAL(cuDevResourceGenerateDesc)(&description, &group, 1)) &&
      good(SLUICE_REAL(cuGreenCtxCreate)(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM)) &&
      good(SLUICE_REAL(cuEventCreate)(&part.before, CU_EVENT_DISABLE_TIMING)) &&
      good(SLUICE_REAL(cuEventCreate)(&part.after, CU_EVENT_DISABLE_TIMING)))
    static_cast<void>(SLUICE_REAL(cuGreenCtxStreamCreate)(&part.stream, green, CU_STREAM_NON_BLOCKING, 0));
  return part.stream == nullptr ? nullptr : &part;
}

bool Opaque::behind(CUstream stream, CUstream first, CUevent event) {
  return SLUICE_REAL(cuEventRecord)(event, first) == CUDA_SUCCESS &&
         SLUICE_REAL(cuStreamWaitEvent)(stream, event, CU_EVENT_WAIT_DEFAULT) == CUDA_SUCCESS;
}

}  // namespace sluice::interpose
