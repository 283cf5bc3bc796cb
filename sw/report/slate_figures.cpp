// SPDX-License-Identifier: Apache-2.0
// Tables I to V and figures 1, 5 and 7 of Slate's evaluation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"
#include "sw/report/paper_figures.h"
#include "sw/report/summary.h"

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

/// Slate over MPS, figure 7: above 1 in all pairs but one.
bool has_published_sign(const std::string& pair, double ratio) { return (ratio > 1) == (pair != "BS_MM"); }

}  // namespace

Figure slate_policy_table() {
  Figure figure{"table1", "Which kernels may share the GPU", "25 cells, 12 of them corun; not symmetric in two."};
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
  Figure figure{"table2", "The five kernels alone",
                "Compute and memory: BS Med, Med; GS Low, Med; MM High, Med; RG Low, Low; TR Low, High."};
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
  Figure figure{"table3", "Gaussian elimination in blocks and in tasks of ten",
                "CUDA to Slate: IPC +30 %, bandwidth +38 %, time 24.7 s to 18.9 s (+28 % as printed, +31 % from the times)."};
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
  Figure figure{"table4", "BS beside RG",
                "MPS to Slate: throughput +30.55 %, IPC 0.94 to 1.61 (+71.28 %), global bandwidth 241 to 250 GB/s (+3.84 %)."};
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
  Figure figure{"table5", "What Slate adds, and where",
                "Inside the kernel: injected instructions, atomics on the queue. Outside: injection, compilation, "
                "communication. Offline: profiling."};
  figure.measured = "In hardware neither instructions nor atomics are added: the dispatcher is the queue.";
  figure.data = nlohmann::ordered_json::object();
  return figure;
}

std::uint32_t saturates_at(const SlateSmCurve& curve) {
  constexpr double kNearly = 0.95;
  double best = 0;
  for (const double value : curve.gigabytes) best = std::fmax(best, value);
  const auto found = std::ranges::find_if(curve.gigabytes, [&](double value) { return value >= kNearly * best; });
  return static_cast<std::uint32_t>(found - curve.gigabytes.begin()) + 1;
}

Figure slate_sm_scaling(const std::vector<SlateSmCurve>& curves) {
  Figure figure{"1", "Bandwidth against the number of SMs", "Stream's reads are at their peak with 9 of 30 SMs, and stay there."};
  for (const SlateSmCurve& curve : curves) {
    nlohmann::ordered_json values;
    for (const double value : curve.gigabytes)
      values.push_back(std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json());
    figure.data[curve.kernel] = {{"saturates_at", saturates_at(curve)}, {"gigabytes", values}};
    figure.measured +=
        fmt::format("{}{} {}", figure.measured.empty() ? "95 % of the best with: " : ", ", curve.kernel, saturates_at(curve));
  }
  figure.measured += " SMs.";
  return figure;
}

Figure slate_task_sizes(const std::vector<SlateTasksRun>& runs) {
  Figure figure{"5", "Time alone against the size of a task",
                "GS takes nearly half the time at 10; BS is 5 % slower than CUDA at 10 and 2 % faster at 1."};
  std::map<std::string, double> single;
  for (const SlateTasksRun& r : runs) {
    if (r.task_size == 1) single[r.kernel] = r.run.milliseconds;
  }
  for (const SlateTasksRun& r : runs) {
    const double ratio = r.run.milliseconds / single.at(r.kernel);
    figure.data[r.kernel][fmt::format("{}", r.task_size)] = ratio;
    if (r.task_size == 10)
      figure.measured +=
          fmt::format("{}{} {:+.1f} %", figure.measured.empty() ? "Time with tasks of ten: " : ", ", r.kernel, 100 * (ratio - 1));
  }
  figure.measured += ".";
  return figure;
}

std::map<std::string, double> pair_makespans(const ScheduleRun& run) {
  std::map<std::string, double> makespans;
  std::map<std::string, int> members;
  for (const LaunchOutcome& job : run.jobs) {
    const std::size_t dot = job.name.rfind('.');
    const std::string pair = job.name.substr(0, dot), member = dot == std::string::npos ? "" : job.name.substr(dot + 1);
    if (member != "1" && member != "2") throw InputError(fmt::format("job {}: must be named PAIR.1 or PAIR.2", job.name));
    double& longest = makespans[pair];
    longest = std::max(longest, std::chrono::duration<double, std::milli>(job.turnaround).count());
    ++members[pair];
  }
  for (const auto& [pair, count] : members)
    if (count != 2) throw InputError(fmt::format("pair {}: {} jobs: must be PAIR.1 and PAIR.2", pair, count));
  return makespans;
}

Figure slate_set_up_figure(const std::vector<SlateSetUp>& runs, const ScheduleRun& slate) {
  Figure figure{"7-set-up", "The 15 pairs, if setting up a CTA takes longer",
                "no figure: Slate's workers \"reduce the thread setup time\""};
  const std::map<std::string, double> own = pair_makespans(slate);
  for (const SlateSetUp& run : runs) {
    const std::map<std::string, double> left_over = pair_makespans(run.left_over);
    std::vector<double> ratios;
    std::size_t right = 0;
    for (const auto& [pair, ms] : own) {
      ratios.push_back(left_over.at(pair) / ms);
      right += has_published_sign(pair, ratios.back()) ? 1 : 0;
    }
    const double mean = geometric_mean_of_known(ratios);
    figure.data.push_back({{"cycles", run.cycles}, {"mean", mean}, {"published_sign", right}, {"pairs", ratios}});
    figure.measured += fmt::format("{}{} cycles: {:+.1f} %, the published sign in {} of {} pairs",
                                   figure.measured.empty() ? "" : "; ", run.cycles, 100 * (mean - 1), right, own.size());
  }
  return figure;
}

Figure slate_pairs_figure(const std::vector<ScheduleRun>& runs) {
  Figure figure{"7", "The 15 pairs",
                "Slate over MPS: +11 % in the mean, RG-GS +35 %, MM-BS -2 %, all others above 0; RG with every other kernel "
                "at once, all others one after the other. MPS over CUDA: +6 %."};
  const auto base = std::ranges::find(runs, "left_over", &ScheduleRun::scheduler);
  if (base == runs.end()) throw InputError("figure 7: scheduler left_over is missing");
  const std::map<std::string, double> left_over = pair_makespans(*base);
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& [pair, ms] : left_over) {
    for (const ScheduleRun& run : runs) {
      if (run.scheduler == "left_over") continue;
      const double ratio = ms / pair_makespans(run).at(pair);
      ratios[run.scheduler].push_back(ratio);
      figure.data["pairs"][pair][run.scheduler] = ratio;
    }
  }
  for (const ScheduleRun& run : runs) {
    if (run.scheduler == "left_over") continue;
    const double all = geometric_mean_of_known(ratios[run.scheduler]);
    std::size_t right = 0, k = 0;
    for (const auto& [pair, ms] : left_over) right += has_published_sign(pair, ratios[run.scheduler][k++]) ? 1 : 0;
    figure.data["mean"][run.scheduler] = all;
    figure.data["published_sign"][run.scheduler] = right;
    figure.measured += fmt::format("{}{}: {:+.1f} %, the published sign in {} of {} pairs", figure.measured.empty() ? "" : "; ",
                                   run.scheduler, 100 * (all - 1), right, left_over.size());
  }
  figure.measured += ".";
  return figure;
}

}  // namespace sluice::figures
