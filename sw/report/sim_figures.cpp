// SPDX-License-Identifier: Apache-2.0
// SiM's kernels alone: tables 2 and 3, figures 2, 3, 7 and 9.
#include "sw/report/sim_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace sluice::figures {

namespace {

constexpr double kLow = 0.5;  // section 4.4: "an ISU of less than 50%"

/// A table cell of text or a number as it is to be printed.
double per_cycle(std::uint64_t events, std::uint64_t cycles) {
  return static_cast<double>(events) / static_cast<double>(std::max<std::uint64_t>(cycles, 1));
}

std::uint32_t fitting(const SimKernel& k, const MachineConfig& machine) {
  return occupancy(k.kernel.demand(), machine.sm.capacity).value();
}

/// CTA counts that are no faster than a smaller one: what SiM leaves out.
std::vector<std::size_t> pruned(const std::vector<double>& times) {
  std::vector<std::size_t> out;
  double best = INFINITY;
  for (std::size_t j = 0; j < times.size(); ++j) {
    if (times[j] >= best) out.push_back(j + 1);
    best = std::min(best, times[j]);
  }
  return out;
}

}  // namespace

bool SimKernel::low() const { return kernel.launch_reference->issue_utilization < kLow; }

Figure sim_table2(const MachineConfig& machine) {
  Figure figure{"table2", "What an SM holds", {}, {}, {}, {}};
  figure.published = "2048 threads, 65536 registers, 48 KB of shared memory, 64 warps, 16 thread blocks.";
  const SmResources& sm = machine.sm.capacity;
  figure.data = {{"threads", sm.threads},
                 {"registers", sm.registers},
                 {"shared_memory_bytes", sm.shared_memory_bytes},
                 {"cta_slots", sm.cta_slots}};
  return figure;
}

Figure sim_table3(const std::vector<SimKernel>& kernels, const MachineConfig& machine) {
  Figure figure{"table3", "The kernels alone: length, and issue-slot utilisation (figure 3)", {}, {}, {}, {}};
  figure.published = "ISU 27.5 (FD) to 97.4 % (MD); FD, PF and TP are below 50 %. Our times are scaled down together.";
  double worst_time = 0, worst_issue = 0;
  for (const SimKernel& k : kernels) {
    const LaunchReference& paper = *k.kernel.launch_reference;
    const double time = k.model.milliseconds / paper.milliseconds - 1,
                 issue = k.model.issue_utilization - paper.issue_utilization;
    worst_time = std::max(worst_time, std::abs(time));
    worst_issue = std::max(worst_issue, std::abs(issue));
    figure.data[k.kernel.name] = {{"ctas_per_sm", fitting(k, machine)},
                                  {"time_ms", k.model.milliseconds},
                                  {"published_time_ms", paper.milliseconds},
                                  {"issue_utilization", k.model.issue_utilization},
                                  {"published_issue_utilization", paper.issue_utilization}};
  }
  figure.measured = fmt::format("Fitted to these two alone: times within {:.1f} %, ISU within {:.1f} points.", 100 * worst_time,
                                100 * worst_issue);
  return figure;
}

Figure sim_spatial(const std::vector<SimKernel>& kernels, const MachineConfig& machine) {
  Figure figure{"2", "Share of an SM that each kernel occupies", {}, {}, {}, {}};
  figure.published =
      "MD needs more than 70 % of the registers and no shared memory; LM needs more than 90 % of the shared memory.";
  constexpr const char* kNames[] = {"registers", "shared memory", "threads", "CTA slots"};
  for (const SimKernel& k : kernels) {
    const SmResources demand = k.kernel.demand(), &sm = machine.sm.capacity;
    const double n = 100.0 * fitting(k, machine);
    const std::vector<double> shares = {n * demand.registers / sm.registers,
                                        n * demand.shared_memory_bytes / sm.shared_memory_bytes, n * demand.threads / sm.threads,
                                        n * demand.cta_slots / sm.cta_slots};
    for (std::size_t i = 0; i < shares.size(); ++i) {
      figure.data[k.kernel.name][kNames[i]] = shares[i];
    }
  }
  const auto share = [&](const char* kernel, const char* of) {
    return figure.data.contains(kernel) ? figure.data[kernel][of].get<double>() : NAN;
  };
  figure.measured =
      fmt::format("MD: {:.1f} % of the registers, {:.1f} % of the shared memory. LM: {:.1f} % of the shared memory.",
                  share("MD", "registers"), share("MD", "shared memory"), share("LM", "shared memory"));
  return figure;
}

Figure sim_units(const std::vector<SimKernel>& kernels, const MachineConfig& machine) {
  Figure figure{"7", "What each kernel uses, of 10", {}, {}, {}, {}};
  figure.published =
      "In words: MD and LM are compute-intensive, FD uses memory and cache much, BO, NB, PF and TP are mixed. The instruction "
      "mixes "
      "here are chosen after these words and the programs.";
  const std::vector<std::string> units = {"ALU", "SFU", "LDST", "L2", "DRAM"};
  const double peak = dram_bytes_per_cycle(machine);
  std::vector<std::string> most;
  for (const SimKernel& k : kernels) {
    const KernelCounters& c = k.run.total;
    const std::uint64_t cycles = k.run.cycles.value(), sm_cycles = k.run.sm_cycles;
    const std::vector<double> uses = {per_cycle(c.alu_busy, sm_cycles) / machine.sm.alu_pipes, per_cycle(c.sfu_busy, sm_cycles),
                                      per_cycle(c.ldst_busy, sm_cycles), per_cycle(c.l2_accesses, cycles) / machine.l2_slices,
                                      per_cycle(c.dram_bytes, cycles) / peak};
    for (std::size_t i = 0; i < uses.size(); ++i) {
      figure.data[k.kernel.name][units[i]] = 10 * uses[i];
    }
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(uses) - uses.begin());
    most.push_back(fmt::format("{} {}", k.kernel.name, units[largest]));
  }
  figure.measured = fmt::format("Used most: {}.", fmt::join(most, ", "));
  return figure;
}

Figure sim_curves(const std::vector<SimKernel>& kernels) {
  Figure figure{"9", "Performance against CTAs on an SM", {}, {}, {}, {}};
  figure.published =
      "The gain is marginal beyond some point. Some counts of BO and NB are slower than a smaller one, and are left out.";
  std::vector<std::string> left_out;
  for (const SimKernel& k : kernels) {
    const double best = *std::ranges::min_element(k.times);
    std::vector<double> values;
    for (const double time : k.times) values.push_back(best / time);
    const std::vector<std::size_t> none = pruned(k.times);
    if (!none.empty()) left_out.push_back(fmt::format("{} {}", k.kernel.name, fmt::join(none, " ")));
    figure.data[k.kernel.name] = {{"performance", values}, {"left_out", none}};
  }
  figure.measured = left_out.empty() ? "No count is slower than a smaller one."
                                     : fmt::format("Counts left out, as they are no faster: {}.", fmt::join(left_out, "; "));
  return figure;
}

}  // namespace sluice::figures
