// SPDX-License-Identifier: Apache-2.0
// EffiSha's figures of single kernels, and those of schedules: 12, 14 and 15.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sw/report/paper_figures.h"

namespace sluice::effisha {

namespace {

using figures::Figure;
using figures::share_text;

double ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

template <class Value>
double mean(const std::vector<KernelCosts>& costs, const Value& value) {
  double sum = 0;
  for (const KernelCosts& kernel : costs) sum += value(kernel);
  return sum / static_cast<double>(costs.size());
}
template <class Value>
double most(const std::vector<KernelCosts>& costs, const Value& value) {
  double most = 0;
  for (const KernelCosts& kernel : costs) most = std::max(most, value(kernel));
  return most;
}

constexpr std::size_t kAll[] = {kHardware, kBasic, kProxy, kAdaptive};

std::string label(const ScheduleRun& run) {
  return run.flavour == "hardware" ? run.scheduler : fmt::format("{}, {}", run.scheduler, run.flavour);
}

}  // namespace

Figure kernels(const std::vector<KernelCosts>& costs, const ScheduleRun& scaled) {
  Figure figure{"table3", "Table 3: kernels alone on the K40 (tables 1 and 2 name machine and benchmarks)",
                "Eleven SHOC kernels, 1.17 to 28.4 ms; K40m, CUDA 7.0."};
  static const std::map<std::string, double> published = {
      {"NeuralNet", 14.25}, {"Sort", 5.46},      {"Reduction", 2.06}, {"MD5Hash", 3.29}, {"MD", 13.8}, {"Scan", 1.41},
      {"Triad", 1.22},      {"Stencil2D", 28.4}, {"FFT", 1.17},       {"Spmv", 4.57},    {"BFS", 5.99}};
  double worst = 0, worst_scaled = 0;
  for (const KernelCosts& kernel : costs) {
    const auto job = std::ranges::find(scaled.jobs, kernel.kernel, &LaunchOutcome::name);
    const double theirs = published.at(kernel.kernel), short_ms = ms(job->alone);
    worst = std::max(worst, std::abs(kernel.alone_ms / theirs - 1));
    worst_scaled = std::max(worst_scaled, std::abs(short_ms / theirs - 1));
    figure.data[kernel.kernel] = {{"published_ms", theirs}, {"full_size_ms", kernel.alone_ms}, {"scaled_ms", short_ms}};
  }
  figure.measured = fmt::format(
      "Full size within {} of the table, to which it is fitted; as scheduled, at a share of the cycles, "
      "within {}.",
      share_text(worst), share_text(worst_scaled));
  return figure;
}

Figure block_tasks(const std::vector<KernelCosts>& costs) {
  Figure figure{"3", "Length of a block-task", "All block-tasks are shorter than 0.8 ms."};
  for (const KernelCosts& kernel : costs) {
    figure.data[kernel.kernel] = kernel.task_ms;
  }
  figure.measured = fmt::format(
      "Mean length with all SMs full: at most {:.2f} ms, the kernels' mean {:.3f} ms (fitted to what "
      "section 8.4 says of the latencies).",
      most(costs, [](const KernelCosts& k) { return k.task_ms; }), mean(costs, [](const KernelCosts& k) { return k.task_ms; }));
  return figure;
}

Figure evictions(const std::vector<Evictions>& waits) {
  Figure figure{"9", "Evictions by priority (fake executor)",
                "Fewer evictions with higher priority, and with longer waits; no numbers in the text."};
  std::vector<std::string> totals;
  for (const Evictions& wait : waits) {
    std::uint64_t total = 0;
    for (const std::uint64_t evictions : wait.by_priority) total += evictions;
    totals.push_back(fmt::format("{} at {:g} ms", total, wait.wait_ms));
    figure.data[fmt::format("{:g}", wait.wait_ms)] = wait.by_priority;
  }
  figure.measured = fmt::format("11,000 launches under piv: {}.", fmt::join(totals, ", "));
  return figure;
}

double basic_by_reads(const KernelCosts& kernel, double reads_per_us) {
  const double reads = kernel.by[kBasic].host_reads * kWarpSize * kernel.ctas;  // of a block-task on every CTA
  return reads / reads_per_us / (1e3 * kernel.task_ms);
}

Figure transformation_overhead(const std::vector<KernelCosts>& costs, double reads_per_us) {
  Figure figure{
      "10", "Overhead of preemptible kernels alone",
      "basic: 10X in the mean, up to 97X; with the proxy 15 %, Stencil2D over 100 %; with all 4 %, Stencil2D and Triad 8 %."};
  constexpr const char* kByReads = "basic_by_measured_reads";
  for (const KernelCosts& kernel : costs) {
    for (const std::size_t m : kAll) {
      figure.data[kernel.kernel][kMechanisms[m]] = kernel.by[m].overhead;
    }
    if (reads_per_us <= 0) continue;
    figure.data[kernel.kernel][kByReads] = basic_by_reads(kernel, reads_per_us);
  }
  std::vector<std::string> said;
  for (const std::size_t m : kAll) {
    const auto of = [m](const KernelCosts& k) { return k.by[m].overhead; };
    figure.data["mean"][kMechanisms[m]] = mean(costs, of);
    said.push_back(fmt::format("{} {} (worst {})", kMechanisms[m], share_text(mean(costs, of)), share_text(most(costs, of))));
  }
  figure.measured = fmt::format("Mean: {}.", fmt::join(said, "; "));
  if (reads_per_us > 0) {
    const auto of = [&](const KernelCosts& k) { return basic_by_reads(k, reads_per_us); };
    figure.data["mean"][kByReads] = mean(costs, of);
    figure.measured += fmt::format(
        " basic is far too cheap here: the model has a read a warp, and 256 in flight. An H100 has {:.0f} reads a us, a thread's "
        "each; with these basic takes {:.0f} times as long, at most {:.0f} times.",
        reads_per_us, 1 + mean(costs, of), 1 + most(costs, of));
  }
  return figure;
}

Figure preemption_latency(const std::vector<KernelCosts>& costs) {
  Figure figure{"13", "Preemption latency: from the order to the last CTA's end",
                "0.08 ms in the mean, MD 0.4 ms; BFS, FFT, NeuralNet and Triad below 0.015 ms."};
  for (const KernelCosts& kernel : costs) {
    for (const std::size_t m : kAll) {
      figure.data[kernel.kernel][kMechanisms[m]] = {{"mean_ms", kernel.by[m].latency_mean_ms},
                                                    {"max_ms", kernel.by[m].latency_max_ms}};
    }
  }
  std::vector<std::string> said;
  for (const std::size_t m : kAll)
    said.push_back(
        fmt::format("{} {:.3f} ms", kMechanisms[m], mean(costs, [m](const KernelCosts& k) { return k.by[m].latency_mean_ms; })));
  figure.measured = fmt::format("Mean of the kernels: {}.", fmt::join(said, ", "));
  return figure;
}

Figure software_and_hardware(const std::vector<KernelCosts>& costs) {
  Figure figure{"flavours", "What preemption costs in software, and what the partition unit makes of it",
                "No paper has this comparison."};
  struct Column {
    const char* name;
    double (*value)(const KernelCosts&, std::size_t);
  };
  const Column columns[] = {
      {"overhead alone, mean, %", [](const KernelCosts& k, std::size_t m) { return 100 * k.by[m].overhead; }},
      {"latency, mean, us", [](const KernelCosts& k, std::size_t m) { return 1000 * k.by[m].latency_mean_ms; }},
      {"latency over a block-task, mean",
       [](const KernelCosts& k, std::size_t m) { return k.by[m].latency_mean_ms / k.task_ms; }},
      {"host reads over PCIe a block-task", [](const KernelCosts& k, std::size_t m) { return k.by[m].host_reads; }}};
  for (const std::size_t m : kAll) {
    for (const Column& column : columns) {
      const double value = mean(costs, [&](const KernelCosts& k) { return column.value(k, m); });
      figure.data[kMechanisms[m]][column.name] = value;
    }
  }
  const auto overhead = [&](std::size_t m) {
    return fmt::format("{:.3g}", mean(costs, [&](const KernelCosts& k) { return columns[0].value(k, m); }));
  };
  figure.measured = fmt::format("Hardware {} {}, adaptive software {} {}.", overhead(kHardware), "% overhead",
                                overhead(kAdaptive), "% overhead");
  return figure;
}

Figure scheduling_overhead(const std::vector<Setting>& settings) {
  Figure figure{"12", "Overhead of scheduling: time from the first start to the last end, over that without preemption",
                "All below 5 %; dprr above piv."};
  std::map<std::string, double> worst;
  for (const Setting& setting : settings) {
    const auto base = std::ranges::find(setting.rows, "arrival", [](const auto& row) { return row.model.scheduler; });
    for (const Setting::Row& row : setting.rows) {
      const double overhead =
          static_cast<double>(row.model.makespan.count()) / static_cast<double>(base->model.makespan.count()) - 1;
      figure.data[setting.name][label(row.model)] = overhead;
      auto [at, fresh] = worst.try_emplace(row.model.flavour, overhead);
      if (!fresh) at->second = std::max(at->second, overhead);
    }
  }
  std::vector<std::string> said;
  for (const auto& [flavour, value] : worst) said.push_back(fmt::format("{} {}", flavour, share_text(value)));
  figure.measured = fmt::format("Over arrival, worst of all: {}.", fmt::join(said, ", "));
  return figure;
}

Figure turnaround(const std::vector<Setting>& settings) {
  Figure figure{
      "14",
      "Normalised turnaround times (in brackets: the fake executor at equal times alone; the same "
      "with the model's mean time of an eviction)",
      "Groups, default: mean 5.08, Scan 9.16, Triad 8.07, FFT 10.8, MD 3.7, Spmv 5.0, Stencil2D 2; groups, piv: Reduction 38, "
      "Sort 14, Scan 39. SJF, piv: all above Sort have 1."};
  double worst = 0, worst_drained = 0;
  for (const Setting& setting : settings) {
    // In the order of the paper's figure: by priority, which the rows of arrival and rr may have from another setting.
    const std::vector<LaunchOutcome>& jobs = setting.rows.back().model.jobs;
    std::vector<std::size_t> order(jobs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return jobs[i].priority; });
    for (const Setting::Row& row : setting.rows) {
      auto& data = figure.data[setting.name][label(row.model)];
      for (std::size_t i = 0; i < order.size(); ++i) {
        const double model = row.model.jobs[order[i]].ntt(), fake = row.fake.jobs[order[i]].ntt(),
                     drained = row.drained.jobs[order[i]].ntt();
        data[row.model.jobs[order[i]].name] = {{"model", model}, {"fake", fake}, {"fake_with_drain", drained}};
        if (row.model.flavour != "hardware") continue;
        worst = std::max(worst, std::abs(model / fake - 1));
        worst_drained = std::max(worst_drained, std::abs(model / drained - 1));
      }
      data["eviction_ms"] = std::chrono::duration<double, std::milli>(row.model.eviction).count();
      data["ANTT"] = {{"model", row.model.antt()}, {"fake", row.fake.antt()}};
    }
  }
  figure.data["worst_difference_to_fake"] = worst;
  figure.data["worst_difference_to_fake_with_drain"] = worst_drained;
  figure.measured = fmt::format(
      "Hardware flavour and fake executor differ by at most {}, and by {} once an eviction takes the fake one as long.",
      share_text(worst), share_text(worst_drained));
  return figure;
}

Figure throughput(const std::vector<Setting>& settings) {
  Figure figure{"15", "System throughput", "All preemptive schedulers above the default."};
  std::vector<std::string> below;
  for (const Setting& setting : settings) {
    const auto base = std::ranges::find(setting.rows, "rr", [](const auto& row) { return row.model.scheduler; });
    for (const Setting::Row& row : setting.rows) {
      figure.data[setting.name][label(row.model)] = row.model.stp();
      const bool preempts = row.model.scheduler == "piv" || row.model.scheduler == "dprr";
      if (preempts && row.model.stp() <= base->model.stp()) below.push_back(setting.name + " " + label(row.model));
    }
  }
  figure.measured =
      below.empty() ? "piv and dprr are above rr in every setting." : fmt::format("Not above rr: {}.", fmt::join(below, "; "));
  return figure;
}

}  // namespace sluice::effisha
