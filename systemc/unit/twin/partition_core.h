// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "systemc/unit/ports/i_partition_core.h"

namespace sluice {

/// One kernel's row of the performance table: entries, exponent and mantissa, that become performances.
class PerfTableRow {
 public:
  void write(unsigned ctas, std::uint32_t entry) {
    if (ctas == 1) words_.clear();
    words_.push_back(entry);
  }
  /// Entries become performances on the star hull. @return the cycles that the hardware takes
  unsigned finish();
  /// Units of 1 / kPerfOne; kPerfOne or more is the kernel's best.
  [[nodiscard]] std::uint32_t performance(unsigned ctas) const { return words_[ctas - 1]; }

 private:
  std::vector<std::uint32_t> words_{0};
};

/// The twin of rtl/decision/partition_core.sv: same answers, same cycles at the ports, written from
/// docs/reference/blocks/partition_core.md. A decision is computed at once when all samples are there; a counter stands for the
/// cycles that the hardware takes.
class PartitionCoreTwin : public IPartitionCore {
 public:
  /// A sample that is written into the performance table in this cycle.
  struct Scaled {
    unsigned kernel = 0, ctas = 0;
    std::uint32_t value = 0;  ///< exponent and mantissa
  };

  PartitionCoreOut cycle(const PartitionCoreIn& in) override;
  /// The sample that is written in this cycle, or null.
  [[nodiscard]] const Scaled* writing() const { return writing_ ? &*writing_ : nullptr; }
  /// Without an input nothing changes.
  [[nodiscard]] bool settled() const { return !writing_ && decided_in_ == 0 && (!collecting_ || finals_left_ != 0); }

 private:
  void forget();
  void clock(const PartitionCoreIn& in);
  void decide();
  [[nodiscard]] bool kept(unsigned kernel) const { return (config_.kept >> kernel & 1U) != 0; }
  [[nodiscard]] static std::uint32_t entry(std::uint32_t instructions);

  PartitionCoreIn config_;
  bool collecting_ = false;                       ///< from the start until all samples are there
  unsigned finals_left_ = 0;                      ///< kernels whose last sample is still to come
  std::optional<Scaled> writing_;                 ///< taken in the cycle before
  std::array<PerfTableRow, kMaxKernels> curves_;  ///< by row
  unsigned decided_in_ = 0;                       ///< cycles until done; 1 = in this cycle
  PartitionCoreOut results_;
};

}  // namespace sluice
