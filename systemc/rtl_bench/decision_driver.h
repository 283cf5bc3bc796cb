#pragma once
#include <algorithm>
#include <optional>

#include "systemc/rtl_bench/rtl_bench.h"

namespace sluice {

/// Presents a decision to a core, port cycle by port cycle: every kernel's sum, then its samples, window by window.
class DecisionDriver {
 public:
  /// @param late  each sum comes just before its kernel's samples; else all of them come first, as the sequencer does it
  DecisionDriver(const DecisionCase& decision, bool late) : decision_(decision), in_(decision.config) {
    in_.start = true;
    const std::uint32_t split = decision.split == 0 ? kMaxCtas : decision.split;
    add_window(0, split, late);
    if (decision.split != 0) add_window(split, kMaxCtas, late);
  }
  /// `gap`: nothing is offered in this cycle.
  const PartitionCoreIn& next(bool gap) {
    const bool offer = !in_.start && at_ < steps_.size() && !gap;
    in_.prepare_valid = offer && steps_[at_].level < 0;
    in_.sample_valid = offer && steps_[at_].level >= 0;
    if (offer) {
      const auto [k, level, first] = steps_[at_];
      const auto [sum, sms] = first == 0 ? decision_.sums[k] : decision_.second_sums[k];
      in_.prepare_kernel = in_.sample_kernel = static_cast<std::uint8_t>(k);
      in_.prepare_sum = sum;
      in_.num_samples = sms;
      if (level >= 0) {
        const DecisionCase::Sample& sample = decision_.samples[k][static_cast<std::size_t>(level)];
        in_.sample_ctas = static_cast<std::uint8_t>(level + 1);
        in_.sample_warp_insts = sample.insts;
        in_.sample_stall_cycles = sample.stall;
        in_.sample_final = static_cast<std::size_t>(level) + 1 == decision_.samples[k].size();
      }
    }
    return in_;
  }
  void observe(const PartitionCoreOut& out) {
    in_.start = false;
    if ((in_.sample_valid && out.sample_ready) || (in_.prepare_valid && out.prepare_ready)) ++at_;
  }

 private:
  struct Step {
    unsigned kernel;
    int level;            ///< -1: the kernel's sum
    std::uint32_t first;  ///< level of the window
  };
  /// Levels `first` and up, below `end`.
  void add_window(std::uint32_t first, std::uint32_t end, bool late) {
    const auto kernels = static_cast<unsigned>(decision_.samples.size());
    const auto levels = [&](unsigned k) { return std::min(end, static_cast<std::uint32_t>(decision_.samples[k].size())); };
    for (unsigned k = 0; k < kernels && !late; ++k) steps_.push_back({k, -1, first});
    for (unsigned k = 0; k < kernels; ++k) {
      if (late && first < levels(k)) steps_.push_back({k, -1, first});
      for (std::uint32_t j = first; j < levels(k); ++j) steps_.push_back({k, static_cast<int>(j), first});
    }
  }
  const DecisionCase& decision_;
  PartitionCoreIn in_;
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

/// @param watch  sees the outputs of every cycle
/// @return the outputs when it is done; nullopt when that takes more than 5,000 cycles
template <class Watch>
std::optional<PartitionCoreOut> decide(IPartitionCore& core, const DecisionCase& decision, Watch&& watch) {
  DecisionDriver driver(decision, false);
  for (int guard = 0; guard < 5000; ++guard) {
    const PartitionCoreOut out = core.cycle(driver.next(false));
    watch(out);
    driver.observe(out);
    if (out.done) return out;
  }
  return std::nullopt;
}

}  // namespace sluice
