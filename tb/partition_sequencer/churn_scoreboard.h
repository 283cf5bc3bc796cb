// SPDX-License-Identifier: Apache-2.0
#pragma once
// What CHURN promises (docs/reference/blocks/partition_sequencer.md, Churn), judged by the ports alone: a curve is never used for
// another kernel and is not lost while its own stays; what is in force lives for 2^CHURN cycles, and EVEN's counts for exactly so
// many; a kernel that was there before a change, and is after it, is not stopped, and a new one has no counts before its plan.
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
    new_ = {};
    told_ = false;
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
      if (out.core.start && !kept && kernels_[order_[i]].curve) wrong = "a curve is lost";
      if (out.core.start && out.core.rows[i] != order_[i]) wrong = "the row of another kernel";
    }
    // A life that nothing else ends is followed by a plan.
    if (state == State::kIdle && was == State::kPlan) began_ = now_;
    if (state == State::kPlan && was != State::kPlan && !told_) {
      if (now_ - began_ < life()) wrong = "a plan before the life is over";
      if (was == State::kIdle && now_ - began_ > life()) wrong = "a plan after the life was over";
    }
    if (state == State::kMonitor && asked_ && now_ - began_ >= life()) wrong = "a new profile that was asked for does not come";
    for (const std::uint8_t slot : order_) {
      const bool shared = config.mode == 2 || config.mode == 3 || config.mode == 5;
      if (shared && unaffected_[slot] && before_.ctas[slot] != 0 && out.ctas[slot] == 0) wrong = "a kernel that stays is stopped";
      if (shared && state == State::kPlan && new_[slot] && out.ctas[slot] != 0 && !fall_back_is_ranges(out))
        wrong = "a new kernel has counts before its plan";
    }
    cover(config, out, state, was);

    // What the inputs do with the edge.
    sampled_ = sampled;
    unaffected_.fill(!out.regions && config.mode != 4 && !config.mode_write);
    if (state != State::kPlan) new_.fill(false);  // it is in force
    told_ = in.change || config.mode_write || config.enable_write;
    if (told_) {
      std::array<bool, kMaxKernels> stays{};
      for (std::uint32_t i = 0; i < in.num_present; ++i) stays[in.age[i]] = true;
      for (const std::uint8_t slot : order_)
        if (!stays[slot]) kernels_[slot] = {};
      for (std::uint32_t k = 0; k < kMaxKernels; ++k) unaffected_[k] = unaffected_[k] && stays[k];
      for (std::uint32_t k = 0; k < kMaxKernels; ++k)
        new_[k] = stays[k] && (new_[k] || std::ranges::find(order_, k) == order_.end());
      order_.assign(in.age.begin(), in.age.begin() + in.num_present);
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
  [[nodiscard]] std::uint64_t life() const { return std::uint64_t{1} << p_.churn; }

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
  std::array<bool, kMaxKernels> new_{};         ///< in no plan yet
  std::vector<std::uint8_t> order_;             ///< present kernel slots, oldest first
  std::uint64_t now_ = 0, began_ = 0;           ///< began_: a life, by EVEN's counts or by a decision
  bool sampled_ = false, asked_ = false;
  bool told_ = false;  ///< the last edge made a new plan, for the present kernels, MODE or SM_ENABLE
  SequencerOut before_;
};

}  // namespace sluice::tb
