// SPDX-License-Identifier: Apache-2.0
#pragma once
// What CHURN promises (docs/reference/blocks/partition_sequencer.md, Churn), judged by the ports alone: a curve is never used for
// another kernel, what is in force lives for 2^CHURN cycles before a profile takes its place, and a kernel that was there before
// a change, and is after it, is not stopped.
#include <string>

#include "systemc/unit/twin/partition_sequencer.h"
#include "tb/common/coverage.h"

namespace sluice::tb {

class ChurnScoreboard {
 public:
  ChurnScoreboard(const regs::Parameters& parameters, Coverage& coverage) : p_(parameters), coverage_(coverage) {}

  void reset() {
    const std::uint64_t now = now_;
    kernels_ = {};
    order_.clear();
    before_ = {};
    now_ = began_ = now;
  }

  /// @param sampled a sample that counts is read in this cycle, for the core in the next
  /// @return what is wrong, empty when nothing is
  std::string observe(const SluiceConfig& config, const SequencerIn& in, const SequencerOut& out, bool sampled) {
    if (p_.churn == 0) return "";
    ++now_;
    const auto state = static_cast<State>(out.state), was = static_cast<State>(before_.state);
    std::string wrong;
    if (out.core.sample_valid && sampled_) kernels_[order_[out.core.sample_kernel]].sampled = true;
    if (out.decision) {
      for (Kernel& kernel : kernels_) kernel.curve |= kernel.sampled;
      began_ = now_;
    }
    if (out.core.start && profiles(state) && state != was)
      for (const std::uint8_t slot : order_) kernels_[slot].sampled = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const bool kept = (out.core.kept >> i & 1U) != 0;
      if (out.core.start && kept && !kernels_[order_[i]].curve) wrong = "a curve that is not this kernel's";
      if (out.core.start && out.core.rows[i] != order_[i]) wrong = "the row of another kernel";
    }
    if (state == State::kWarmUp && was == State::kPlan && now_ - began_ < (1U << p_.churn))
      wrong = "a profile before the life is over";
    if (state == State::kWarmUp && was == State::kPlan) began_ = now_;
    for (const std::uint8_t slot : order_) {
      const bool shared = config.mode == 2 || config.mode == 3 || config.mode == 5;
      if (shared && unaffected_[slot] && before_.ctas[slot] != 0 && out.ctas[slot] == 0) wrong = "a kernel that stays is stopped";
    }
    cover(config, out, state, was);

    // What the inputs do with the edge.
    sampled_ = sampled;
    unaffected_.fill(!out.regions && config.mode != 4 && !config.mode_write);
    if (in.change || config.mode_write || config.enable_write) {
      std::array<bool, kMaxKernels> stays{};
      for (std::uint32_t i = 0; i < in.num_present; ++i) stays[in.age[i]] = true;
      for (const std::uint8_t slot : order_)
        if (!stays[slot]) kernels_[slot] = {};
      for (std::uint32_t k = 0; k < kMaxKernels; ++k) unaffected_[k] = unaffected_[k] && stays[k];
      order_.assign(in.age.begin(), in.age.begin() + in.num_present);
      began_ = now_;
    }
    if (config.mode_write) kernels_ = {};
    if ((config.reprofile || in.monitor_request) && state == State::kMonitor) asked_ = true;
    if (asked_ && !out.core.start && state == State::kPlan && was == State::kMonitor) {
      kernels_ = {};
      asked_ = false;
    }
    if (state != State::kMonitor && state != State::kPlan) asked_ = false;
    before_ = out;
    return wrong;
  }

 private:
  using State = regs::SequencerState;
  struct Kernel {
    bool sampled = false, curve = false;
  };
  static bool profiles(State state) { return state == State::kDrain; }

  void cover(const SluiceConfig& config, const SequencerOut& out, State state, State was) {
    if (config.mode == 5 && state == State::kIdle && was == State::kPlan && out.core.num_kernels > 1 && !out.idle && !out.regions)
      coverage_.hit(fall_back_is_ranges(out) ? "fall-back to ranges" : "fall-back");
    if (out.core.start && state == State::kAllocate) coverage_.hit("decision by kept curves");
    if (state == State::kProfile && was == State::kDrain && out.core.kept != 0) {
      bool ranged = false;
      for (std::size_t i = 0; i < order_.size(); ++i)
        ranged |= (out.core.kept >> i & 1U) != 0 && out.ctas[order_[i]] == p_.max_ctas;
      coverage_.hit(ranged ? "profile of some kernels beside ranges" : "profile of some kernels");
    }
    if (state == State::kMonitor && config.reprofile && !out.idle && !out.decision) coverage_.hit("profile asked for in a life");
  }
  bool fall_back_is_ranges(const SequencerOut& out) const {
    bool all = true;
    for (const std::uint8_t slot : order_) all &= out.ctas[slot] == p_.max_ctas;
    return all;
  }

  regs::Parameters p_;
  Coverage& coverage_;
  std::array<Kernel, kMaxKernels> kernels_{};
  std::array<bool, kMaxKernels> unaffected_{};  ///< by kernel slot: nothing told it to stop
  std::vector<std::uint8_t> order_;             ///< present kernel slots, oldest first
  std::uint64_t now_ = 0, began_ = 0;           ///< began_: the last change, or decision
  bool sampled_ = false, asked_ = false;
  SequencerOut before_;
};

}  // namespace sluice::tb
