// SPDX-License-Identifier: Apache-2.0
#pragma once
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
    const AxiLiteIn& axi = in.axi;
    put_fields(top_->axi_i, 0, 1, axi.rready, 1, axi.arvalid, 12, axi.araddr, 1, axi.bready, 1, axi.wvalid, 4, axi.wstrb, 32,
               axi.wdata, 1, axi.awvalid, 12, axi.awaddr);
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
    put_fields(top_->port_launch_i, 0, 7, take.warps, 17, take.registers, 18, take.shared_bytes, 32, take.ctas, 3, take.priority);
    top_->queue_i = static_cast<CData>(status.queue);
    top_->num_present_i = status.num_present;
    put_fields(top_->status_i, 0, 1, status.fell_back, 1, status.no_profile, 1, status.dropped, 1, status.no_fit, 1,
               status.spatial, 1, status.decision, 4, status.sequencer_state);
    put_fields(top_->error_i, 0, 5, status.error_slot, 8, status.error_sm, 3, status.error_kernel, 5, status.error);
  }

  SluiceCsrOut sample() const {
    SluiceCsrOut out;
    AxiLiteOut& axi = out.axi;
    take_fields(top_->axi_o, 0, 1, axi.rvalid, 2, axi.rresp, 32, axi.rdata, 1, axi.arready, 1, axi.bvalid, 2, axi.bresp, 1,
                axi.wready, 1, axi.awready);
    out.irq = top_->irq_o != 0;
    SluiceConfig& c = out.config;
    take_fields(top_->config_o, 0, 8, c.drain_limit, 13, c.request_share, 8, c.monitor_hold, 16, c.monitor_window, 15,
                c.monitor_threshold, 1, c.monitor_enable, 16, c.loss_limit, 15, c.epsilon, 16, c.delay, 16, c.window, 20,
                c.warm_up, 1, c.reprofile, 1, c.mode_write, 3, c.mode);
    take_fields(top_->capacity_o, 0, 7, c.capacity_warps, 17, c.capacity_registers, 18, c.capacity_shared);
    c.capacity_slots = top_->capacity_slots_o;
    for (unsigned k = 0; k < p_.max_kernels; ++k) {
      take_fields(top_->demand_o, kAmountBits * k, 7, c.demand_warps[k], 17, c.demand_registers[k], 18, c.demand_shared[k]);
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
