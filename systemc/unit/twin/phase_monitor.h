// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "systemc/unit/ports/i_sluice_top.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice {

/// The twin of rtl/sequencer/phase_monitor.sv, cycle for cycle alike, written from docs/reference/blocks/phase_monitor.md.
class PhaseMonitorTwin {
 public:
  static constexpr unsigned kJudging = 32;  ///< cycles a kernel after each window, in which nothing is counted

  explicit PhaseMonitorTwin(unsigned max_kernels) : kernels_(max_kernels) {}

  [[nodiscard]] bool request() const { return request_; }
  /// Counts and reference are under comparison, not the kernels watched.
  [[nodiscard]] bool judging() const { return active_ && cycle_ >= window_; }
  /// @param issued  warp instructions of each kernel slot on its watched SM in this cycle
  void clock(const SluiceConfig& config, bool active, const PerKernel<unsigned>& issued);

 private:
  enum class Phase { Settle, Reference, Watch };
  [[nodiscard]] bool moved() const;
  void judge(const SluiceConfig& config);
  void begin_window(const SluiceConfig& config);

  unsigned kernels_;
  bool active_ = false;
  Phase phase_ = Phase::Settle;
  std::uint32_t window_ = 0, cycle_ = 0;  ///< length of the window; cycles since it began
  PerKernel<std::uint64_t> count_{}, reference_{}, threshold_{};
  std::uint32_t hold_ = 0, row_ = 0;  ///< windows that ask; windows in a row in which some kernel moved
  bool request_ = false;
};

}  // namespace sluice
