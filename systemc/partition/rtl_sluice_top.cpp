// The Verilated rtl/sluice_top.sv behind the ports of ISluiceTop, with an optional waveform. One model an elaboration: a
// simulator has no elaboration parameters at run time (rtl/CMakeLists.txt lists what is Verilated).
#include <Vsluice_top_132.h>
#include <Vsluice_top_16.h>
#include <fmt/format.h>
#include <verilated_fst_c.h>

#include <fstream>
#include <type_traits>

#include "sw/core/errors.h"
#include "systemc/partition/i_sluice_top.h"
#include "systemc/partition/rtl_coverage.h"

namespace sluice {

namespace {

/// Sets bits lsb .. lsb + width - 1 of a Verilated port of any width; width up to 32.
template <class Port>
void put(Port& port, unsigned lsb, unsigned width, std::uint32_t value) {
  if constexpr (std::is_integral_v<Port>) {
    const auto mask = ((std::uint64_t{1} << width) - 1) << lsb;
    port = static_cast<Port>((port & ~mask) | ((std::uint64_t{value} << lsb) & mask));
  } else {
    for (unsigned b = 0; b < width; ++b) {
      const unsigned at = lsb + b;
      port[at / 32] = (port[at / 32] & ~(1U << (at % 32))) | (((value >> b) & 1U) << (at % 32));
    }
  }
}

template <class Port>
void clear(Port& port) {
  if constexpr (std::is_integral_v<Port>) {
    port = 0;
  } else {
    for (std::size_t w = 0; w < sizeof(port) / sizeof(port[0]); ++w) port[w] = 0;
  }
}

constexpr unsigned kKernelIndexWidth = 3;

/// @tparam kSchedulers  NUM_SCHED of Top
template <class Top, unsigned kSchedulers>
class RtlSluiceTop : public ISluiceTop {
 public:
  RtlSluiceTop(const std::string& fst_file, std::uint64_t clock_period_ps) : half_period_(clock_period_ps / 2) {
    if (!fst_file.empty()) {
      if (!std::ofstream(fst_file)) throw InputError(fmt::format("{}: can't write the waveform", fst_file));
      context_.traceEverOn(true);
      top_.trace(&fst_, 99);
      fst_.open(fst_file.c_str());
    }
    clear(top_.issue_valid_i);
    clear(top_.issue_kernel_i);
    clear(top_.stall_i);
    SluiceTopIn in;
    in.rst_n = false;
    clock(in);
  }
  ~RtlSluiceTop() override {
    if (fst_.isOpen()) fst_.close();
    top_.final();
    write_coverage(context_);
  }
  RtlSluiceTop(const RtlSluiceTop&) = delete;
  RtlSluiceTop& operator=(const RtlSluiceTop&) = delete;

  [[nodiscard]] const SluiceTopOut& outputs() const override { return out_; }

  void clock(const SluiceTopIn& in) override {
    drive(in);
    step(0);
    step(1);
    sample();
  }

  void skip(std::uint64_t cycles) override { time_ += 2 * half_period_ * cycles; }
  [[nodiscard]] bool counts_activity() const override { return !out_.idle; }

