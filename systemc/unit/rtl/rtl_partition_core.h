// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Verilated rtl/decision/partition_core.sv of any parameters behind the ports of IPartitionCore, with an optional waveform.
#include <optional>

#include "systemc/unit/ports/i_partition_core.h"
#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/rtl/verilated_ports.h"
#include "systemc/unit/twin/partition_core.h"

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

  /// An occupancy, between decisions. @param cut  the cycle after the start in which it is dropped; 0: none
  /// @return nullopt when no answer comes within 1,000 cycles
  std::optional<OccupancyCount> count(const CoreAmounts& capacity, const CoreAmounts& demand, std::uint32_t share,
                                      unsigned cut = 0) {
    PartitionCoreIn in;
    in.capacity_slots = capacity[0];
    in.capacity_warps = capacity[1];
    in.capacity_registers = capacity[2];
    in.capacity_shared_bytes = capacity[3];
    in.demand_warps.fill(demand[1]);
    in.demand_registers.fill(demand[2]);
    in.demand_shared_bytes.fill(demand[3]);
    for (unsigned cycles = 0; cycles < 1000; ++cycles) {
      in.abort = cut != 0 && cycles == cut;
      drive(in);
      top_->count_start_i = cycles == 0;
      top_->count_share_i = static_cast<CData>(share);
      top_.low();
      const bool done = top_->count_done_o != 0 && !in.abort;
      const std::uint32_t ctas = top_->count_o;
      top_.high();
      if (done) return OccupancyCount{ctas, cycles};
    }
    return std::nullopt;
  }

 private:
  void drive(const PartitionCoreIn& in) {
    top_->rst_ni = in.rst_n;
    top_->start_i = in.start;
    top_->abort_i = in.abort;
    top_->num_kernels_i = in.num_kernels;
    top_->capacity_warps_i = static_cast<CData>(in.capacity_warps);
    top_->capacity_registers_i = in.capacity_registers;
    top_->capacity_shared_i = in.capacity_shared_bytes;
    top_->capacity_slots_i = static_cast<CData>(in.capacity_slots);
    const unsigned k = top_->demand_kernel_o % kKernels;  // a register's, so it stands since the last edge; random before a start
    top_->demand_warps_i = static_cast<CData>(in.demand_warps[k]);
    top_->demand_registers_i = in.demand_registers[k];
    top_->demand_shared_i = in.demand_shared_bytes[k];
    top_->count_start_i = 0;
    top_->count_share_i = 1;
    top_->epsilon_i = static_cast<SData>(in.epsilon);
    top_->loss_limit_i = static_cast<SData>(in.loss_limit);
    top_->sample_valid_i = in.sample_valid;
    top_->sample_kernel_i = in.sample_kernel;
    top_->sample_ctas_i = in.sample_ctas;
    top_->sample_insts_i = in.sample_warp_insts;
    top_->sample_final_i = in.sample_final;
  }
  VerilatedModel<Top> top_;
};

}  // namespace sluice
