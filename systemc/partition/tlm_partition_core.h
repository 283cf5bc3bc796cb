#pragma once
#include <array>
#include <deque>
#include <set>
#include <vector>

#include "systemc/partition/i_partition_core.h"

namespace sluice {

/// One kernel's row of the performance table.
class PerfTableRow {
 public:
  void write(unsigned ctas, std::uint64_t value) {
    if (ctas == 1) steps_.clear();
    if (ctas == 1 || value > steps_.back().value) steps_.push_back({ctas, value});
  }
  [[nodiscard]] std::uint32_t performance(std::size_t step) const;
  [[nodiscard]] bool last(std::size_t step) const { return step + 1 == steps_.size(); }
  [[nodiscard]] unsigned ctas(std::size_t step) const { return steps_[step].ctas; }

 private:
  struct Step {
    unsigned ctas;
    std::uint64_t value;
  };
  std::vector<Step> steps_{{1, 0}};
};

/// The TLM twin of rtl/partition_core.sv: same answers, same cycles at the ports, written from docs/blocks/partition_core.md.
/// Results are computed at once when a stage begins; counters stand for the cycles the hardware takes.
class TlmPartitionCore : public IPartitionCore {
 public:
  /// A scaled sample on its way into the performance table.
  struct Scaled {
    unsigned kernel = 0, ctas = 0;
    std::uint64_t value = 0;  ///< units of 1/16 instruction
    bool final = false;
  };

  PartitionCoreOut cycle(const PartitionCoreIn& in) override;
  /// The sample that is written in this cycle, or null.
  [[nodiscard]] const Scaled* writing() const {
    return !pipeline_.empty() && pipeline_.front().first == 1 ? &pipeline_.front().second : nullptr;
  }
  /// Without an input nothing changes.
  [[nodiscard]] bool settled() const {
    return pipeline_.empty() && pending_.empty() && scaler_wait_ == 0 && table_wait_ == 0 && decided_in_ == 0 &&
           (!started_ || finished_ != config_.num_kernels);
  }

 private:
  void clock(const PartitionCoreIn& in, bool ready);
  void decide();

  PartitionCoreIn config_;
  bool started_ = false;
  unsigned scaler_wait_ = 0;
  std::array<std::uint64_t, kMaxKernels> sum_reciprocal_{};
  std::deque<std::pair<unsigned, Scaled>> pipeline_;  ///< cycles until written, sample
  std::array<PerfTableRow, kMaxKernels> curves_;
  std::set<unsigned> pending_;  ///< kernels whose maximum is known, and whose reciprocal is not begun
  unsigned table_wait_ = 0;     ///< cycles until the reciprocal under way is stored
  unsigned finished_ = 0;       ///< kernels that have theirs
  unsigned decided_in_ = 0;     ///< cycles until done; 1 = in this cycle
  PartitionCoreOut results_;
};

}  // namespace sluice
