// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Verilated rtl/decision/waterfill_allocator.sv with a performance table around it.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "systemc/unit/ports/i_partition_core.h"
#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/rtl/verilated_ports.h"

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
  unsigned cycles = 0;                           ///< from the last kernel's performance with one CTA to done_o
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
    top_->first_valid_i = 0;
    cycle(WaterfillCase());
    top_->rst_ni = 1;
  }

  /// @return nullopt when there is no answer within 1,000 cycles
  std::optional<WaterfillAnswer> decide(const WaterfillCase& c) {
    start(c);
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
    edge();
    std::uint32_t fitted = 0;
    for (top_.eval(); top_->count_fits_o != 0 && fitted <= kMaxCtas; ++fitted) {
      edge();
    }
    top_->count_i = 0;
    return fitted;
  }
  /// Starts `c` and drops it after `cycles`. @return whether it said done meanwhile or in the 100 cycles that follow
  bool abort(const WaterfillCase& c, unsigned cycles) {
    start(c);
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
    taken_.fill(0);
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
  /// Starts a decision and goes on until the last kernel's performance with one CTA is given, which ends with its cycle.
  void start(const WaterfillCase& c) {
    configure(c);
    top_->start_i = 1;
    cycle(c);
    top_->start_i = 0;
    for (std::size_t i = 0; i <= c.kernels.size(); ++i) cycle(c);  // placed meanwhile
    for (std::size_t k = 0; k < c.kernels.size(); ++k) {
      top_->first_valid_i = 1;
      top_->first_kernel_i = static_cast<CData>(k);
      top_->first_perf_i = static_cast<SData>(std::min(c.kernels[k].performance[0], kPerfOne - 1));
      taken_[k] = 1;
      cycle(c);
      top_->first_valid_i = 0;
      if (k + 1 < c.kernels.size()) cycle(c);  // takes its place in the order
    }
  }
  /// The next step of a kernel: CTAs more and performance then; no CTAs: there is none.
  std::pair<unsigned, std::uint32_t> next(const WaterfillCase& c, unsigned one_hot) const {
    const auto k = static_cast<unsigned>(std::countr_zero(one_hot));
    if (k >= c.kernels.size()) return {0, 0};
    const auto& performance = c.kernels[k].performance;
    const unsigned from = taken_[k];
    unsigned to = from;
    if (from > 0) {
      const std::uint32_t best = *std::max_element(performance.begin(), performance.begin() + from);
      while (to < performance.size() && performance[to] <= best) ++to;
    }
    if (from == 0 || to >= performance.size()) return {0, 0};
    return {to + 1 - from, std::min(performance[to], kPerfOne - 1)};
  }
  /// Steps and demands are answered in the cycle that asks for them.
  void cycle(const WaterfillCase& c) {
    top_->clk_i = 0;
    top_.eval();
    if (top_->demand_kernel_o < c.kernels.size()) demand(c.kernels[top_->demand_kernel_o]);
    const auto work = next(c, top_->work_o), other = next(c, top_->other_o);
    top_->work_has_i = work.first != 0;
    top_->work_step_i = static_cast<CData>(work.first);
    top_->work_perf_i = static_cast<SData>(work.second);
    top_->other_has_i = other.first != 0;
    top_->other_step_i = static_cast<CData>(other.first);
    top_->other_perf_i = static_cast<SData>(other.second);
    top_.eval();
    const auto index = [](unsigned one_hot) { return static_cast<unsigned>(std::countr_zero(one_hot)); };
    if (top_->full_o != 0) performance_[index(top_->work_o)] = top_->perf_o == kPerfOne - 1 ? kPerfOne : top_->perf_o;
    if (top_->take_work_o != 0) taken_[index(top_->work_o)] += work.first;
    if (top_->take_other_o != 0) taken_[index(top_->other_o)] += other.first;
    edge();
  }
  void edge() {
    top_.low();
    top_.high();
    top_.eval();
  }

  VerilatedModel<Top> top_;
  std::array<std::uint32_t, kMaxKernels> performance_{};  ///< when the kernel was full
  std::array<unsigned, kMaxKernels> taken_{};             ///< CTAs with the step that the allocator works on
};

}  // namespace sluice
