// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Verilated rtl/sequencer/partition_sequencer.sv behind the ports of its twin, and the answers of occupancy_counter.sv.
#include <algorithm>
#include <bit>

#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/rtl/verilated_ports.h"
#include "systemc/unit/twin/partition_sequencer.h"

namespace sluice {

template <class Top>
class RtlPartitionSequencer {
 public:
  explicit RtlPartitionSequencer(const regs::Parameters& parameters, const std::string& fst_file = "")
      : p_(parameters), top_(fst_file) {
    reset();
  }

  void reset() {
    top_->rst_ni = 0;
    top_.low();
    top_.high();
    top_->rst_ni = 1;
  }
  /// Outputs of this cycle. Nothing but core_abort() and reads() depends on `in`.
  SequencerOut out(const SluiceConfig& config, const SequencerIn& in, std::uint32_t query_sm) {
    drive(config, in);
    clear_port(top_->query_sm_i);
    set_field(top_->query_sm_i, query_sm, 1, 1);
    clear_port(top_->port_sm_i);
    set_field(top_->port_sm_i, p_.num_sm - 1 - query_sm, 1, 1);
    top_->clk_i = 0;
    top_.eval();
    return sample();
  }
  /// Of the SM asked for in out().
  [[nodiscard]] std::uint32_t quota(std::uint32_t kernel) const { return get_field(top_->query_quota_o, 6 * kernel, 6); }
  /// Of the SM as far from the last one as that is from the first.
  [[nodiscard]] std::uint32_t port_quota(std::uint32_t kernel) const { return get_field(top_->port_quota_o, 6 * kernel, 6); }
  [[nodiscard]] bool core_abort() const { return top_->core_abort_o != 0; }
  /// The SM whose counters are read.
  [[nodiscard]] std::optional<std::uint32_t> reads() const {
    return top_->sample_read_o != 0 ? std::optional<std::uint32_t>(top_->sample_sm_o) : std::nullopt;
  }
  [[nodiscard]] bool drops() const { return top_->sample_drop_o != 0; }  ///< that sample
  [[nodiscard]] std::uint32_t owner(std::uint32_t sm) const { return get_field(top_->owner_o, 3 * sm, 3); }
  /// The rising edge, with the inputs that the core answered in between.
  void clock(const SluiceConfig& config, const SequencerIn& in) {
    drive(config, in);
    top_->clk_i = 0;
    top_.eval();
    count(config);
    top_.low();
    top_.high();
  }

