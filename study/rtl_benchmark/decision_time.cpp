// SPDX-License-Identifier: Apache-2.0
// The path from the end of the profile window to new quotas: the Verilated sequencer and core of exactly the stated size, wired
// as in sluice_top. Compiled on demand (systemc/unit/rtl/on_demand).
#include <Vcore_2_8.h>
#include <Vcore_4_8.h>
#include <Vcore_8_32.h>
#include <Vpartition_core.h>
#include <Vsequencer_2_8.h>
#include <Vsequencer_4_8.h>
#include <Vsequencer_8_32.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "study/rtl_benchmark/rtl_benchmark.h"
#include "sw/core/errors.h"
#include "sw/io/progress.h"
#include "systemc/unit/rtl/rtl_partition_core.h"
#include "systemc/unit/rtl/rtl_partition_sequencer.h"

namespace sluice {

namespace {

using State = regs::SequencerState;

/// Curves that rise at every count: as many steps as there can be.
std::vector<std::uint32_t> rising(std::mt19937_64& random, std::uint32_t levels, std::uint32_t most) {
  std::vector<std::uint32_t> curve{1};
  for (std::uint32_t n = 1; n < levels; ++n)
    curve.push_back(curve.back() + std::uniform_int_distribution<std::uint32_t>(1, 1000)(random));
  for (std::uint32_t& value : curve) value = std::max<std::uint32_t>(1, value * most / curve.back());
  return curve;
}

template <class Sequencer, class Core, unsigned kKernels>
class DecisionPath {
 public:
  explicit DecisionPath(std::uint32_t levels) : parameters_{kKernels * levels, kKernels, levels, 1, 0}, sequencer_(parameters_) {
    config_.mode = static_cast<std::uint8_t>(Mode::Dynamic);
    config_.capacity_warps = 127;
    config_.capacity_registers = 65536;
    config_.capacity_shared = 233472;
    config_.capacity_slots = levels;
    config_.window = 4096;
    config_.loss_limit = 65535;  // every partition stands
    in_.num_present = kKernels;
    in_.settled.set();
    for (unsigned k = 0; k < kKernels; ++k) {
      in_.age[k] = static_cast<std::uint8_t>(k);
      config_.demand_warps[k] = 1;
    }
  }

  /// @param curves  warp instructions of a window by kernel and level
  /// @param fits    whether the core has any CTA slot: without, it decides as soon as it has the curves
  /// @return cycles from the end of the window to the first of the new quotas
  unsigned decide(const std::vector<std::vector<std::uint32_t>>& curves, bool fits = true) {
    in_.change = true;
    unsigned since_window = 0;
    for (unsigned cycle = 0; cycle < 40000; ++cycle) {
      const SequencerOut out = sequencer_.out(config_, in_, 0);
      const auto state = static_cast<State>(out.state);
      if (since_window > 0 && out.quota_changed) return since_window;
      PartitionCoreIn core = out.core;
      core.abort = sequencer_.core_abort();
      core.capacity_warps = config_.capacity_warps;
      core.capacity_registers = config_.capacity_registers;
      core.capacity_shared_bytes = config_.capacity_shared;
      core.capacity_slots = fits ? config_.capacity_slots : 0;
      if (core.sample_valid) core.sample_warp_insts = curves[core.sample_kernel][core.sample_ctas - 1];
      in_.core = core_.cycle(core);
      sequencer_.clock(config_, in_);
      in_.change = false;
      since_window = state == State::kProfile ? 1 : since_window > 0 ? since_window + 1 : 0;
    }
    throw CheckFailed("partition_sequencer does not decide");
  }

 private:
  regs::Parameters parameters_;
  SluiceConfig config_;
  SequencerIn in_;
  RtlPartitionSequencer<Sequencer> sequencer_;
  RtlPartitionCore<Core, kKernels> core_;
};

template <class Sequencer, class Core, unsigned kKernels>
DecisionTimes measure(std::uint32_t levels, unsigned decisions, std::uint64_t seed) {
  DecisionTimes times{kKernels, levels, 0, 0};
  DecisionPath<Sequencer, Core, kKernels> path(levels);
  std::mt19937_64 random(seed);
  Progress progress(fmt::format("decisions, {} kernels", kKernels), decisions);
  for (unsigned d = 0; d < decisions; ++d) {
    std::vector<std::vector<std::uint32_t>> curves;
    for (unsigned k = 0; k < kKernels; ++k) curves.push_back(rising(random, levels, 8000));
    const unsigned decision = path.decide(curves), curves_only = path.decide(curves, false);
    times.decision = std::max(times.decision, decision);
    times.waterfill = std::max(times.waterfill, decision - curves_only);
    progress.done("");
  }
  return times;
}

std::vector<DecisionTimes> measure_decisions(unsigned decisions, std::uint64_t seed) {
  return {measure<Vsequencer_2_8, Vcore_2_8, 2>(8, decisions, seed), measure<Vsequencer_4_8, Vcore_4_8, 4>(8, decisions, seed),
          measure<Vsequencer_8_32, Vcore_8_32, 8>(32, decisions, seed)};
}

std::unique_ptr<IPartitionCore> make_core(bool most_kernels) {
  if (most_kernels) return std::make_unique<RtlPartitionCore<Vcore_8_32, 8>>();
  return std::make_unique<RtlPartitionCore<Vpartition_core, 4>>();
}

}  // namespace

}  // namespace sluice

extern "C" __attribute__((visibility("default"))) const sluice::DecisionModels* sluice_decision_models() {
  static constexpr sluice::DecisionModels kModels{sluice::measure_decisions, sluice::make_core};
  return &kModels;
}
