// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/core/balance.h"
#include "sw/core/machine.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice {

/// What mode Balance measures after Warped-Slicer's decision, and what it keeps (docs/user/policies.md#balance). The sequencer
/// drives it: it holds what quota() says on each SM, gives it the counters of a window, and asks what comes next.
///
/// In a round most SMs hold the base, which is at first Warped-Slicer's partition, and groups of SMs between them hold its
/// neighbours. A counter counts one kernel, so the SMs of a group take turns, and each counts another one in the next window.
class BalanceSearchTwin {
 public:
  using Counts = std::vector<std::uint32_t>;
  struct Kernel {
    std::uint32_t slot = 0, fits = 0;
    BalanceWish wish{};
  };

  static constexpr std::uint32_t kWindows = 8;     ///< of a round
  static constexpr std::uint32_t kOnAll = 4;       ///< windows of what is on all SMs
  static constexpr std::uint32_t kWait = 1 << 16;  ///< cycles that a round waits for CTAs to leave, at most

  BalanceSearchTwin(const BalanceConfig& settings, std::uint32_t num_sm) : settings_(settings), num_sm_(num_sm) {}

  /// Instructions that an SM has counted in a window of the profile with all CTAs of one kernel that fit.
  void alone(std::size_t kernel, std::uint32_t instructions);
  void forget() {
    alone_.clear();
    in_turn_ = false;
  }
  /// A decision begins that may measure nothing: the last one's report is not about it.
  void forget_report() { report_ = {}; }
  /// The first round. @return whether there is anything to measure beside the base
  bool begin(const SluiceConfig& config, const std::vector<Kernel>& kernels, const Counts& base);
  /// CTAs of the plan's kernel `kernel` on an SM in the round.
  [[nodiscard]] std::uint32_t quota(std::uint32_t sm, std::size_t kernel) const;
  /// The plan's kernel that the SM's counter counts.
  [[nodiscard]] std::size_t owner(std::uint32_t sm) const;
  /// Instructions that the counter of an SM has counted in a window.
  void take(std::uint32_t sm, std::uint32_t instructions);
  /// @return the round is over
  bool end_of_window() { return ++window_ >= (on_all_ ? kOnAll : std::max(kWindows, kernels())); }
  /// After a round. @return there is another, at a new list
  bool next(const SluiceConfig& config);
  /// The base in the end; null: no partition is worth it.
  [[nodiscard]] const Counts* kept() const { return in_order_ ? nullptr : &base_; }
  /// No quotas hold: what an SM has free goes to the next kernel in turn.
  [[nodiscard]] bool in_turn() const { return in_turn_; }
  /// All SMs hold the same: none has to keep to its share of the bandwidth while it is counted.
  [[nodiscard]] bool on_all() const { return on_all_.has_value(); }
  [[nodiscard]] const BalanceReport& report() const { return report_; }
  /// Cycles that the hardware takes for the scores.
  [[nodiscard]] std::uint64_t scoring_cycles() const { return 16 * entries_.size() * (kernels_.size() + 1); }

 private:
  static constexpr std::size_t kBase = 0, kInTurn = 1, kAlone = 2;
  static constexpr std::uint32_t kOne = 1U << 14;    ///< a rate of 1
  static constexpr std::uint32_t kWeight = 1U << 8;  ///< a weight of 1

  /// Counted instructions, and the SMs that counted them.
  struct Counted {
    std::uint64_t instructions = 0, sms = 0;
  };
  struct Entry {
    Counts ctas;
    std::vector<Counted> counted{};          ///< by kernel
    std::vector<std::uint64_t> rates{};      ///< units of 1 / kOne
    std::uint32_t score = 0, shortfall = 0;  ///< how far below its floor the worst-off kernel is
  };

  [[nodiscard]] std::uint64_t weight(std::size_t k) const {
    return std::max(1U, static_cast<std::uint32_t>(std::lround(kernels_[k].wish.weight * kWeight)));
  }
  [[nodiscard]] std::uint32_t floor(std::size_t k) const {
    return static_cast<std::uint32_t>(std::ceil(kernels_[k].wish.floor * kOne));
  }
  [[nodiscard]] std::uint32_t kernels() const { return static_cast<std::uint32_t>(kernels_.size()); }
  [[nodiscard]] std::uint32_t group() const { return num_sm_ < 8 ? 1 : 2; }  ///< SMs of a neighbour
  /// Entries beside the base: three eighths of the SMs are left to it.
  [[nodiscard]] std::uint32_t room() const {
    return std::min(settings_.candidates, (num_sm_ - std::max(1U, num_sm_ * 3 / 8)) / group());
  }
  [[nodiscard]] std::uint32_t entry_of(std::uint32_t sm) const;
  [[nodiscard]] bool fits(const SluiceConfig& config, const Counts& ctas) const;
  [[nodiscard]] std::optional<Counts> shifted(const SluiceConfig& config, Counts from, std::size_t to, std::size_t off) const;
  void list(const SluiceConfig& config);
  void list_on_all(std::size_t what);
  [[nodiscard]] bool next_on_all();
  std::uint32_t keep_best();
  [[nodiscard]] std::uint32_t keep() const { return static_cast<std::uint32_t>(std::ceil(settings_.keep * kOne)); }
  [[nodiscard]] bool promised() const {
    return std::ranges::any_of(kernels_, [](const Kernel& k) { return k.wish.floor > 0; });
  }
  void add(const Counts& ctas);
  void measure(Entry& entry);
  [[nodiscard]] std::uint32_t score(const std::vector<std::uint64_t>& rates) const;
  [[nodiscard]] bool bought(const Entry& here, const Entry& than) const;
  [[nodiscard]] std::uint32_t shortfall(const std::vector<std::uint64_t>& rates) const;
  bool climb();

  BalanceConfig settings_;
  std::uint32_t num_sm_;
  std::vector<Kernel> kernels_;
  std::vector<Entry> entries_;  ///< the first is the base
  std::vector<Counted> alone_;  ///< by kernel
  Counts base_;
  std::vector<Counts> tried_;
  std::optional<Entry> before_;  ///< the base of the round before, as it was there
  std::uint32_t window_ = 0, round_ = 0;
  std::uint32_t score_ = 0;            ///< of the base in the last round
  std::optional<std::size_t> on_all_;  ///< what every SM holds: kBase, kInTurn, or kAlone + k
  std::vector<Entry> held_;            ///< by every SM: the base, and CTAs in turn
  bool in_order_ = false, in_turn_ = false;
  BalanceReport report_;
};

}  // namespace sluice
