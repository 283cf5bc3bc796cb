// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "sw/driver/sluice_regs.h"
#include "systemc/unit/ports/i_partition_core.h"
#include "systemc/unit/twin/balance_search.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice {

/// What the other blocks tell the partition sequencer in one cycle.
struct SequencerIn {
  PerKernel<std::uint8_t> age{};  ///< present kernel slots, oldest first
  std::uint8_t num_present = 0;
  bool change = false;           ///< the present set changed
  bool monitor_request = false;  ///< the phase monitor wants a new profile
  std::uint8_t spent = 0;        ///< mask of kernel slots: they dispatch nothing more
  std::bitset<kMaxSms> settled;  ///< SMs that have held what the layout says
  PartitionCoreOut core;
  std::uint32_t counted = 0;  ///< by the SM of reads()
};

/// Its outputs, before the rising edge.
struct SequencerOut {
  bool quota_changed = false;  ///< first cycle of new quotas
  bool regions = false, round_robin = false, in_order = false;
  bool profile_clear = false, profile_enable = false;
  PerKernel<std::uint8_t> slots{};  ///< of the plan, by rank
  bool on_all = false;              ///< no SM has a share of the bandwidth to keep to
  PartitionCoreIn core;             ///< without the figures of the sample
  bool drop = false;                ///< of the sample that is offered: it counts as none
  bool profiling = false;           ///< a window runs or is read: who has settled stays as it is
  std::uint8_t state = 0;           ///< regs::SequencerState
  PerKernel<std::uint8_t> ctas{};
  bool decision = false, spatial = false, no_fit = false, dropped = false, no_profile = false, monitoring = false;
  PerKernel<bool> watch{};  ///< by kernel slot: the decision is about it
  PerKernel<std::uint32_t> watch_sm{};
  bool idle = false;
};

/// The twin of rtl/sequencer/partition_sequencer.sv, cycle for cycle alike, written from docs/reference/blocks/sluice_top.md:
/// plans and lists are made at once where the hardware works through them; counters stand for the cycles that takes.
class PartitionSequencerTwin {
 public:
  explicit PartitionSequencerTwin(const regs::Parameters& parameters, const std::optional<BalanceConfig>& balance = std::nullopt)
      : parameters_(parameters), settings_(balance), search_(balance.value_or(BalanceConfig()), parameters.num_sm) {}

  [[nodiscard]] SequencerOut out(const SluiceConfig& config) const;
  /// What stands in for a decision of the core where mode Balance is alone: Even's counts.
  [[nodiscard]] PartitionCoreOut even() const;
  /// The inputs of this cycle make a new plan: a decision under way is dropped.
  [[nodiscard]] bool restarts(const SluiceConfig& config, const SequencerIn& in) const;
  /// The SM whose profile counters are read in this cycle, for the sample that the core is offered in the next.
  [[nodiscard]] std::optional<std::uint32_t> reads() const;
  /// The kernel slot whose samples `sm` takes; none without a plan.
  [[nodiscard]] std::optional<std::uint32_t> owner(std::uint32_t sm) const;
  /// CTAs of kernel slot `kernel` that may live on `sm`; max_ctas = no limit.
  [[nodiscard]] std::uint32_t quota(const SluiceConfig& config, std::uint32_t sm, std::uint32_t kernel) const;
  /// The rising edge.
  void clock(const SluiceConfig& config, const SequencerIn& in);
  void reset() { *this = PartitionSequencerTwin(parameters_, settings_); }
  /// What mode Balance is to reach for the kernel of a slot, from its next plan on.
  void wish(std::uint32_t slot, const BalanceWish& wish) { wishes_[slot] = wish; }
  /// Mode Balance measures partitions or has kept one.
  [[nodiscard]] bool one_by_one(const SluiceConfig& config) const {
    return config.mode == static_cast<std::uint8_t>(Mode::Balance) && (layout_ == Layout::Groups || layout_ == Layout::Counts);
  }
  [[nodiscard]] const BalanceReport* balance() const { return settings_ ? &search_.report() : nullptr; }

 private:
  using State = regs::SequencerState;
  enum class Layout { Free, Hold, Alone, Ranges, Counts, Levels, Groups, Static };
  /// One kernel of the plan.
  struct Planned {
    std::uint32_t slot = 0, first = 0, count = 0;  ///< its SMs
    std::uint32_t fits = 0;                        ///< occupancy
    std::uint32_t most = 0;                        ///< occupancy, or the Even quota
    std::uint32_t base = 0;                        ///< levels of earlier windows
    [[nodiscard]] bool on(std::uint32_t sm) const { return sm >= first && sm < first + count; }
    [[nodiscard]] std::uint32_t level(std::uint32_t i) const { return base + i + 1; }
  };
  /// With CHURN: what outlives a change, of a kernel that does.
  struct Kept {
    bool curve = false;      ///< the core has one
    std::uint32_t ctas = 0;  ///< the count in force
  };
  struct Sample {
    std::uint32_t kernel = 0, sm = 0, level = 0;
    bool valid = false,  ///< not valid: a cycle that goes on to a kernel, or finds one without levels in this window
        final = false, drop = false;
  };

