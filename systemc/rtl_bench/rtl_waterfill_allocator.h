#pragma once
// The Verilated rtl/waterfill_allocator.sv with a performance table around it.
#include <algorithm>
#include <array>
#include <vector>

#include "systemc/partition/i_partition_core.h"
#include "systemc/partition/verilated_model.h"
#include "systemc/partition/verilated_ports.h"

namespace sluice {

/// One problem for the allocator.
struct WaterfillCase {
  struct Kernel {
    std::uint32_t warps = 1, registers = 0, shared_bytes = 0;  ///< of one CTA
    std::vector<std::uint32_t> performance;  ///< at 1, 2, ... CTAs, 0..kPerfOne - 2, or kPerfOne; its steps are the prefix maxima
  };
  std::uint32_t capacity_warps = 0, capacity_registers = 0, capacity_shared_bytes = 0, capacity_slots = 0;
  std::uint32_t epsilon = 0;  ///< units of 1 / kPerfOne
  std::vector<Kernel> kernels;
};

struct WaterfillAnswer {
  bool no_fit = false;
  std::vector<std::uint32_t> ctas, performance;  ///< by kernel
  unsigned cycles = 0;                           ///< from start_i to done_o
};

/// @tparam kKernels  MAX_KERNELS of Top
template <class Top, unsigned kKernels>
class RtlWaterfillAllocator {
 public:
  explicit RtlWaterfillAllocator(const std::string& fst_file = "") : top_(fst_file) {
    top_->rst_ni = 0;
    top_->start_i = 0;
    top_->abort_i = 0;
    top_->count_start_i = 0;
    top_->count_i = 0;
    cycle(WaterfillCase());
    top_->rst_ni = 1;
  }

  /// @return nullopt when there is no answer within 1,000 cycles
  std::optional<WaterfillAnswer> decide(const WaterfillCase& c) {
    configure(c);
    top_->start_i = 1;
    cycle(c);
    top_->start_i = 0;
    WaterfillAnswer answer;
    while (top_->done_o == 0) {
      if (++answer.cycles > 1000) return std::nullopt;
      cycle(c);
    }
    ++answer.cycles;
    answer.no_fit = top_->no_fit_o != 0;
    for (unsigned k = 0; k < c.kernels.size(); ++k) {
      answer.ctas.push_back(get_field(top_->ctas_o, 6 * k, 6));
      answer.performance.push_back(performance_[k]);
    }
    cycle(c);
    return answer;
  }
  /// CTAs of one kernel that fit into an SM, counted as occupancy_counter does: between decisions.
  std::uint32_t count(const WaterfillCase& c, const WaterfillCase::Kernel& kernel) {
    configure(c);
    demand(kernel);
    top_->count_start_i = 1;
    edge();
    top_->count_start_i = 0;
    top_->count_i = 1;
    std::uint32_t fitted = 0;
    for (top_.eval(); top_->count_fits_o != 0 && fitted <= kMaxCtas; ++fitted) {
      edge();
    }
    top_->count_i = 0;
    return fitted;
  }
  /// Starts `c` and drops it after `cycles`. @return whether it said done meanwhile or in the 100 cycles that follow
  bool abort(const WaterfillCase& c, unsigned cycles) {
    configure(c);
    top_->start_i = 1;
    cycle(c);
    top_->start_i = 0;
    bool done = false;
    for (unsigned i = 0; i < cycles; ++i) {
      if (top_->done_o != 0) return false;  // ended before: nothing to drop
      cycle(c);
    }
    if (top_->done_o != 0) return false;
    top_->abort_i = 1;
    cycle(c);
    top_->abort_i = 0;
    for (unsigned i = 0; i < 100; ++i) {
      done |= top_->done_o != 0;
      cycle(c);
    }
    return done;
  }

 private:
  void configure(const WaterfillCase& c) {
    top_->num_kernels_i = static_cast<CData>(c.kernels.size());
    top_->capacity_warps_i = static_cast<CData>(c.capacity_warps);
    top_->capacity_registers_i = c.capacity_registers;
    top_->capacity_shared_i = c.capacity_shared_bytes;
    top_->capacity_slots_i = static_cast<CData>(c.capacity_slots);
    top_->epsilon_i = static_cast<SData>(c.epsilon);
  }
  void demand(const WaterfillCase::Kernel& kernel) {
    top_->demand_warps_i = static_cast<CData>(kernel.warps);
    top_->demand_registers_i = kernel.registers;
    top_->demand_shared_i = kernel.shared_bytes;
  }
  /// The table's read is combinational: the next step of the kernel under work. So is its demand.
  void cycle(const WaterfillCase& c) {
    top_->clk_i = 0;
    top_.eval();
    const unsigned k = top_->kernel_o;
    if (k < c.kernels.size()) {
      demand(c.kernels[k]);
      const auto& performance = c.kernels[k].performance;
      const auto from = std::min<std::size_t>(top_->from_o, performance.size());  // before it is loaded it is any number
      std::size_t next = from;
      if (from > 0) {
        const std::uint32_t best =
            *std::max_element(performance.begin(), performance.begin() + static_cast<std::ptrdiff_t>(from));
        while (next < performance.size() && performance[next] <= best) ++next;
      }
      const bool has_next = next < performance.size();
      top_->has_next_i = has_next;
      top_->next_ctas_i = static_cast<CData>(has_next ? next + 1 : 0);
      top_->next_perf_i = static_cast<SData>(has_next ? std::min(performance[next], kPerfOne - 1) : 0);
      top_.eval();
      if (top_->full_o != 0) performance_[k] = top_->perf_o == kPerfOne - 1 ? kPerfOne : top_->perf_o;
    }
    edge();
  }
  void edge() {
    top_.low();
    top_.high();
    top_.eval();
  }

  VerilatedModel<Top> top_;
  std::array<std::uint32_t, kMaxKernels> performance_{};  ///< when the kernel was full
};

}  // namespace sluice
