// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Verilated rtl/sluice_top.sv behind the ports of ISluiceTop, with an optional waveform.
#include "systemc/unit/ports/i_sluice_top.h"
#include "systemc/unit/rtl/verilated_axi.h"
#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/rtl/verilated_ports.h"

namespace sluice {

/// @tparam kSchedulers  NUM_SCHED of Top
template <class Top, unsigned kSchedulers>
class RtlSluiceTop : public ISluiceTop {
 public:
  /// @param ready_sms  SMs whose sm_ready_i is driven; 0: all are left low, for units without the option
  RtlSluiceTop(const std::string& fst_file, std::uint64_t clock_period_ps, unsigned ready_sms = 0)
      : top_(fst_file, clock_period_ps), ready_sms_(ready_sms) {
    clear_port(top_->sm_ready_i);
    clear_port(top_->issue_valid_i);
    clear_port(top_->issue_kernel_i);
    clear_port(top_->request_i);
    SluiceTopIn in;
    in.rst_n = false;
    clock(in);
  }

  [[nodiscard]] const SluiceTopOut& outputs() const override { return out_; }

  void clock(const SluiceTopIn& in) override {
    drive(in);
    top_.low();
    top_.high();
    sample();
  }

  void skip(std::uint64_t cycles) override { top_.skip(cycles); }
  /// The Verilated class, for benches that reach into it.
  [[nodiscard]] Top& model() { return *top_; }
  [[nodiscard]] bool counts_activity() const override { return !out_.idle; }

 private:
  static constexpr unsigned kKernelIndexWidth = 3;

  void drive(const SluiceTopIn& in) {
    top_->rst_ni = in.rst_n;
    top_->tag_rst_ni = in.rst_n || in.keep_tags;
    drive_axi(*top_, in.axi);
    top_->dispatch_ready_i = in.dispatch_ready;
    for (unsigned m = 0; m < ready_sms_; ++m) set_field(top_->sm_ready_i, m, 1, in.sm_ready[m] ? 1 : 0);
    top_->done_kernel_i = in.done_kernel;
    top_->done_tag_i = in.done_tag;
    top_->launch_valid_i = in.launch.valid;
    top_->launch_warps_i = static_cast<CData>(in.launch.launch.warps);
    top_->launch_registers_i = in.launch.launch.registers;
    top_->launch_shared_i = in.launch.launch.shared_bytes;
    top_->launch_ctas_i = in.launch.launch.ctas;
    top_->launch_size_x_i = in.launch.launch.size_x;
    top_->launch_size_y_i = in.launch.launch.size_y;
    top_->launch_start_x_i = in.launch.launch.start_x;
    top_->launch_start_y_i = in.launch.launch.start_y;
    top_->launch_start_z_i = in.launch.launch.start_z;
    top_->launch_context_i = in.launch.launch.context;
    top_->launch_priority_i = in.launch.launch.priority;
    top_->done_valid_i = in.done_valid;
    top_->done_sm_i = in.done_sm;
    top_->done_slot_i = in.done_slot;
    if (in.sms.empty()) {
      if (activity_) {
        clear_port(top_->issue_valid_i);
        clear_port(top_->request_i);
      }
      activity_ = false;
      return;
    }
    activity_ = true;
    for (unsigned m = 0; m < in.sms.size(); ++m) {
      const SmActivity& sm = in.sms[m];
      set_field(top_->issue_valid_i, m * kSchedulers, kSchedulers, sm.issue_valid);
      set_field(top_->request_i, m, 1, sm.request ? 1 : 0);
      for (unsigned s = 0; s < kSchedulers; ++s)
        set_field(top_->issue_kernel_i, (m * kSchedulers + s) * kKernelIndexWidth, kKernelIndexWidth, sm.issue_kernel[s]);
    }
  }
  void sample() {
    out_.axi = sample_axi(*top_);
    out_.irq = top_->irq_o != 0;
    out_.dispatch_valid = top_->dispatch_valid_o != 0;
    out_.dispatch_sm = top_->dispatch_sm_o;
    out_.dispatch_kernel = top_->dispatch_kernel_o;
    out_.dispatch_slot = top_->dispatch_slot_o;
    out_.dispatch_cta = top_->dispatch_cta_o;
    out_.dispatch_register_base = top_->dispatch_register_base_o;
    out_.dispatch_shared_base = top_->dispatch_shared_base_o;
    out_.dispatch_region_valid = top_->dispatch_region_valid_o != 0;
    out_.dispatch_place = {top_->dispatch_x_o, top_->dispatch_y_o, top_->dispatch_z_o, top_->dispatch_context_o,
                           top_->dispatch_priority_o};
    out_.dispatch_tag = top_->dispatch_tag_o;
    out_.flush_valid = top_->flush_valid_o != 0;
    out_.flush_kernel = top_->flush_kernel_o;
    out_.flush_tag = top_->flush_tag_o;
    out_.launch_ready = top_->launch_ready_o != 0;
    out_.launched_valid = top_->launched_valid_o != 0;
    out_.launched_kernel = top_->launched_kernel_o;
    out_.launched_refused = top_->launched_refused_o != 0;
    out_.launched_flushed = top_->launched_flushed_o != 0;
    out_.kernel_done = top_->kernel_done_o;
    out_.profile_window = top_->profile_window_o != 0;
    out_.profile_valid = top_->profile_valid_o != 0;
    out_.profile_kernel = top_->profile_kernel_o;
    out_.profile_ctas = top_->profile_ctas_o;
    out_.profile_scaled = top_->profile_scaled_o;
    out_.idle = top_->idle_o != 0;
  }

  VerilatedModel<Top> top_;
  unsigned ready_sms_;
  bool activity_ = false;
  SluiceTopOut out_;
};

}  // namespace sluice
