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
    set_amounts(top_->port_launch_i, 0, take.warps, take.registers, take.shared_bytes);
    set_field(top_->port_launch_i, kAmountBits, 32, take.ctas);
    set_field(top_->port_launch_i, kAmountBits + 32, 3, take.priority);
    top_->queue_i = static_cast<CData>(status.queue);
    top_->num_present_i = status.num_present;
    StructWriter words(top_->status_i);
    for (bool bit : {status.fell_back, status.no_profile, status.dropped, status.no_fit, status.spatial, status.decision})
      words.put(1, bit);
    words.put(4, status.sequencer_state);
    StructWriter error(top_->error_i);
    error.put(5, status.error_slot);
    error.put(8, status.error_sm);
    error.put(3, status.error_kernel);
    error.put(5, status.error);
  }

  SluiceCsrOut sample() const {
    SluiceCsrOut out;
    out.axi = sample_axi(*top_);
    out.irq = top_->irq_o != 0;
    SluiceConfig& c = out.config;
    StructReader config(top_->config_o);
    config.take(8, c.drain_limit);
    config.take(13, c.request_share);
    config.take(8, c.monitor_hold);
    config.take(16, c.monitor_window);
    config.take(15, c.monitor_threshold);
    config.take(1, c.monitor_enable);
    config.take(16, c.loss_limit);
    config.take(15, c.epsilon);
    config.take(16, c.delay);
    config.take(16, c.window);
    config.take(20, c.warm_up);
    config.take(1, c.reprofile);
    config.take(1, c.mode_write);
    config.take(3, c.mode);
    StructReader capacity(top_->capacity_o);
    capacity.take(7, c.capacity_warps);
    capacity.take(17, c.capacity_registers);
    capacity.take(18, c.capacity_shared);
    c.capacity_slots = top_->capacity_slots_o;
    for (unsigned k = 0; k < p_.max_kernels; ++k) {
      c.demand_warps[k] = get_field(top_->demand_o, kAmountBits * k, 7);
      c.demand_registers[k] = get_field(top_->demand_o, kAmountBits * k + 7, 17);
      c.demand_shared[k] = get_field(top_->demand_o, kAmountBits * k + 24, 18);
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
