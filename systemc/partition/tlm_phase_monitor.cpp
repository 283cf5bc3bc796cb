#include "systemc/partition/tlm_phase_monitor.h"

#include <algorithm>

namespace sluice {

namespace {

constexpr std::uint64_t kMostCounted = (1U << 18) - 1;

}  // namespace

bool TlmPhaseMonitor::moved(const SluiceConfig& config) const {
  for (unsigned k = 0; k < kernels_; ++k) {
    const std::uint64_t distance = std::max(last_[k], reference_[k]) - std::min(last_[k], reference_[k]);
    if ((distance << 14) > reference_[k] * config.monitor_threshold) return true;
  }
  return false;
}

void TlmPhaseMonitor::clock(const SluiceConfig& config, bool active, const PerKernel<unsigned>& issued) {
  if (!active) {
    *this = TlmPhaseMonitor(kernels_);
    return;
  }
  request_ = false;
  const bool window_end = ++cycle_ == config.monitor_window;
  if (window_end) cycle_ = 0;
  if (comparing_ > 0 && --comparing_ == 0) {
    strikes_ = moved(config) ? strikes_ + 1 : 0;
    if (strikes_ != 0 && strikes_ >= config.monitor_hold) {
      strikes_ = 0;
      request_ = true;
      phase_ = Phase::Settle;
      cycle_ = 0;
    }
  }
  for (unsigned k = 0; k < kernels_; ++k) count_[k] = std::min(count_[k] + issued[k], kMostCounted);
  if (!window_end) return;
  if (phase_ == Phase::Watch) {
    last_ = count_;
    comparing_ = kernels_;
  } else if (phase_ == Phase::Reference) {
    reference_ = count_;
    phase_ = Phase::Watch;
  } else {
    phase_ = Phase::Reference;
  }
  count_ = {};
}

}  // namespace sluice
