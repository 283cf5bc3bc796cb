// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>
#include <utility>

#include <vector>

#include "systemc/unit/ports/i_partition_core.h"

namespace sluice {

/// One decision's input to the partition core.
struct DecisionCase {
  PartitionCoreIn config;
  std::vector<std::vector<std::uint32_t>> samples;  ///< [kernel][count - 1], warp instructions
  std::uint32_t split = 0;                          ///< levels from here on are of a second window; 0: one window
};

/// Presents a decision to a core, port cycle by port cycle: every kernel's samples, window by window.
class DecisionDriver {
 public:
  explicit DecisionDriver(const DecisionCase& decision) : decision_(decision), in_(decision.config) {
    in_.start = true;
    const std::uint32_t split = decision.split == 0 ? kMaxCtas : decision.split;
    add_window(0, split);
    if (decision.split != 0) add_window(split, kMaxCtas);
  }
  /// `gap`: nothing is offered in this cycle.
  const PartitionCoreIn& next(bool gap) {
    const bool starts = std::exchange(begins_, false);
    in_.start = starts;
    in_.sample_valid = !starts && at_ < steps_.size() && !gap;
    if (in_.sample_valid) {
      const auto [k, level] = steps_[at_++];
      in_.sample_kernel = static_cast<std::uint8_t>(k);
      in_.sample_ctas = static_cast<std::uint8_t>(level + 1);
      in_.sample_warp_insts = decision_.samples[k][level];
      in_.sample_final = level + 1 == decision_.samples[k].size();
    }
    return in_;
  }

 private:
  struct Step {
    unsigned kernel;
    std::size_t level;
  };
  /// Levels `first` and up, below `end`.
  void add_window(std::size_t first, std::size_t end) {
    for (unsigned k = 0; k < decision_.samples.size(); ++k) {
      for (std::size_t j = first; j < std::min(end, decision_.samples[k].size()); ++j) steps_.push_back({k, j});
    }
  }
  const DecisionCase& decision_;
  PartitionCoreIn in_;
  std::vector<Step> steps_;
  std::size_t at_ = 0;
  bool begins_ = true;
};

/// @param watch  sees the outputs of every cycle
/// @return the outputs when it is done; nullopt when that takes more than 40,000 cycles
template <class Watch>
std::optional<PartitionCoreOut> decide(IPartitionCore& core, const DecisionCase& decision, Watch&& watch) {
  DecisionDriver driver(decision);
  for (int guard = 0; guard < 40000; ++guard) {
    const PartitionCoreOut out = core.cycle(driver.next(false));
    watch(out);
    if (out.done) return out;
  }
  return std::nullopt;
}

}  // namespace sluice