 private:
  void drive(const SluiceTopIn& in) {
    top_.rst_ni = in.rst_n;
    top_.s_axi_awaddr_i = static_cast<SData>(in.axi.awaddr);
    top_.s_axi_awvalid_i = in.axi.awvalid;
    top_.s_axi_wdata_i = in.axi.wdata;
    top_.s_axi_wstrb_i = in.axi.wstrb;
    top_.s_axi_wvalid_i = in.axi.wvalid;
    top_.s_axi_bready_i = in.axi.bready;
    top_.s_axi_araddr_i = static_cast<SData>(in.axi.araddr);
    top_.s_axi_arvalid_i = in.axi.arvalid;
    top_.s_axi_rready_i = in.axi.rready;
    top_.dispatch_ready_i = in.dispatch_ready;
    top_.done_valid_i = in.done_valid;
    top_.done_sm_i = in.done_sm;
    top_.done_slot_i = in.done_slot;
    if (in.sms.empty()) {
      if (activity_) {
        clear(top_.issue_valid_i);
        clear(top_.stall_i);
      }
      activity_ = false;
      return;
    }
    activity_ = true;
    for (unsigned m = 0; m < in.sms.size(); ++m) {
      const SmActivity& sm = in.sms[m];
      put(top_.issue_valid_i, m * kSchedulers, kSchedulers, sm.issue_valid);
      put(top_.stall_i, m, 1, sm.stall ? 1 : 0);
      for (unsigned s = 0; s < kSchedulers; ++s)
        put(top_.issue_kernel_i, (m * kSchedulers + s) * kKernelIndexWidth, kKernelIndexWidth, sm.issue_kernel[s]);
    }
  }
  void step(unsigned clock) {
    top_.clk_i = static_cast<CData>(clock);
    top_.eval();
    if (fst_.isOpen()) fst_.dump(time_);
    time_ += half_period_;
  }
  void sample() {
    out_.axi.awready = top_.s_axi_awready_o != 0;
    out_.axi.wready = top_.s_axi_wready_o != 0;
    out_.axi.arready = top_.s_axi_arready_o != 0;
    out_.axi.bresp = static_cast<AxiResponse>(top_.s_axi_bresp_o);
    out_.axi.bvalid = top_.s_axi_bvalid_o != 0;
    out_.axi.rdata = top_.s_axi_rdata_o;
    out_.axi.rresp = static_cast<AxiResponse>(top_.s_axi_rresp_o);
    out_.axi.rvalid = top_.s_axi_rvalid_o != 0;
    out_.irq = top_.irq_o != 0;
    out_.dispatch_valid = top_.dispatch_valid_o != 0;
    out_.dispatch_sm = top_.dispatch_sm_o;
    out_.dispatch_kernel = top_.dispatch_kernel_o;
    out_.dispatch_slot = top_.dispatch_slot_o;
    out_.dispatch_cta = top_.dispatch_cta_o;
    out_.dispatch_register_base = top_.dispatch_register_base_o;
    out_.dispatch_shared_base = top_.dispatch_shared_base_o;
    out_.profile_valid = top_.profile_valid_o != 0;
    out_.profile_kernel = top_.profile_kernel_o;
    out_.profile_ctas = top_.profile_ctas_o;
    out_.profile_scaled = top_.profile_scaled_o;
    out_.idle = top_.idle_o != 0;
  }

  VerilatedContext context_;
  Top top_{&context_};
  VerilatedFstC fst_;
  std::uint64_t half_period_, time_ = 0;
  bool activity_ = false;
  SluiceTopOut out_;
};

}  // namespace

std::unique_ptr<ISluiceTop> make_rtl_sluice_top(const regs::Parameters& parameters, const std::string& fst_file,
                                                std::uint64_t clock_period_ps) {
  const auto is = [&parameters](unsigned sms, unsigned schedulers) {
    return parameters.region_units == 64 && parameters.max_kernels == 4 && parameters.max_ctas == 32 &&
           parameters.num_sm == sms && parameters.num_sched == schedulers;
  };
  if (is(16, 2)) return std::make_unique<RtlSluiceTop<Vsluice_top_16, 2>>(fst_file, clock_period_ps);
  if (is(132, 4)) return std::make_unique<RtlSluiceTop<Vsluice_top_132, 4>>(fst_file, clock_period_ps);
  throw InputError(fmt::format(
      "the RTL is Verilated for 4 kernel slots and 64 region units, on 16 SMs with 2 schedulers each and on 132 SMs with 4; "
      "this run has {}, {}, {} and {}: use --partitioner tlm",
      parameters.max_kernels, parameters.region_units, parameters.num_sm, parameters.num_sched));
}

}  // namespace sluice
