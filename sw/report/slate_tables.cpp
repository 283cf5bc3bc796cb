// SPDX-License-Identifier: Apache-2.0
// Tables I to V of Slate's evaluation.
#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/report/slate_figures.h"

namespace sluice::figures {

namespace {

constexpr const char* kLevels[] = {"Low", "Med", "High"};

/// Table II as printed.
struct Printed {
  const char* name;
  int compute, memory;  ///< levels
  double gflops, gigabytes;
};
constexpr Printed kTableTwo[] = {{"BS", 1, 1, 161.3, 401.49},
                                 {"GS", 0, 1, 19.6, 340.9},
                                 {"MM", 2, 1, 1525, 403.5},
                                 {"RG", 0, 0, 4.2, 71.6},
                                 {"TR", 0, 2, 0, 568.6}};

}  // namespace

Figure slate_policy_table() {
  Figure figure{"table1", "Which kernels may share the GPU", {}, {}, {}, {}};
  figure.published = "25 cells, 12 of them corun; not symmetric in two.";
  constexpr SlateClass kAll[] = {SlateClass::LowCompute, SlateClass::MediumCompute, SlateClass::HighCompute,
                                 SlateClass::MediumMemory, SlateClass::HighMemory};
  int coruns = 0, lopsided = 0;
  for (const SlateClass row : kAll) {
    for (const SlateClass column : kAll) {
      const bool may = slate_corun(row, column);
      coruns += may ? 1 : 0;
      lopsided += may && !slate_corun(column, row) ? 1 : 0;
      figure.data[std::string(to_string(row))][std::string(to_string(column))] = may;
    }
  }
  figure.measured = fmt::format("{} cells of 25 are corun; {} pairs may share in one order only.", coruns, lopsided);
  return figure;
}

Figure slate_profiles_table(const std::vector<SlateAlone>& kernels) {
  Figure figure{"table2", "The five kernels alone", {}, {}, {}, {}};
  figure.published = "Compute and memory: BS Med, Med; GS Low, Med; MM High, Med; RG Low, Low; TR Low, High.";
  int right = 0, all = 0;
  for (const Printed& p : kTableTwo) {
    const auto found = std::ranges::find(kernels, p.name, &SlateAlone::name);
    if (found == kernels.end()) continue;
    ++all;
    const int compute = compute_level(found->intensity), memory = memory_level(found->intensity);
    right += compute == p.compute && memory == p.memory ? 1 : 0;
    const double gflops = found->gflops.value_or(0);
    figure.data[p.name] = {{"gflops", gflops},
                           {"gigabytes", found->gigabytes},
                           {"ipc", found->ipc},
                           {"ms", found->milliseconds},
                           {"compute", kLevels[compute]},
                           {"memory", kLevels[memory]},
                           {"published_gflops", p.gflops},
                           {"published_gigabytes", p.gigabytes}};
  }
  figure.measured = fmt::format("{} of {} kernels are in the class that the paper gives them.", right, all);
  return figure;
}

Figure slate_gaussian_table(const SlateAlone& blocks, const SlateAlone& tasks) {
  Figure figure{"table3", "Gaussian elimination in blocks and in tasks of ten", {}, {}, {}, {}};
  figure.published = "CUDA to Slate: IPC +30 %, bandwidth +38 %, time 24.7 s to 18.9 s (+28 % as printed, +31 % from the times).";
  const auto row = [&](const char* what, double before, double after) {
    figure.data[what] = {{"blocks", before}, {"tasks", after}};
  };
  row("IPC", blocks.ipc, tasks.ipc);
  row("GB/s", blocks.gigabytes, tasks.gigabytes);
  row("% of SM cycles that wait for memory", 100 * blocks.long_memory, 100 * tasks.long_memory);
  row("time, ms (published: s)", blocks.milliseconds, tasks.milliseconds);
  return figure;
}

Figure slate_bs_rg_table(const std::vector<ScheduleRun>& runs, const std::vector<SlateAlone>& kernels,
                         const MachineConfig& machine) {
  Figure figure{"table4", "BS beside RG", {}, {}, {}, {}};
  figure.published =
      "MPS to Slate: throughput +30.55 %, IPC 0.94 to 1.61 (+71.28 %), global bandwidth 241 to 250 GB/s (+3.84 %).";
  double instructions = 0, gigabytes = 0;  // GB
  for (const SlateAlone& k : kernels) {
    if (k.name != "BS" && k.name != "RG") continue;
    instructions += k.warp_instructions;
    gigabytes += k.gigabytes * k.milliseconds / 1e3;
  }
  for (const ScheduleRun& run : runs) {
    if (run.scheduler != "left_over" && run.scheduler != "slate") continue;
    const double ms = pair_makespans(run).at("BS_RG");
    const double ipc = instructions / (ms * 1e3 * machine.core_mhz) / machine.num_sms, rate = gigabytes / ms * 1e3;
    figure.data[run.scheduler] = {{"ms", ms}, {"ipc", ipc}, {"gigabytes", rate}};
  }
  return figure;
}

Figure slate_overhead_table() {
  Figure figure{"table5", "What Slate adds, and where", {}, {}, {}, {}};
  figure.published =
      "Inside the kernel: injected instructions, atomics on the queue. Outside: injection, compilation, "
      "communication. Offline: profiling.";
  figure.measured = "In hardware neither instructions nor atomics are added: the dispatcher is the queue.";
  figure.data = nlohmann::ordered_json::object();
  return figure;
}

}  // namespace sluice::figures
