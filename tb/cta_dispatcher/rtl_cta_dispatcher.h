// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Verilated rtl/dispatch/cta_dispatcher.sv of any parameters behind ICtaDispatcher.
#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/rtl/verilated_ports.h"
#include "tb/common/waveform.h"
#include "tb/cta_dispatcher/i_dispatcher_under_test.h"

namespace sluice {

template <class Top>
class RtlCtaDispatcher : public IDispatcherUnderTest {
 public:
  explicit RtlCtaDispatcher(const CtaDispatcherParams& params) : params_(params) {
    CtaDispatcherIn in;
    in.rst_n = false;
    clock(in);
  }

  [[nodiscard]] const CtaDispatcherOut& outputs() const override { return out_; }
  void clock(const CtaDispatcherIn& in) override {
    drive(in);
    top_.low();
    was_idle_ = top_->idle_o != 0;
    top_.high();
    sample();
  }
  [[nodiscard]] bool was_idle() const override { return was_idle_; }

 private:
  void drive(const CtaDispatcherIn& in) {
    top_->rst_ni = in.rst_n;
    top_->tag_rst_ni = in.rst_n || in.keep_tags;
    set_amounts(top_->capacity_i, 0, in.capacity_warps, in.capacity_registers, in.capacity_shared_bytes);
    top_->capacity_slots_i = static_cast<CData>(in.capacity_slots);
    for (unsigned k = 0; k < params_.kernels; ++k) {
      set_amounts(top_->demand_i, k * kAmountBits, in.demand_warps[k], in.demand_registers[k], in.demand_shared_bytes[k]);
      set_field(top_->grid_i, k * 32, 32, in.grid[k]);
      set_field(top_->priority_i, k * 3, 3, in.priority[k]);
      set_field(top_->query_quota_i, k * 6, 6, in.quota[k]);
      set_field(top_->port_quota_i, k * 6, 6, in.port_quota[k]);
    }
    top_->repeat_i = in.repeat;
    top_->launch_i = in.launch;
    top_->stop_i = in.stop;
    top_->evict_i = in.evict;
    top_->resume_i = in.resume;
    top_->evict_count_i = in.evict_count;
    top_->count_i = 0;
    top_->round_robin_i = in.round_robin;
    top_->in_order_i = in.in_order;
    top_->regions_i = in.regions;
    top_->quota_changed_i = in.quota_changed;
    for (unsigned m = 0; m < params_.num_sms; ++m) {
      set_field(top_->sm_enable_i, m, 1, in.sm_enable[m] ? 1 : 0);
      set_field(top_->sm_ready_i, m, 1, in.sm_ready[m] ? 1 : 0);
    }
    top_->profiling_i = in.profiling;
    top_->dispatch_ready_i = in.dispatch_ready;
    top_->done_valid_i = in.done_valid;
    top_->done_sm_i = in.done_sm;
    top_->done_slot_i = in.done_slot;
    top_->done_kernel_i = in.done_kernel;
    top_->done_tag_i = in.done_tag;
    top_->flush_i = in.flush;
  }
  void sample() {
    out_.query_sm = 0;  // where none is wanted
    for (unsigned m = 0; m < params_.num_sms; ++m)
      if (get_field(top_->query_sm_o, m, 1) != 0) out_.query_sm = static_cast<std::uint8_t>(m);
    for (unsigned k = 0; k < params_.kernels; ++k) {
      out_.state[k] = static_cast<SlotState>(get_field(top_->slot_state_o, k * 2, 2));
      out_.age[k] = static_cast<std::uint8_t>(get_field(top_->age_o, k * 3, 3));
      out_.resident[k] = static_cast<std::uint16_t>(get_field(top_->resident_o, k * 16, 16));
      out_.dispatched[k] = get_field(top_->dispatched_o, k * 32, 32);
    }
    out_.num_present = top_->num_present_o;
    out_.change = top_->change_o != 0;
    out_.spent = top_->spent_o;
    for (unsigned m = 0; m < params_.num_sms; ++m) out_.sm_busy[m] = get_field(top_->sm_busy_o, m, 1) != 0;
    for (unsigned m = 0; m < params_.num_sms; ++m) out_.settled[m] = get_field(top_->settled_o, m, 1) != 0;
    out_.evict_done = top_->evict_done_o;
    out_.kernel_done = top_->kernel_done_o;
    take_fields(top_->error_o, 0, 5, out_.error_slot, 8, out_.error_sm, 3, out_.error_kernel, 1, out_.bad_done, 1,
                out_.cannot_fit, 1, out_.slot_busy, 1, out_.bad_kernel, 1, out_.port_stuck);
    out_.dispatch_valid = top_->dispatch_valid_o != 0;
    out_.dispatch_sm = top_->dispatch_sm_o;
    out_.dispatch_kernel = top_->dispatch_kernel_o;
    out_.dispatch_slot = top_->dispatch_slot_o;
    out_.dispatch_cta = top_->dispatch_cta_o;
    out_.dispatch_register_base = top_->dispatch_register_base_o;
    out_.dispatch_shared_base = top_->dispatch_shared_base_o;
    out_.dispatch_region_valid = top_->dispatch_region_valid_o != 0;
    out_.dispatch_tag = top_->dispatch_tag_o;
    out_.flush_valid = top_->flush_valid_o != 0;
    out_.flush_kernel = out_.flush_valid ? top_->flush_kernel_o : 0;
    out_.flush_tag = out_.flush_valid ? top_->flush_tag_o : 0;
    out_.giving_up = top_->giving_up_o != 0;
    out_.giving_sm = out_.giving_up ? top_->giving_sm_o : 0;
    out_.giving_slot = out_.giving_up ? top_->giving_slot_o : 0;
  }

  CtaDispatcherParams params_;
  VerilatedModel<Top> top_{tb::waveform("cta_dispatcher")};
  CtaDispatcherOut out_;
  bool was_idle_ = false;
};

}  // namespace sluice
