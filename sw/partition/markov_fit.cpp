// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/markov_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sw/core/errors.h"

namespace sluice {

namespace {

constexpr double kCoalesced = 4;  ///< sectors of a load

void check(const char* what, bool good, double value, const char* range) {
  if (!good || !std::isfinite(value)) throw InputError(fmt::format("{} = {}: must be {}", what, value, range));
}

void check(const MarkovCounters& c, const MarkovMachine& m) {
  check("schedulers", m.schedulers > 0, m.schedulers, "at least 1");
  check("cycles_per_sector", m.cycles_per_sector >= 0, m.cycles_per_sector, "at least 0");
  for (const double latency : {m.dram_latency, m.l2_latency, m.l1_latency})
    check("latency", latency >= 1, latency, "at least 1 cycle");
  check("loads", c.loads >= 0 && c.loads <= 1, c.loads, "0 to 1 a warp instruction");
  check("l2_sectors", c.l2_sectors >= 0, c.l2_sectors, "at least 0");
  check("dram_sectors", c.dram_sectors >= 0 && c.dram_sectors <= c.l2_sectors, c.dram_sectors, "0 to l2_sectors");
  check("store_sectors", c.store_sectors >= 0, c.store_sectors, "at least 0");
  check("memory_stalls", c.memory_stalls >= 0, c.memory_stalls, "at least 0");
  check("dram_utilisation", c.dram_utilisation >= 0 && c.dram_utilisation <= 1, c.dram_utilisation, "0 to 1");
}

double dram_share(const MarkovCounters& c) { return c.l2_sectors > 0 ? c.dram_sectors / c.l2_sectors : 0; }

/// Mean b_0 of a load; 1 for a kernel without loads, whose warps wait for nothing but their pipes.
double mean_latency(const MarkovCounters& c, const MarkovMachine& m) {
  if (c.loads == 0) return 1;
  const double beyond_l1 = std::min(1.0, c.l2_sectors / c.loads / kCoalesced), from_dram = dram_share(c);
  return beyond_l1 * (from_dram * m.dram_latency + (1 - from_dram) * m.l2_latency) + (1 - beyond_l1) * m.l1_latency;
}

/// Where `ipc`, which falls with its argument, is `wanted`.
template <class Ipc>
double solve(double most, double wanted, const Ipc& ipc) {
  constexpr int kHalvings = 40;
  double low = 0, high = most;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (ipc(middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

MarkovKernel calibrated_kernel(const MarkovCounters& c, const MarkovWindows& w, const MarkovMachine& m) {
  check(c, m);
  for (const double ipc : {w.one_ipc, w.full_ipc})
    check("IPC", ipc > 0 && ipc <= m.schedulers, ipc, "above 0, at most one a scheduler");
  check("warps_per_cta", w.warps_per_cta > 0, w.warps_per_cta, "at least 1");
  check("full_ctas", w.full_ctas > 0, w.full_ctas, "at least 1");
  constexpr int kRounds = 30;
  constexpr double kMostRequests = 1000;
  constexpr double kBelowPipe = 0.999;  // of what the pipes let through, which no finite number of warps reaches
  std::array<MarkovKernel, 1> kernel;
  MarkovWait& wait = kernel[0].waits.emplace_back(MarkovWait{0, mean_latency(c, m), m.cycles_per_sector, 1});
  kernel[0].traffic = c.dram_utilisation;
  kernel[0].exposure = dram_share(c);
  double full = w.full_ipc;
  if (c.memory_stalls < m.memory_stall_limit) {
    kernel[0].issue_cycles = m.schedulers / w.full_ipc;
    full *= kBelowPipe;
  }
  const auto ipc = [&](double& figure, unsigned ctas) {
    return [&kernel, &figure, &m, warps = std::array{ctas * w.warps_per_cta}](double value) {
      figure = value;
      return markov_sm_ipc(kernel, warps, m.schedulers)[0];
    };
  };
  for (int round = 0; round < kRounds; ++round) {
    wait.ratio = solve(kMaxWaitRatio, w.one_ipc, ipc(wait.ratio, 1));
    wait.requests = solve(kMostRequests, full, ipc(wait.requests, w.full_ctas));
  }
  return kernel[0];
}

}  // namespace sluice
