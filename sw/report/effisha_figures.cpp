// SPDX-License-Identifier: Apache-2.0
#include "sw/report/effisha_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

}  // namespace

Figure kernels(const std::vector<KernelCosts>& costs, const ScheduleRun& scaled) {
  Figure figure{"table3", "Table 3: kernels alone on the K40 (tables 1 and 2 name machine and benchmarks)", {}, {}, {}, {}};
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
  figure.published = "Eleven SHOC kernels, 1.17 to 28.4 ms; K40m, CUDA 7.0.";
  figure.measured = fmt::format(
      "Full size within {} of the table, to which it is fitted; as scheduled, at a share of the cycles, "
      "within {}.",
      share_text(worst), share_text(worst_scaled));
  return figure;
}

Figure block_tasks(const std::vector<KernelCosts>& costs) {
  Figure figure{"3", "Length of a block-task", {}, {}, {}, {}};
  for (const KernelCosts& kernel : costs) {
    figure.data[kernel.kernel] = kernel.task_ms;
  }
  figure.published = "All block-tasks are shorter than 0.8 ms.";
  figure.measured = fmt::format(
      "Mean length with all SMs full: at most {:.2f} ms, the kernels' mean {:.3f} ms (fitted to what "
      "section 8.4 says of the latencies).",
      most(costs, [](const KernelCosts& k) { return k.task_ms; }), mean(costs, [](const KernelCosts& k) { return k.task_ms; }));
  return figure;
}

Figure evictions(const std::vector<Evictions>& waits) {
  Figure figure{"9", "Evictions by priority (fake executor)", {}, {}, {}, {}};
  std::vector<std::string> totals;
  for (const Evictions& wait : waits) {
    std::uint64_t total = 0;
    for (const std::uint64_t evictions : wait.by_priority) total += evictions;
    totals.push_back(fmt::format("{} at {:g} ms", total, wait.wait_ms));
    figure.data[fmt::format("{:g}", wait.wait_ms)] = wait.by_priority;
  }
  figure.published = "Fewer evictions with higher priority, and with longer waits; no numbers in the text.";
  figure.measured = fmt::format("11,000 launches under piv: {}.", fmt::join(totals, ", "));
  return figure;
}

double basic_by_reads(const KernelCosts& kernel, double reads_per_us) {
  const double reads = kernel.by[kBasic].host_reads * kWarpSize * kernel.ctas;  // of a block-task on every CTA
  return reads / reads_per_us / (1e3 * kernel.task_ms);
}

Figure transformation_overhead(const std::vector<KernelCosts>& costs, double reads_per_us) {
  Figure figure{"10", "Overhead of preemptible kernels alone", {}, {}, {}, {}};
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
  figure.published =
      "basic: 10X in the mean, up to 97X; with the proxy 15 %, Stencil2D over 100 %; with all 4 %, Stencil2D and Triad 8 %.";
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
  Figure figure{"13", "Preemption latency: from the order to the last CTA's end", {}, {}, {}, {}};
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
  figure.published = "0.08 ms in the mean, MD 0.4 ms; BFS, FFT, NeuralNet and Triad below 0.015 ms.";
  figure.measured = fmt::format("Mean of the kernels: {}.", fmt::join(said, ", "));
  return figure;
}

Figure software_and_hardware(const std::vector<KernelCosts>& costs) {
  Figure figure{"flavours", "What preemption costs in software, and what the partition unit makes of it", {}, {}, {}, {}};
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
  figure.published = "No paper has this comparison.";
  const auto overhead = [&](std::size_t m) {
    return fmt::format("{:.3g}", mean(costs, [&](const KernelCosts& k) { return columns[0].value(k, m); }));
  };
  figure.measured = fmt::format("Hardware {} {}, adaptive software {} {}.", overhead(kHardware), "% overhead",
                                overhead(kAdaptive), "% overhead");
  return figure;
}

}  // namespace sluice::effisha
