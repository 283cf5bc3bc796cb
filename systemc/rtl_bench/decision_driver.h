#pragma once
#include <optional>

#include "systemc/rtl_bench/rtl_bench.h"

namespace sluice {

/// Presents a decision to a core, port cycle by port cycle: every kernel's sum, then its samples.
class DecisionDriver {
 public:
  /// @param late  each sum comes just before its kernel's samples; else all of them come first, as the sequencer does it
  DecisionDriver(const DecisionCase& decision, bool late) : decision_(decision), in_(decision.config) {
    in_.start = true;
    const auto kernels = static_cast<unsigned>(decision.samples.size());
    if (!late) {
      for (unsigned k = 0; k < kernels; ++k) steps_.push_back({k, -1});
    }
    for (unsigned k = 0; k < kernels; ++k) {
      if (late) steps_.push_back({k, -1});
      for (int j = 0; j < static_cast<int>(decision.samples[k].size()); ++j) steps_.push_back({k, j});
    }
  }
  /// `gap`: nothing is offered in this cycle.
  const PartitionCoreIn& next(bool gap) {
    const bool offer = !in_.start && at_ < steps_.size() && !gap;
    in_.prepare_valid = offer && steps_[at_].level < 0;
    in_.sample_valid = offer && steps_[at_].level >= 0;
    if (offer) {
      const auto [k, level] = steps_[at_];
      in_.prepare_kernel = in_.sample_kernel = static_cast<std::uint8_t>(k);
      in_.prepare_sum = decision_.sums[k].first;
      in_.num_samples = decision_.sums[k].second;
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
    int level;  ///< -1: the kernel's sum
  };
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
