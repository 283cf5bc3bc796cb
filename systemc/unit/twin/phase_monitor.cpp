// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/phase_monitor.h"

#include <algorithm>

namespace sluice {

namespace {

constexpr unsigned kThresholdBits = 15;

}  // namespace

bool PhaseMonitorTwin::moved() const {
  for (unsigned k = 0; k < kernels_; ++k) {
    const std::uint64_t distance = std::max(count_[k], reference_[k]) - std::min(count_[k], reference_[k]);
    if ((distance << 14) > reference_[k] * threshold_[k]) return true;
  }
  return false;
}

void PhaseMonitorTwin::begin_window(const SluiceConfig& config) {
  window_ = config.monitor_window;
  cycle_ = 0;
  count_ = {};
  threshold_ = {};
}

void PhaseMonitorTwin::judge(const SluiceConfig& config) {
  const bool again = phase_ == Phase::Watch && moved();
  row_ = again ? row_ + 1 : 0;
  if (again && row_ < hold_) return;
  request_ = again;
  row_ = 0;
  hold_ = config.monitor_hold;
  if (phase_ == Phase::Reference) reference_ = count_;
  phase_ = again ? Phase::Settle : phase_ == Phase::Settle ? Phase::Reference : Phase::Watch;
}

void PhaseMonitorTwin::clock(const SluiceConfig& config, bool active, const PerKernel<unsigned>& issued) {
  if (!active) {
    *this = PhaseMonitorTwin(kernels_);
    return;
  }
  request_ = false;
  if (!active_) {
    active_ = true;
    begin_window(config);
    return;
  }
  const bool counting = cycle_ < window_;
  const unsigned judged = cycle_++ - window_;
  if (counting) {
    for (unsigned k = 0; k < kernels_; ++k) count_[k] += issued[k];
    return;
  }
  const unsigned step = judged % kJudging;
  if (step >= 1 && step <= kThresholdBits) threshold_[judged / kJudging] |= config.monitor_threshold & (1U << (step - 1));
  if (judged + 1 < kernels_ * kJudging) return;
  judge(config);
  begin_window(config);
}

}  // namespace sluice