  void make_plan(const SluiceConfig& config, const SequencerIn& in);
  void finish_plan(const SluiceConfig& config);
  void list_samples(const SluiceConfig& config, const SequencerIn& in);
  void read_on(const SluiceConfig& config, const SequencerIn& in);
  [[nodiscard]] bool settled(const SluiceConfig& config, const SequencerIn& in) const;  ///< all SMs that can
  /// Every kernel has an SM that is enabled in its range.
  [[nodiscard]] bool ranges_live(const SluiceConfig& config) const;
  void end_of_samples(const SluiceConfig& config);
  [[nodiscard]] static bool is(const SluiceConfig& config, Mode mode) { return config.mode == static_cast<std::uint8_t>(mode); }
  [[nodiscard]] bool churns() const { return parameters_.churn != 0; }
  [[nodiscard]] bool alone() const { return parameters_.balance == 2; }  ///< Dynamic is what mode Balance begins with
  [[nodiscard]] bool no_ranges(const SluiceConfig& config) const {
    return plan_.size() > parameters_.num_sm || !ranges_live(config);
  }
  [[nodiscard]] bool has_curve(const Planned& p) const { return kept_[p.slot].curve; }
  /// The plan ends with EVEN's counts, as some kernel has no curve yet.
  [[nodiscard]] bool falls_back(const SluiceConfig& config) const;
  /// The plan ends with a decision by curves that are there.
  [[nodiscard]] bool decides_at_once(const SluiceConfig& config) const;
  void keep_what_stays(const SluiceConfig& config, const SequencerIn& in);
  void set_counts();
  [[nodiscard]] Layout while_planning(Layout before) const;
  void begin_life() { timer_ = 1ULL << parameters_.churn; }
  [[nodiscard]] bool asked_again(const SluiceConfig& config, const SequencerIn& in) const {
    return state_ == State::kMonitor && (in.monitor_request || config.reprofile || again_);
  }
  void enforce(const SluiceConfig& config, const PartitionCoreOut& core);
  bool begin_search(const SluiceConfig& config, const PartitionCoreOut& core);
  void go_on_searching(const SluiceConfig& config);
  void end_of_round(const SluiceConfig& config);
  void begin_round(const SluiceConfig& config);
  void go(regs::SequencerState state) { state_ = state; }
  void set_layout(Layout layout) {
    layout_ = layout;
    changed_ = true;
  }

  regs::Parameters parameters_;
  std::optional<BalanceConfig> settings_;  ///< none: the unit has no mode Balance
  BalanceSearchTwin search_;
  PerKernel<BalanceWish> wishes_{};  ///< by kernel slot
  bool searching_ = false;           ///< a round is under way: after Warped-Slicer's decision
  regs::SequencerState state_ = regs::SequencerState::kIdle;
  Layout layout_ = Layout::Free;
  bool changed_ = false, decision_ = false, spatial_ = false, no_fit_ = false, first_window_ = false;
  bool turns_ = false;                         ///< FCFS, in the cycle before
  bool dropped_ = false, no_profile_ = false;  ///< a sample of the last profile was dropped; a kernel had no other
  PerKernel<bool> sampled_{};                  ///< by kernel slot: a sample of it counts
  std::uint8_t spent_ = 0;                     ///< mask of kernel slots: in some cycle of the window
  std::uint64_t timer_ = 0;                    ///< cycles left in the state
  std::vector<Planned> plan_;
  PerKernel<std::uint32_t> decided_{};  ///< by kernel slot

  PerKernel<Kept> kept_{};               ///< by kernel slot
  bool at_once_ = false;                 ///< the core is told to decide by curves that are there
  bool direct_ = false;                  ///< the plan is for a profile
  bool waits_ = false;                   ///< in IDLE: a profile comes when the life of this plan is over
  bool again_ = false;                   ///< in MONITOR: a profile was asked for, and comes then
  Layout before_levels_ = Layout::Hold;  ///< in force when the profile began

  std::vector<Sample> samples_;    ///< of the window that has ended
  std::size_t sample_ = 0;         ///< the next whose counters are read
  std::optional<Sample> offered_;  ///< to the core
};

}  // namespace sluice
