// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/core/balance.h"
#include "sw/core/machine.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice {

/// What mode Balance measures and what it keeps (docs/user/policies.md#balance). The sequencer drives it: it holds what quota()
/// says on each SM, gives it the counters of a window, and asks what comes next.
///
/// SM i has entry i of a list: first each kernel alone with all the CTAs that fit, then the candidates. The SMs that are left
/// over hold the candidate in the middle in the first look, and begin the list again in the second. A counter counts one kernel,
/// so an SM of a candidate counts one of those that are there, and another in the next window where there are not SMs enough for
/// all.
class BalanceSearchTwin {
 public:
  struct Kernel {
    std::uint32_t slot = 0, fits = 0;
    BalanceWish wish{};
  };

  static constexpr std::uint32_t kMostWindows = 4;  ///< of a look, or one a kernel

  BalanceSearchTwin(const BalanceConfig& settings, std::uint32_t num_sm) : settings_(settings), num_sm_(num_sm) {}

  /// A new list. @return whether anything can be measured: a partition of all kernels, and an SM for each entry
  bool begin(const SluiceConfig& config, const std::vector<Kernel>& kernels);
  /// CTAs of the plan's kernel `kernel` on an SM.
  [[nodiscard]] std::uint32_t quota(std::uint32_t sm, std::size_t kernel) const;
  /// The plan's kernel that the SM's counter counts.
  [[nodiscard]] std::size_t owner(std::uint32_t sm) const;
  /// Instructions that the counter of an SM has counted in a window.
  void take(std::uint32_t sm, std::uint32_t instructions);
  /// A CTA has ended on `sm`.
  void ended(std::uint32_t sm);
  /// @return all is known; otherwise another window is needed
  bool end_of_window();
  /// After the last window: @return there is a second look, at a new list
  bool look_again();
  /// The kept candidate's CTAs; null: no partition is worth it.
  [[nodiscard]] const std::vector<std::uint32_t>* kept() const { return kept_ ? &candidates_[*kept_].ctas : nullptr; }
  [[nodiscard]] const BalanceReport& report() const { return report_; }
  /// Cycles that the hardware takes for the scores.
  [[nodiscard]] std::uint64_t scoring_cycles() const { return 16 * candidates_.size() * (kernels_.size() + 1); }

 private:
  static constexpr std::uint32_t kOne = 1U << 14;    ///< a rate of 1
  static constexpr std::uint32_t kWeight = 1U << 8;  ///< a weight of 1

  /// Counted instructions, and the SMs that counted them.
  struct Counted {
    std::uint64_t instructions = 0, sms = 0;
  };
  struct Candidate {
    std::vector<std::uint32_t> ctas;
    std::vector<Counted> counted;            ///< by kernel
    std::uint64_t sum = 0;                   ///< of weight times rate
    std::uint32_t score = 0, shortfall = 0;  ///< how far below its floor the worst-off kernel is
  };

  [[nodiscard]] std::uint64_t weight(std::size_t k) const {
    return std::max(1U, static_cast<std::uint32_t>(std::lround(kernels_[k].wish.weight * kWeight)));
  }
  [[nodiscard]] std::uint32_t floor(std::size_t k) const {
    return static_cast<std::uint32_t>(std::ceil(kernels_[k].wish.floor * kOne));
  }
  [[nodiscard]] std::uint32_t kernels() const { return static_cast<std::uint32_t>(kernels_.size()); }
  /// Kernels alone come first.
  [[nodiscard]] std::uint32_t entries() const { return kernels() + static_cast<std::uint32_t>(candidates_.size()); }
  [[nodiscard]] std::uint32_t entry_of(std::uint32_t sm) const;
  [[nodiscard]] bool fits(const SluiceConfig& config, const std::vector<std::uint32_t>& ctas) const;
  void fill(const SluiceConfig& config, std::vector<std::uint32_t>& ctas) const;
  void make_candidates(const SluiceConfig& config);
  void score(Candidate& candidate);
  void decide();

  BalanceConfig settings_;
  std::uint32_t num_sm_;
  std::vector<Kernel> kernels_;
  std::vector<Candidate> candidates_;
  std::vector<Counted> alone_;    ///< by kernel
  std::vector<bool> lived_;       ///< by kernel: a CTA of those alone has ended
  std::uint32_t round_ = 0;       ///< windows so far
  std::uint32_t steady_ = 0;      ///< those that ended after a CTA of each kernel had
  bool second_ = false;           ///< look
  std::uint32_t first_look_ = 0;  ///< score of what it kept
  std::optional<std::size_t> kept_;
  BalanceReport report_;
};

}  // namespace sluice
