// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sw/report/paper_page.h"

// The figures of Kernelet's evaluation (Zhong, He, IEEE TPDS 2014), each beside what the paper's text says.
namespace sluice::figures {

/// A kernel alone.
struct AloneRow {
  std::string kernel;
  double ipc = 0, memory = 0;   ///< of the machine's peak, of DRAM bandwidth
  std::uint32_t ctas = 0;       ///< on an SM
  std::uint32_t best_ctas = 0;  ///< with which it is fastest
  double best = 1;              ///< its speed there, 1 = with `ctas`
  std::uint64_t slice = 0;      ///< blocks of its shortest slice, and what such slices cost; 0: none was short enough
  double slice_overhead = 0, slice_ms = 0;
};

/// Two kernels at one slice ratio.
struct PairPoint {
  std::string first, second;
  std::array<std::uint32_t, 2> ctas{};
  double predicted = 0, measured = 0;                ///< IPC of both together, of the machine's peak
  double predicted_profit = 0, measured_profit = 0;  ///< co-scheduling profit
  bool chosen = false;                               ///< the pair's ratio of highest predicted profit
};

/// One workload under several schedulers: seconds until the last kernel ends.
struct Makespans {
  std::string workload;
  double sequential = 0, base = 0, kernelet = 0, opt = 0;
  double best_alone = 0;               ///< one kernel after the other, each with the CTAs an SM with which it is fastest alone
  double pruned = 0, lost_profit = 0;  ///< of Kernelet's decisions: pairs pruned, and profit lost by that, each a mean
};

/// One workload with copies: seconds, and the share of the copies' time beside kernels.
struct CopyRun {
  std::string workload;
  double scale = 1;  ///< of inputs, outputs and kernels
  bool overlap = true, co_schedule = true;
  double seconds = 0, overlapped = 0;
};

/// One pair of thresholds.
struct PruningPoint {
  double issue = 0, memory = 0;
  std::size_t pairs = 0, pruned = 0;
  double lost_profit = 0;
};

/// A machine with what the paper says of it.
struct KerneletMachine {
  std::string suffix, label;   ///< "a", "C2050"
  std::string gain, distance;  ///< over Base, from OPT, in percent
};

[[nodiscard]] Figure kernels_alone(const std::vector<AloneRow>& rows);
[[nodiscard]] Figure pair_prediction(const KerneletMachine& machine, const std::vector<PairPoint>& points);
[[nodiscard]] Figure total_times(const KerneletMachine& machine, const std::vector<Makespans>& runs);
/// @param seconds  of every random schedule; @param kernelet, base  of the same launches
[[nodiscard]] Figure random_schedules(std::vector<double> seconds, double kernelet, double base);
[[nodiscard]] Figure copy_variants(const std::vector<CopyRun>& runs);
[[nodiscard]] Figure copy_scales(const std::vector<CopyRun>& runs);
[[nodiscard]] Figure pruning(const std::vector<PruningPoint>& points);

}  // namespace sluice::figures
