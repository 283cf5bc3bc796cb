// SPDX-License-Identifier: Apache-2.0
// Tables I to V of Slate's evaluation.
#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/report/slate_figures.h"

namespace sluice::figures {

namespace {

using Row = TableRow;

std::string words(const Row& head, const std::vector<Row>& rows) { return table(head, rows, "words"); }

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

double percent(double ours, double theirs) { return 100 * (ours / theirs - 1); }

}  // namespace

Figure slate_policy_table() {
  Figure figure{"table1", "Which kernels may share the GPU", {}, {}, {}, {}};
  figure.published = "25 cells, 12 of them corun; not symmetric in two.";
  constexpr SlateClass kAll[] = {SlateClass::LowCompute, SlateClass::MediumCompute, SlateClass::HighCompute,
                                 SlateClass::MediumMemory, SlateClass::HighMemory};
  Row head{"active \\ candidate"};
  std::vector<Row> rows;
  int coruns = 0, lopsided = 0;
  for (const SlateClass row : kAll) {
    head.emplace_back(to_string(row));
    rows.push_back({std::string(to_string(row))});
    for (const SlateClass column : kAll) {
      const bool may = slate_corun(row, column);
      coruns += may ? 1 : 0;
      lopsided += may && !slate_corun(column, row) ? 1 : 0;
      rows.back().emplace_back(may ? "corun" : "solo");
      figure.data[std::string(to_string(row))][std::string(to_string(column))] = may;
    }
  }
  figure.measured = fmt::format("{} cells of 25 are corun; {} pairs may share in one order only.", coruns, lopsided);
  figure.html = words(head, rows);
  return figure;
}

Figure slate_profiles_table(const std::vector<SlateAlone>& kernels) {
  Figure figure{"table2", "The five kernels alone", {}, {}, {}, {}};
  figure.published = "Compute and memory: BS Med, Med; GS Low, Med; MM High, Med; RG Low, Low; TR Low, High.";
  std::vector<Row> rows;
  int right = 0, all = 0;
  for (const Printed& p : kTableTwo) {
    const auto found = std::ranges::find(kernels, p.name, &SlateAlone::name);
    if (found == kernels.end()) continue;
    ++all;
    const int compute = compute_level(found->intensity), memory = memory_level(found->intensity);
    right += compute == p.compute && memory == p.memory ? 1 : 0;
    const double gflops = found->gflops.value_or(0);
    rows.push_back({p.name, fmt::format("{}, {}", kLevels[p.compute], kLevels[p.memory]),
                    fmt::format("{}, {}", kLevels[compute], kLevels[memory]), fmt::format("{:.1f}", p.gflops),
                    fmt::format("{:.1f}", gflops), fmt::format("{:.1f}", p.gigabytes), fmt::format("{:.1f}", found->gigabytes),
                    fmt::format("{:+.1f} %", percent(found->gigabytes, p.gigabytes)), fmt::format("{:.2f}", found->ipc)});
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
  figure.html = words({"kernel", "class, published", "class", "GFLOP/s, published", "GFLOP/s", "GB/s, published", "GB/s",
                       "difference", "IPC an SM"},
                      rows);
  return figure;
}

Figure slate_gaussian_table(const SlateAlone& blocks, const SlateAlone& tasks) {
  Figure figure{"table3", "Gaussian elimination in blocks and in tasks of ten", {}, {}, {}, {}};
  figure.published = "CUDA to Slate: IPC +30 %, bandwidth +38 %, time 24.7 s to 18.9 s (+28 % as printed, +31 % from the times).";
  figure.measured = fmt::format("IPC {:+.1f} %, bandwidth {:+.1f} %, time {:+.1f} %.", percent(tasks.ipc, blocks.ipc),
                                percent(tasks.gigabytes, blocks.gigabytes), percent(tasks.milliseconds, blocks.milliseconds));
  const auto row = [&](const char* what, const char* published, double before, double after, int digits) {
    figure.data[what] = {{"blocks", before}, {"tasks", after}};
    return Row{what, published, fmt::format("{:.{}f}", before, digits), fmt::format("{:.{}f}", after, digits)};
  };
  figure.html =
      words({"", "published: CUDA, Slate", "blocks", "tasks of ten"},
            {row("IPC", "0.36, 0.47", blocks.ipc, tasks.ipc, 3), row("GB/s", "287, 396", blocks.gigabytes, tasks.gigabytes, 1),
             row("% of SM cycles that wait for memory", "26.1, 0 (memory throttle)", 100 * blocks.long_memory,
                 100 * tasks.long_memory, 1),
             row("time, ms (published: s)", "24.7, 18.9", blocks.milliseconds, tasks.milliseconds, 4)});
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
  std::map<std::string, double> took;  // ms, by scheduler
  std::vector<Row> rows;
  for (const ScheduleRun& run : runs) {
    if (run.scheduler != "left_over" && run.scheduler != "slate") continue;
    const double ms = pair_makespans(run).at("BS_RG");
    took[run.scheduler] = ms;
    const double ipc = instructions / (ms * 1e3 * machine.core_mhz) / machine.num_sms, rate = gigabytes / ms * 1e3;
    rows.push_back({run.scheduler, fmt::format("{:.4f}", ms), fmt::format("{:.2f}", ipc), fmt::format("{:.1f}", rate)});
    figure.data[run.scheduler] = {{"ms", ms}, {"ipc", ipc}, {"gigabytes", rate}};
  }
  figure.measured = fmt::format("throughput, and with it IPC and bandwidth, {:+.1f} %: the work is the same.",
                                percent(took.at("left_over"), took.at("slate")));
  figure.html = words({"", "both done after, ms", "IPC an SM", "GB/s"}, rows);
  return figure;
}

Figure slate_overhead_table() {
  Figure figure{"table5", "What Slate adds, and where", {}, {}, {}, {}};
  figure.published =
      "Inside the kernel: injected instructions, atomics on the queue. Outside: injection, compilation, "
      "communication. Offline: profiling.";
  figure.measured = "In hardware neither instructions nor atomics are added: the dispatcher is the queue.";
  figure.html =
      words({"operation", "in software, as published", "with the partition unit"},
            {{"test of the SM, loop over blocks", "3 % more instructions (BS)", "none: quota and mask of a kernel slot"},
             {"pull of a task", "an atomic", "the dispatcher's CTA counter"},
             {"change of a range", "retreat flag, workers launched anew", "a write of the mask; CTAs that are out of it drain"},
             {"injection and compilation", "1.5 % of the application", "none"},
             {"client and daemon", "4 % of the application", "not modelled"},
             {"profiling", "offline", "offline"}});
  figure.data = nlohmann::ordered_json::object();
  return figure;
}

}  // namespace sluice::figures
