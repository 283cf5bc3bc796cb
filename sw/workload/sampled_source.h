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
  /// As many CTAs, but the first `begun` and some more one after the other, and the blocks over what is behind them.
  /// @return nothing where fewer than three blocks are left
  [[nodiscard]] std::optional<SamplePlan> behind(std::uint32_t begun) const;

  [[nodiscard]] std::uint32_t grid() const { return grid_; }
  [[nodiscard]] std::uint32_t simulated() const { return head_ + blocks_ * block_; }
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
  /// @param alive    so many were there then, with it; empty: as many as the machine holds
  /// @param changes  before its end, in order
  /// @param later    cycles by which it would begin later than it did
  [[nodiscard]] Estimate left_out(const std::vector<std::uint64_t>& begun, const std::vector<Change>& changes, double later,
                                  const std::vector<std::uint32_t>& alive = {}) const;

 private:
  struct Rate;
  class Rates;
  static constexpr std::uint32_t kBlocks = 8;  ///< at least
  [[nodiscard]] std::vector<Rate> rates(const std::vector<std::uint64_t>& begun, const std::vector<Change>& changes) const;
  [[nodiscard]] std::vector<Rate> parts(const std::vector<std::uint64_t>& begun, const std::vector<Change>& changes,
                                        const std::vector<std::uint32_t>& alive) const;
  SamplePlan(std::uint32_t grid, std::uint32_t resident, std::uint32_t blocks, std::uint32_t block, std::uint32_t head)
      : grid_(grid), resident_(resident), blocks_(blocks), block_(block), head_(head) {}
  [[nodiscard]] std::uint32_t first_of(std::uint32_t block) const;                                ///< its first CTA, in the grid
  [[nodiscard]] std::size_t begin_of(std::size_t block) const { return head_ + block * block_; }  ///< among those simulated
  std::uint32_t grid_, resident_, blocks_, block_;
  std::uint32_t head_;  ///< CTAs in front of the blocks, of which none is left out
};

/// The simulated CTAs of a plan. What is left out of a source that is read in order is read, and not run. As long as the
/// partition is being decided no CTA is left out: the profile is the whole's, and so is the decision. Samples have another
/// profile: of two partitions that are worth the same they may take the other one.
class SampledSource : public IInstructionSource {
 public:
  /// @param now        core cycles
  /// @param undecided  will the unit still decide how those that are there share the machine?
  SampledSource(std::unique_ptr<IInstructionSource> grid, const SamplePlan& plan, std::function<std::uint64_t()> now,
                std::function<bool()> undecided);

  [[nodiscard]] SamplePlan::Estimate left_out(const std::vector<SamplePlan::Change>& changes, double later) const {
    return plan_.left_out(begun_, changes, later, alive_);
  }
  [[nodiscard]] double first_begun() const { return static_cast<double>(begun_.front()); }
  [[nodiscard]] std::optional<std::uint64_t> leaves_out_from() const { return placed_; }  ///< cycle

  [[nodiscard]] std::uint32_t num_registers() const override { return source_->num_registers(); }
  /// @throws InputError where the partition is decided when too few of the samples are left
  std::uint32_t begin_cta(std::uint32_t cta) override;
  void end_cta(std::uint32_t handle) override {
    --now_alive_;
    source_->end_cta(handle);
  }
  Instruction next(WarpCursor& cursor) const override;
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override;
  [[nodiscard]] std::map<std::string, std::uint64_t> unknown_opcodes() const override { return source_->unknown_opcodes(); }

 private:
  [[nodiscard]] WarpCursor in_grid(const WarpCursor& cursor) const;
  void place();  ///< the blocks over what has not begun
  std::unique_ptr<IInstructionSource> source_;
  SamplePlan plan_;
  std::function<std::uint64_t()> now_;
  std::function<bool()> undecided_;
  std::optional<std::uint64_t> placed_;  ///< when the blocks were
  std::vector<std::uint32_t> index_;     ///< in the grid, by simulated CTA
  std::vector<std::uint64_t> begun_;
  std::vector<std::uint32_t> alive_;  ///< when each began
  std::uint32_t now_alive_ = 0;
  std::uint32_t next_ = 0;  ///< of the grid: not read yet
};

}  // namespace sluice