 private:
  /// An occupancy: the kernel slot is that of the cycle after the start; the answer comes n + 3 cycles after it.
  void count(const SluiceConfig& c) {
    if (answer_in_ == kAsked) {
      const auto k = static_cast<std::size_t>(std::countr_zero(std::uint32_t{top_->count_kernel_o}));
      std::uint32_t fits = c.capacity_slots;
      const auto hold = [&fits](std::uint32_t capacity, std::uint32_t demand) {
        if (demand != 0) fits = std::min(fits, capacity / demand);
      };
      hold(c.capacity_warps, c.demand_warps[k]);
      hold(c.capacity_registers, c.demand_registers[k]);
      hold(c.capacity_shared, c.demand_shared[k]);
      const unsigned share = std::max(1U, unsigned{top_->count_share_o});  // 0: the last kernel has just gone, nobody looks
      top_->occupancy_i = static_cast<CData>(fits / share);
      answer_in_ = static_cast<int>(fits) + 2;
    }
    top_->count_done_i = answer_in_ == 0;
    top_.eval();
    if (answer_in_ >= 0) --answer_in_;
    if (top_->count_start_o != 0) answer_in_ = kAsked;
    if (top_->core_abort_o != 0) answer_in_ = kSilent;
  }
  void drive(const SluiceConfig& c, const SequencerIn& in) {
    top_->mode_i = c.mode;
    top_->mode_write_i = c.mode_write;
    for (unsigned k = 0; k < p_.max_kernels; ++k) {
      set_amounts(top_->demand_i, kAmountBits * k, c.demand_warps[k], c.demand_registers[k], c.demand_shared[k]);
      set_field(top_->quota_i, 6 * k, 6, c.quota[k]);
      for (unsigned m = 0; m < p_.num_sm; m += 32) {
        const unsigned bits = std::min(32U, p_.num_sm - m);
        set_field(top_->mask_i, k * p_.num_sm + m, bits, c.mask[k][m / 32]);
      }
      set_field(top_->age_i, 3 * k, 3, in.age[k]);
      set_field(top_->core_ctas_i, 6 * k, 6, in.core.ctas[k]);
    }
    top_->static_write_i = c.static_write;
    top_->warm_up_i = c.warm_up;
    top_->window_i = static_cast<SData>(c.window);
    top_->delay_i = static_cast<SData>(c.delay);
    top_->reprofile_i = c.reprofile || in.monitor_request;
    top_->num_present_i = in.num_present;
    top_->change_i = in.change;
    top_->drain_limit_i = static_cast<CData>(c.drain_limit);
    top_->enable_write_i = c.enable_write;
    for (unsigned m = 0; m < p_.num_sm; ++m) set_field(top_->sm_enable_i, m, 1, c.sm_enable[m] ? 1 : 0);
    set_field(top_->spent_i, 0, p_.max_kernels, in.spent & ((1U << p_.max_kernels) - 1));
    for (unsigned m = 0; m < p_.num_sm; ++m) set_field(top_->settled_i, m, 1, in.settled[m] ? 1 : 0);
    top_->core_done_i = in.core.done;
    top_->core_no_fit_i = in.core.no_fit;
    top_->core_spatial_i = in.core.spatial;
  }
  SequencerOut sample() {
    SequencerOut out;
    out.quota_changed = top_->quota_changed_o != 0;
    out.regions = top_->regions_o != 0;
    out.round_robin = top_->round_robin_o != 0;
    out.in_order = top_->in_order_o != 0;
    out.profile_clear = top_->profile_clear_o != 0;
    out.profile_enable = top_->profile_enable_o != 0;
    out.state = top_->state_o;
    out.decision = top_->decision_o != 0;
    out.spatial = top_->spatial_o != 0;
    out.no_fit = top_->no_fit_o != 0;
    out.dropped = top_->dropped_o != 0;
    out.no_profile = top_->no_profile_o != 0;
    out.profiling = top_->profiling_o != 0;
    out.monitoring = top_->monitoring_o != 0;
    out.idle = top_->idle_o != 0;
    for (unsigned k = 0; k < p_.max_kernels; ++k) {
      out.ctas[k] = static_cast<std::uint8_t>(get_field(top_->ctas_o, 6 * k, 6));
      out.watch[k] = get_field(top_->watch_o, k, 1) != 0;
      out.watch_sm[k] = get_field(top_->watch_sm_o, 8 * k, 8);
      top_->core_demand_kernel_i = static_cast<CData>(k);
      top_.eval();
      out.core.demand_warps[k] = get_field(top_->core_demand_o, 0, 7);
      out.core.demand_registers[k] = get_field(top_->core_demand_o, 7, 17);
      out.core.demand_shared_bytes[k] = get_field(top_->core_demand_o, 24, 18);
    }
    out.core.start = top_->core_start_o != 0;
    out.core.num_kernels = top_->core_num_kernels_o;
    out.core.kept = static_cast<std::uint8_t>(top_->core_kept_o);
    for (unsigned i = 0; i < p_.max_kernels; ++i)
      out.core.rows[i] = static_cast<std::uint8_t>(get_field(top_->core_rows_o, 3 * i, 3));
    out.core.sample_valid = top_->sample_valid_o != 0;
    out.core.sample_kernel = static_cast<std::uint8_t>(get_field(top_->sample_o, 0, 4));
    out.core.sample_ctas = static_cast<std::uint8_t>(get_field(top_->sample_o, 4, 6));
    out.core.sample_final = get_field(top_->sample_o, 10, 1) != 0;
    return out;
  }

  static constexpr int kSilent = -1, kAsked = -2;
  regs::Parameters p_;
  int answer_in_ = kSilent;  ///< cycles until the answer; kAsked: asked in the cycle before
  VerilatedModel<Top> top_;
};

}  // namespace sluice
