// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "systemc/unit/twin/balance_search_unit.h"
#include "systemc/unit/twin/partition_sequencer.h"

namespace sluice {

/// The twin of rtl/balance/balance_unit.sv and balance_rounds.sv, cycle for cycle alike: mode BALANCE, which begins with a
/// decision of the sequencer and stands in for it until another plan is made.
class BalanceModeTwin {
 public:
  explicit BalanceModeTwin(const regs::Parameters& parameters) : parameters_(parameters) {}

  /// What the sequencer says becomes what the unit says.
  void replace(SequencerOut& out, const SluiceConfig& config) const;
  [[nodiscard]] bool active() const { return state_ != State::Idle; }
  [[nodiscard]] bool measures() const { return active() && state_ != State::Held; }
  [[nodiscard]] std::uint32_t quota(std::uint32_t sm, std::uint32_t slot) const;
  [[nodiscard]] std::uint32_t owner(std::uint32_t sm) const;
  /// The SM whose counter is read in this cycle.
  [[nodiscard]] std::optional<std::uint32_t> reads(const SluiceConfig& config, const std::bitset<kMaxSms>& settled) const;
  /// The rising edge. @param sequenced  of the sequencer itself; `in` has the instructions of the sample
  void clock(const SluiceConfig& config, const SequencerOut& sequenced, const SequencerIn& in, bool abort, std::uint32_t insts);
  [[nodiscard]] std::uint32_t status() const;
  [[nodiscard]] std::uint32_t score(std::uint32_t entry) const { return entry < scores_.size() ? scores_[entry] : 0; }

 private:
  enum class State { Idle, List, WarmUp, Settle, Window, Whole, Read, Hand, End, Held };
  using Phase = BalanceSearchUnit::Phase;
  static constexpr std::uint32_t kWait = (1U << 16U) - 1, kCounted = 15;

  [[nodiscard]] bool starts(const SluiceConfig& config, const SequencerOut& sequenced) const;
  [[nodiscard]] std::uint32_t group() const { return parameters_.num_sm < 8 ? 1 : 2; }
  [[nodiscard]] std::uint32_t most() const {
    return std::min(15U, (parameters_.num_sm - std::max(1U, parameters_.num_sm * 3 / 8)) / group());
  }
  [[nodiscard]] std::uint32_t kernels() const { return static_cast<std::uint32_t>(slots_.size()); }
  [[nodiscard]] std::uint32_t entry_of(std::uint32_t sm) const;
  [[nodiscard]] std::size_t rank_of(std::uint32_t sm) const;
  [[nodiscard]] bool takes(const SluiceConfig& config, const std::bitset<kMaxSms>& settled) const;
  [[nodiscard]] std::uint32_t word(std::uint32_t insts, std::uint32_t window) const;
  [[nodiscard]] std::uint32_t windows() const;
  [[nodiscard]] bool free() const { return !shares_ || turns_; }
  [[nodiscard]] std::uint32_t kept_quota(std::uint32_t slot) const { return quota(0, slot); }
  void begin(const SluiceConfig& config, const SequencerOut& sequenced, const SequencerIn& in);
  void end(bool ready);
  void run(const SluiceConfig& config, const SequencerIn& in, std::uint32_t insts);

  regs::Parameters parameters_;
  BalanceSearchUnit search_;
  State state_ = State::Idle;
  bool begun_ = false, changed_ = false, decision_ = false, spoiled_ = false, shares_ = true, turns_ = false;
  std::uint64_t busy_ = 0;    ///< cycles until the search says what comes
  std::uint32_t adding_ = 0;  ///< cycles until it takes the next sample
  std::uint32_t timer_ = 0, window_ = 0, sm_ = 0, taken_ = 0, rounds_ = 0;
  std::vector<std::uint32_t> slots_;             ///< by rank
  std::vector<BalanceSearchUnit::Counts> held_;  ///< entries on SMs, the base first
  std::optional<std::size_t> alone_;             ///< only this kernel is
  BalanceSearchUnit::Counts began_with_;
  std::vector<std::uint32_t> scores_ = std::vector<std::uint32_t>(16, 0);
  std::uint64_t since_ = 0;  ///< the search began to work
};

}  // namespace sluice
