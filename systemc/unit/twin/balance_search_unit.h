// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "sw/partition/balance_unit.h"

namespace sluice {

/// The twin of rtl/balance/balance_search.sv: what it finds, in its number formats, and in how many cycles, written from
/// docs/reference/blocks/balance_search.md. Kernels are numbered by rank.
class BalanceSearchUnit {
 public:
  using Counts = std::vector<std::uint32_t>;
  /// What a search is about.
  struct Plan {
    std::array<std::uint32_t, 4> capacity{};             ///< CTA slots, warps, registers, shared memory
    std::vector<std::array<std::uint32_t, 4>> demand{};  ///< of a CTA of each kernel
    BalanceUnitSettings settings{};
    std::uint32_t room = 0;  ///< entries beside the base
  };
  enum class Phase { SideBySide, OnAll, InTurn, Alone };

  /// A sample alone, before a search.
  void sample_alone(std::size_t kernel, std::uint32_t sample) { alone_[kernel] = sample * 8; }
  /// @return cycles to the first round
  std::uint64_t begin(Plan plan, const Counts& base);
  void take(std::size_t entry, std::size_t kernel, std::uint32_t sample);
  /// @return cycles to the next round, or to what is kept: done()
  std::uint64_t end_of_round();

  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] bool shares() const { return shares_; }  ///< the base, or CTAs in turn
  [[nodiscard]] bool in_turn() const {
    return done_ ? shares_ && best_ != 0 && phase_ >= Phase::InTurn : phase_ == Phase::InTurn;
  }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] std::size_t only() const { return only_; }  ///< the kernel that is alone
  [[nodiscard]] const std::vector<Counts>& list() const { return list_; }
  [[nodiscard]] const Counts& base() const { return base_; }
  [[nodiscard]] bool floors() const { return best_entry_.shortfall == 0; }
  /// Scores in the order in which they were found: entry, measured, Time. The caller clears them.
  struct Score {
    std::size_t entry = 0;
    bool measured = false;
    std::uint32_t time = 0;
    std::uint64_t at = 0;  ///< cycles before it is told
  };
  std::vector<Score> scored;

 private:
  static constexpr std::size_t kTurns = 1;
  struct Entry {
    std::vector<std::uint32_t> sums, counts;  ///< of samples
    BalanceUnitEntry rated;
  };

  [[nodiscard]] std::uint32_t kernels() const { return static_cast<std::uint32_t>(plan_.demand.size()); }
  [[nodiscard]] bool fits(const Counts& work);
  void make_list();
  bool make(Counts& work, std::size_t to, std::size_t off);
  void add(const Counts& work);
  void clear();
  void mean(Entry& entry, std::size_t kernel);
  void rate(std::size_t at, bool with_means);
  bool side_by_side();
  bool nearer(const BalanceUnitEntry& here);
  void take_step();
  void on_all(bool turns);
  void all_sms();
  bool worth_it();
  void hold(Phase phase, std::size_t kernel = 0);
  void finish(bool shares);

  Plan plan_;
  std::array<std::uint32_t, 8> alone_{};
  Counts base_;
  Counts earlier_;
  bool has_before_ = false;
  std::vector<Counts> rows_, list_;
  std::vector<Entry> entries_;
  BalanceUnitEntry before_, best_entry_;
  std::size_t best_ = 0, only_ = 0;
  std::uint32_t round_ = 0;
  bool known_ = false, worth_ = false, shares_ = false, done_ = false;
  Phase phase_ = Phase::SideBySide;
  std::uint64_t cycles_ = 0;
};

}  // namespace sluice
