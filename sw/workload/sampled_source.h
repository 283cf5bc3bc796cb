// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw/workload/i_instruction_source.h"

namespace sluice {

/// Which CTAs of a long grid are simulated: blocks of neighbours, evenly over the grid, the first and the last CTA among them.
/// The machine sees one grid of these CTAs.
class SamplePlan {
 public:
  /// @param resident  CTAs that the machine holds of it at most
  /// @param ratio     one CTA of so many is simulated at least
  /// @return nothing where the grid is too short: the shortest blocks are half of it
  [[nodiscard]] static std::optional<SamplePlan> of(std::uint32_t grid, std::uint32_t resident, std::uint32_t ratio);
  /// Largest `ratio` that leaves each block its length; 1: too short to be sampled.
  [[nodiscard]] static std::uint32_t most_ratio(std::uint32_t grid, std::uint32_t resident);

  [[nodiscard]] std::uint32_t grid() const { return grid_; }
  [[nodiscard]] std::uint32_t simulated() const { return blocks_ * block_; }
  [[nodiscard]] std::uint32_t index(std::uint32_t simulated) const;  ///< in the grid, of a simulated CTA

  struct Estimate {
    double cycles = 0;                                ///< that the CTAs which are left out would take
    double interval = 0;                              ///< half of it: 95 % where the blocks' rates are alike and independent
    std::vector<std::pair<double, double>> so_far{};  ///< a cycle of the simulation, and what is left out before it
    /// @return by how much later the whole comes where the simulation is in that cycle
    [[nodiscard]] double before(double simulated) const;
  };
  /// What changes the rates: a decision, or the end of another launch. When in the simulation, and when in the whole.
  struct Change {
    double simulated = 0, whole = 0;
  };
  /// @param begun    cycle in which each simulated CTA began
  /// @param changes  before its end, in order
  /// @param later    cycles by which it would begin later than it did
  [[nodiscard]] Estimate left_out(const std::vector<std::uint64_t>& begun, const std::vector<Change>& changes,
                                  double later) const;

 private:
  struct Rate;
  class Rates;
  static constexpr std::uint32_t kBlocks = 8;  ///< at least
  [[nodiscard]] std::vector<Rate> rates(const std::vector<std::uint64_t>& begun, const std::vector<Change>& changes) const;
  SamplePlan(std::uint32_t grid, std::uint32_t resident, std::uint32_t blocks, std::uint32_t block)
      : grid_(grid), resident_(resident), blocks_(blocks), block_(block) {}
  [[nodiscard]] std::uint32_t first_of(std::uint32_t block) const;
  std::uint32_t grid_, resident_, blocks_, block_;
};

/// The simulated CTAs of a plan. What is left out of a source that is read in order is read, and not run.
class SampledSource : public IInstructionSource {
 public:
  /// @param now  core cycles
  SampledSource(std::unique_ptr<IInstructionSource> grid, const SamplePlan& plan, std::function<std::uint64_t()> now);

  [[nodiscard]] SamplePlan::Estimate left_out(const std::vector<SamplePlan::Change>& changes, double later) const {
    return plan_.left_out(begun_, changes, later);
  }
  [[nodiscard]] double first_begun() const { return static_cast<double>(begun_.front()); }

  [[nodiscard]] std::uint32_t num_registers() const override { return source_->num_registers(); }
  std::uint32_t begin_cta(std::uint32_t cta) override;
  void end_cta(std::uint32_t handle) override { source_->end_cta(handle); }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;
  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return source_->unknown_opcodes(); }

 private:
  [[nodiscard]] WarpCursor in_grid(const WarpCursor& cursor) const;
  std::unique_ptr<IInstructionSource> source_;
  SamplePlan plan_;
  std::function<std::uint64_t()> now_;
  std::vector<std::uint32_t> index_;  ///< in the grid, by simulated CTA
  std::vector<std::uint64_t> begun_;
  std::uint32_t next_ = 0;  ///< of the grid: not read yet
};

}  // namespace sluice
