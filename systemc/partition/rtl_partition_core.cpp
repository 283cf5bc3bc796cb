// The Verilated rtl/partition_core.sv behind the ports of IPartitionCore, with an optional waveform.
#include <Vpartition_core.h>
#include <fmt/format.h>
#include <verilated_fst_c.h>

#include <fstream>

#include "sw/core/errors.h"
#include "systemc/partition/i_partition_core.h"
#include "systemc/partition/rtl_coverage.h"

namespace sluice {

namespace {

/// Packs per-kernel fields side by side, kernel 0 in the low bits, as the RTL's flat ports want them.
void set_bit(std::uint32_t& port, unsigned bit, bool value) {
  port = (port & ~(1U << bit)) | (static_cast<std::uint32_t>(value) << bit);
}
template <std::size_t Words>
void set_bit(VlWide<Words>& port, unsigned bit, bool value) {
  set_bit(port[bit / 32], bit % 32, value);
}

constexpr unsigned kKernels = 4;  // MAX_KERNELS as Verilated

template <class Port>
void pack(Port& port, const std::array<std::uint32_t, kMaxKernels>& fields, unsigned width) {
  for (unsigned k = 0; k < kKernels; ++k) {
    for (unsigned b = 0; b < width; ++b) set_bit(port, k * width + b, ((fields[k] >> b) & 1U) != 0);
  }
}

class RtlPartitionCore : public IPartitionCore {
 public:
  RtlPartitionCore(const std::string& fst_file, std::uint64_t clock_period_ps) : half_period_(clock_period_ps / 2) {
    if (!fst_file.empty()) {
      if (!std::ofstream(fst_file)) throw InputError(fmt::format("{}: can't write the waveform", fst_file));
      context_.traceEverOn(true);
      top_.trace(&fst_, 99);
      fst_.open(fst_file.c_str());
    }
    reset();
  }
  ~RtlPartitionCore() override {
    if (fst_.isOpen()) fst_.close();
    top_.final();
    write_coverage(context_);
  }
  RtlPartitionCore(const RtlPartitionCore&) = delete;
  RtlPartitionCore& operator=(const RtlPartitionCore&) = delete;

  PartitionCoreOut cycle(const PartitionCoreIn& in) override {
    drive(in);
    step(0);
    PartitionCoreOut out;
    out.prepare_ready = top_.prepare_ready_o != 0;
    out.sample_ready = top_.sample_ready_o != 0;
    out.done = top_.done_o != 0;
    out.no_fit = top_.no_fit_o != 0;
    out.spatial = top_.spatial_o != 0;
    out.scaled_valid = top_.scaled_valid_o != 0;
    out.scaled_kernel = top_.scaled_kernel_o;
    out.scaled_ctas = top_.scaled_ctas_o;
    out.scaled = top_.scaled_o;
    for (unsigned k = 0; k < kKernels; ++k) out.ctas[k] = static_cast<std::uint8_t>((top_.ctas_o >> (6 * k)) & 0x3f);
    step(1);
    return out;
  }

 private:
  void reset() {
    PartitionCoreIn in;
    in.rst_n = false;
    cycle(in);
  }
  void drive(const PartitionCoreIn& in) {
    top_.rst_ni = in.rst_n;
    top_.start_i = in.start;
    top_.abort_i = in.abort;
    top_.num_kernels_i = in.num_kernels;
    top_.capacity_warps_i = static_cast<CData>(in.capacity_warps);
    top_.capacity_registers_i = in.capacity_registers;
    top_.capacity_shared_i = in.capacity_shared_bytes;
    top_.capacity_slots_i = static_cast<CData>(in.capacity_slots);
    pack(top_.demand_warps_i, in.demand_warps, 7);
    pack(top_.demand_registers_i, in.demand_registers, 17);
    pack(top_.demand_shared_i, in.demand_shared_bytes, 18);
    top_.window_i = static_cast<SData>(in.window_cycles);
    top_.epsilon_i = static_cast<SData>(in.epsilon);
    top_.floor_i = static_cast<SData>(in.perf_floor);
    top_.prepare_valid_i = in.prepare_valid;
    top_.prepare_kernel_i = in.prepare_kernel;
    top_.prepare_sum_i = static_cast<SData>(in.prepare_sum);
    top_.sample_valid_i = in.sample_valid;
    top_.sample_kernel_i = in.sample_kernel;
    top_.sample_ctas_i = in.sample_ctas;
    top_.sample_insts_i = in.sample_warp_insts;
    top_.sample_stall_i = static_cast<SData>(in.sample_stall_cycles);
    top_.num_samples_i = static_cast<SData>(in.num_samples);
    top_.sample_final_i = in.sample_final;
  }
  void step(unsigned clock) {
    top_.clk_i = static_cast<CData>(clock);
    top_.eval();
    if (fst_.isOpen()) fst_.dump(time_);
    time_ += half_period_;
  }

  VerilatedContext context_;
  Vpartition_core top_{&context_};
  VerilatedFstC fst_;
  std::uint64_t half_period_, time_ = 0;
};

}  // namespace

std::unique_ptr<IPartitionCore> make_rtl_partition_core(const std::string& fst_file, std::uint64_t clock_period_ps) {
  return std::make_unique<RtlPartitionCore>(fst_file, clock_period_ps);
}

}  // namespace sluice
