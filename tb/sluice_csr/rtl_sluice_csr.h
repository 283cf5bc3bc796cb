// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "systemc/unit/rtl/verilated_axi.h"
#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/rtl/verilated_ports.h"
#include "systemc/unit/twin/sluice_csr.h"
#include "tb/common/waveform.h"

namespace sluice::tb {

/// A Verilated sluice_csr behind the ports of its twin.
template <class Model>
class RtlSluiceCsr {
 public:
  explicit RtlSluiceCsr(const regs::Parameters& parameters) : p_(parameters) {
    top_->rst_ni = 1;  // so that the first reset has an edge
    top_.eval();
  }

  /// Ports in, ports out as they stand just before the rising edge, then the edge.
  SluiceCsrOut cycle(const SluiceCsrIn& in) {
    drive(in);
    top_.low();
    const SluiceCsrOut out = sample();
    idle_ = top_->idle_o != 0;
    top_.high();
    return out;
  }

  /// idle_o as it stood in the last cycle() before the edge.
  [[nodiscard]] bool idle() const { return idle_; }

 private:
  void drive(const SluiceCsrIn& in) {
    const SluiceCsrStatus& status = in.status;
    top_->rst_ni = in.rst_n;
    drive_axi(*top_, in.axi);
    for (unsigned k = 0; k < p_.max_kernels; ++k) {
      set_field(top_->slot_state_i, 2 * k, 2, status.slot_state[k]);
      set_field(top_->resident_i, 16 * k, 16, status.resident[k]);
      set_field(top_->dispatched_i, 32 * k, 32, status.dispatched[k]);
      set_field(top_->evict_done_i, k, 1, status.evict_done[k]);
      set_field(top_->kernel_done_i, k, 1, status.kernel_done[k]);
      set_field(top_->ctas_i, 6 * k, 6, status.ctas[k]);
    }
    for (unsigned m = 0; m < p_.num_sm; ++m) set_field(top_->sm_busy_i, m, 1, status.sm_busy[m] ? 1 : 0);
    for (unsigned k = 0; k < p_.max_kernels; ++k) {
      set_field(top_->tags_i, 11 * k, 11,
                regs::kSlotTagsContext.get(status.tags[k]) | regs::kSlotTagsPriority.get(status.tags[k]) << 8);
      set_field(top_->port_admit_i, k, 1, in.take && in.take->slot == k ? 1 : 0);
    }
    const SluiceCsrTake take = in.take.value_or(SluiceCsrTake());
    set_field(top_->port_demand_i, 0, 7, take.warps);
    set_field(top_->port_demand_i, 7, 17, take.registers);
    set_field(top_->port_demand_i, 24, 18, take.shared_bytes);
    top_->port_ctas_i = take.ctas;
    top_->port_priority_i = static_cast<CData>(take.priority);
    top_->queue_i = static_cast<CData>(status.queue);
    top_->num_present_i = status.num_present;
    top_->sequencer_state_i = status.sequencer_state;
    top_->decision_i = status.decision;
    top_->spatial_i = status.spatial;
    top_->no_fit_i = status.no_fit;
    top_->dropped_i = status.dropped;
    top_->no_profile_i = status.no_profile;
    top_->error_i = status.error;
    top_->error_kernel_i = status.error_kernel;
    top_->error_sm_i = status.error_sm;
    top_->error_slot_i = status.error_slot;
    top_->fell_back_i = status.fell_back;
  }

  SluiceCsrOut sample() const {
    SluiceCsrOut out;
    out.axi = sample_axi(*top_);
    out.irq = top_->irq_o != 0;
    SluiceConfig& c = out.config;
    c.mode = top_->mode_o;
    c.mode_write = top_->mode_write_o != 0;
    c.capacity_warps = top_->capacity_warps_o;
    c.capacity_registers = top_->capacity_registers_o;
    c.capacity_shared = top_->capacity_shared_o;
    c.capacity_slots = top_->capacity_slots_o;
    for (unsigned k = 0; k < p_.max_kernels; ++k) {
      c.demand_warps[k] = get_field(top_->demand_warps_o, 7 * k, 7);
      c.demand_registers[k] = get_field(top_->demand_registers_o, 17 * k, 17);
      c.demand_shared[k] = get_field(top_->demand_shared_o, 18 * k, 18);
      c.grid[k] = get_field(top_->grid_o, 32 * k, 32);
      c.priority[k] = static_cast<std::uint8_t>(get_field(top_->priority_o, 3 * k, 3));
      c.repeat[k] = get_field(top_->repeat_o, k, 1) != 0;
      c.launch[k] = get_field(top_->launch_o, k, 1) != 0;
      c.stop[k] = get_field(top_->stop_o, k, 1) != 0;
      c.evict[k] = get_field(top_->evict_o, k, 1) != 0;
      c.resume[k] = get_field(top_->resume_o, k, 1) != 0;
      c.flush[k] = get_field(top_->flush_o, k, 1) != 0;
      c.quota[k] = static_cast<std::uint8_t>(get_field(top_->quota_o, 6 * k, 6));
      for (unsigned m = 0; m < p_.num_sm; ++m) c.mask[k][m / 32] |= get_field(top_->mask_o, k * p_.num_sm + m, 1) << (m % 32);
    }
    c.evict_count = top_->evict_count_o;
    c.static_write = top_->static_write_o != 0;
    c.warm_up = top_->warm_up_o;
    c.window = top_->window_o;
    c.delay = top_->delay_o;
    c.epsilon = top_->epsilon_o;
    c.loss_limit = top_->loss_limit_o;
    c.request_share = top_->request_share_o;
    c.drain_limit = top_->drain_limit_o;
    c.monitor_enable = top_->monitor_enable_o != 0;
    c.monitor_threshold = top_->monitor_threshold_o;
    c.monitor_window = top_->monitor_window_o;
    c.monitor_hold = top_->monitor_hold_o;
    c.reprofile = top_->reprofile_o != 0;
    for (unsigned m = 0; m < p_.num_sm; ++m) c.sm_enable[m] = get_field(top_->sm_enable_o, m, 1) != 0;
    c.enable_write = top_->enable_write_o != 0;
    c.port_slots = top_->port_slots_o;
    return out;
  }

  regs::Parameters p_;
  bool idle_ = false;
  VerilatedModel<Model> top_{waveform("sluice_csr")};
};

}  // namespace sluice::tb
