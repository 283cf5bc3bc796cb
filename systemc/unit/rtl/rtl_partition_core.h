// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Verilated rtl/decision/partition_core.sv of any parameters behind the ports of IPartitionCore, with an optional waveform.
#include "systemc/unit/ports/i_partition_core.h"
#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/rtl/verilated_ports.h"

namespace sluice {

/// @tparam Top       the Verilated class
/// @tparam kKernels  its MAX_KERNELS
template <class Top, unsigned kKernels>
class RtlPartitionCore : public IPartitionCore {
 public:
  /// @param fst_file  waveform to write, empty for none
  explicit RtlPartitionCore(const std::string& fst_file = "", std::uint64_t clock_period_ps = 1000)
      : top_(fst_file, clock_period_ps) {
    PartitionCoreIn in;
    in.rst_n = false;
    cycle(in);
  }

  PartitionCoreOut cycle(const PartitionCoreIn& in) override {
    drive(in);
    top_.low();
    PartitionCoreOut out;
    out.done = top_->done_o != 0;
    out.no_fit = top_->no_fit_o != 0;
    out.spatial = top_->spatial_o != 0;
    out.scaled_valid = top_->scaled_valid_o != 0;
    out.scaled_kernel = top_->scaled_kernel_o;
    out.scaled_ctas = top_->scaled_ctas_o;
    out.scaled = top_->scaled_o;
    for (unsigned k = 0; k < kKernels; ++k) out.ctas[k] = static_cast<std::uint8_t>(get_field(top_->ctas_o, 6 * k, 6));
    top_.high();
    return out;
  }

 private:
  void drive(const PartitionCoreIn& in) {
    top_->rst_ni = in.rst_n;
    top_->start_i = in.start;
    top_->abort_i = in.abort;
    top_->num_kernels_i = in.num_kernels;
    top_->kept_i = in.kept;
    for (unsigned k = 0; k < kKernels; ++k) set_field(top_->rows_i, 3 * k, 3, in.rows[k]);
    set_amounts(top_->capacity_i, 0, in.capacity_warps, in.capacity_registers, in.capacity_shared_bytes);
    top_->capacity_slots_i = static_cast<CData>(in.capacity_slots);
    const unsigned k = top_->demand_kernel_o % kKernels;  // a register's, so it stands since the last edge; random before a start
    set_amounts(top_->demand_i, 0, in.demand_warps[k], in.demand_registers[k], in.demand_shared_bytes[k]);
    top_->epsilon_i = static_cast<SData>(in.epsilon);
    top_->loss_limit_i = static_cast<SData>(in.loss_limit);
    top_->sample_valid_i = in.sample_valid;
    set_field(top_->sample_i, 0, 4, in.sample_kernel);
    set_field(top_->sample_i, 4, 6, in.sample_ctas);
    set_field(top_->sample_i, 10, 1, in.sample_final ? 1 : 0);
    top_->sample_insts_i = in.sample_warp_insts;
  }
  VerilatedModel<Top> top_;
};

}  // namespace sluice
