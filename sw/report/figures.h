// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/report/eval_results.h"
#include "sw/report/paper_page.h"

// The figures of Warped-Slicer's evaluation (ISCA 2016), each from runs of the model and beside what the paper's text or tables
// say.
namespace sluice::figures {

using Solos = std::map<std::string, RunResult>;

/// Stall breakdown of each application alone.
[[nodiscard]] Figure stalls_alone(const Solos& solos);
/// IPC against CTAs per SM, each kernel over its best.
[[nodiscard]] Figure occupancy_curves(const EvalResults& results);
/// The same kernel in a short window and in a long one, both after the warm-up.
struct PhaseSample {
  std::string kernel;
  double short_ipc = 0, long_ipc = 0, short_stall = 0, long_stall = 0;  ///< IPC of the GPU; share of SM cycles
};
[[nodiscard]] Figure phase_stability(const std::vector<PhaseSample>& samples);
/// Pairs under every policy.
[[nodiscard]] Figure pair_performance(const EvalResults& pairs);
[[nodiscard]] Figure utilization(const EvalResults& pairs);
[[nodiscard]] Figure miss_rates(const EvalResults& pairs);
[[nodiscard]] Figure stalls_together(const EvalResults& pairs);
[[nodiscard]] Figure triple_performance(const EvalResults& triples);
/// Figure 8 with the Warped-Slicer of `unguarded`, which may take more than 1.2 / K of a kernel's best.
[[nodiscard]] Figure triples_without_guard(const EvalResults& triples, const EvalResults& unguarded);
[[nodiscard]] Figure fairness(const EvalResults& pairs, const EvalResults& triples);
[[nodiscard]] Figure energy(const EvalResults& pairs, const Solos& solos, const MachineConfig& machine);

/// The same pairs under another setting.
struct Variant {
  std::string label;
  const EvalResults* results = nullptr;
  double published_limit = 0.02;  ///< figure 10a: the largest deviation of any pair that the paper states
};
/// Warped-Slicer's IPC under other profile lengths and algorithm delays, over that of the first variant: the pair that moves
/// most, and how many move by more than is published.
[[nodiscard]] Figure profiling_sensitivity(const std::vector<Variant>& variants);
/// Warped-Slicer over Left-Over under each warp scheduler.
[[nodiscard]] Figure scheduler_sensitivity(const std::vector<Variant>& variants);
/// Kernels that change in mid-run, without the phase monitor and with it (section IV).
[[nodiscard]] Figure phase_monitor(const EvalResults& off, const EvalResults& on);
[[nodiscard]] Figure larger_sm(const EvalResults& results);

}  // namespace sluice::figures
