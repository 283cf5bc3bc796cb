// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "systemc/unit/ports/i_partition_core.h"

namespace sluice {

/// One kernel's row of the performance table. An entry is exponent and mantissa; larger is better.
class PerfTableRow {
 public:
  void write(unsigned ctas, std::uint32_t entry) {
    if (ctas == 1) entries_.clear();
    entries_.push_back(entry);
  }
  [[nodiscard]] std::size_t counts() const { return entries_.size(); }
  /// The steps of the entries' star hull (docs/reference/blocks/star_hull.md).
  void raise();
  /// Relative to the best, units of 1 / kPerfOne; kPerfOne - 1 is the best.
  [[nodiscard]] std::uint32_t performance(std::size_t step) const;
  [[nodiscard]] bool last(std::size_t step) const { return step + 1 == steps_.size(); }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }
  [[nodiscard]] unsigned ctas(std::size_t step) const { return steps_[step].ctas; }

 private:
  struct Step {
    unsigned ctas;
    std::uint32_t value;  ///< 16 bits, the best's leading one at the top
  };
  std::vector<std::uint32_t> entries_{0};
  std::vector<Step> steps_{{1, 0}};
  std::uint32_t best_mantissa_ = 0;
};

/// The twin of rtl/decision/partition_core.sv: same answers, same cycles at the ports, written from
/// docs/reference/blocks/partition_core.md. Results are computed at once when a stage begins; counters stand for the cycles the
/// hardware takes.
class PartitionCoreTwin : public IPartitionCore {
 public:
  /// A sample that is written into the performance table in this cycle.
  struct Scaled {
    unsigned kernel = 0, ctas = 0;
    std::uint32_t value = 0;  ///< exponent and mantissa
    bool final = false;
  };

  /// @param max_kernels, max_ctas  parameters of the hardware
  PartitionCoreTwin(unsigned max_kernels, unsigned max_ctas);
  PartitionCoreOut cycle(const PartitionCoreIn& in) override;
  /// The sample that is written in this cycle, or null.
  [[nodiscard]] const Scaled* writing() const { return writing_ ? &*writing_ : nullptr; }
  /// Without an input nothing changes.
  [[nodiscard]] bool settled() const {
    return !writing_ && pending_.empty() && divide_left_ == 0 && decided_in_ == 0 && first_in_ == 0 && !loads() &&
           reads_left_ == 0 && std::ranges::all_of(hull_left_, [](unsigned left) { return left == 0; });
  }

 private:
  void forget();
  void clock(const PartitionCoreIn& in);
  void divide(bool reading);
  void decide();
  void load();
  [[nodiscard]] static std::uint32_t entry(std::uint32_t instructions);
  [[nodiscard]] bool loads() const;  ///< a step is loaded in this cycle

  unsigned max_ctas_;
  PartitionCoreIn config_;
  bool collecting_ = false;        ///< from the start until the allocator begins
  std::optional<Scaled> writing_;  ///< taken in the cycle before
  std::array<PerfTableRow, kMaxKernels> curves_;
  std::set<unsigned> pending_;                     ///< kernels whose maximum is known, and whose reciprocal is not begun
  unsigned divide_left_ = 0;                       ///< cycles until the division under way is done
  std::set<unsigned> finished_;                    ///< kernels that have the reciprocal of their best
  unsigned dividing_ = 0;                          ///< kernel of the division under way
  unsigned reads_left_ = 0;                        ///< entries on their way to the hull, one a cycle
  bool operand_ = false;                           ///< one takes the multiplier
  std::array<unsigned, kMaxKernels> hull_left_{};  ///< cycles until the steps of a kernel are there
  unsigned loaded_ = 0;                            ///< steps loaded, as many of each kernel
  unsigned first_in_ = 0;                          ///< cycles until the last kernel's performance with one CTA is there
  unsigned decided_in_ = 0;                        ///< cycles until done; 1 = in this cycle
  PartitionCoreOut results_;
};

}  // namespace sluice
