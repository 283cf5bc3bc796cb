// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sw/report/paper_page.h"
#include "sw/scheduler/schedule_run.h"

// Figures and tables of EffiSha's evaluation (Chen, Shen, Zhou), each beside what the paper's text prints.
namespace sluice::effisha {

/// How a kernel is made preemptible, in the order of KernelCosts.
inline constexpr std::array<std::string_view, 4> kMechanisms = {"hardware", "basic", "proxy", "adaptive"};
inline constexpr std::size_t kHardware = 0, kBasic = 1, kProxy = 2, kAdaptive = 3;

/// A kernel alone, at its full size.
struct KernelCosts {
  struct OfMechanism {
    double overhead = 0;                             ///< time over that of the kernel as it is, less 1
    double latency_mean_ms = 0, latency_max_ms = 0;  ///< from the order to leave to the last CTA's end
    double host_reads = 0;                           ///< over PCIe, a task
  };
  std::string kernel;
  double alone_ms = 0, task_ms = 0;  ///< the kernel as it is; one block-task with all SMs full
  std::uint32_t ctas = 0;            ///< on all SMs
  std::array<OfMechanism, kMechanisms.size()> by{};
};
/// `basic` where what limits is the rate of reads over PCIe: time that they take over the kernel's own. Each lane's read is one.
/// @param reads_per_us  of all SMs together, as measured on a GPU
[[nodiscard]] double basic_by_reads(const KernelCosts& kernel, double reads_per_us);

/// A setting of priorities under every scheduler.
struct Setting {
  std::string name;  ///< "group", "sjf", "random"
  struct Row {
    ScheduleRun model, fake;  ///< fake: with the times alone of the model
    ScheduleRun drained;      ///< the fake one on one SM, where leaving takes as long as it takes the model in the mean
  };
  std::vector<Row> rows;
};

/// Evictions of figure 9.
struct Evictions {
  double wait_ms = 0;
  std::array<std::uint64_t, 9> by_priority{};  ///< 1..9
};

[[nodiscard]] figures::Figure kernels(const std::vector<KernelCosts>& costs, const ScheduleRun& scaled);
[[nodiscard]] figures::Figure block_tasks(const std::vector<KernelCosts>& costs);
[[nodiscard]] figures::Figure evictions(const std::vector<Evictions>& waits);
/// @param reads_per_us  as of basic_by_reads(); 0: not known
[[nodiscard]] figures::Figure transformation_overhead(const std::vector<KernelCosts>& costs, double reads_per_us);
[[nodiscard]] figures::Figure scheduling_overhead(const std::vector<Setting>& settings);
[[nodiscard]] figures::Figure preemption_latency(const std::vector<KernelCosts>& costs);
[[nodiscard]] figures::Figure turnaround(const std::vector<Setting>& settings);
[[nodiscard]] figures::Figure throughput(const std::vector<Setting>& settings);
/// What each mechanism costs in software, and what the partition unit makes of it.
[[nodiscard]] figures::Figure software_and_hardware(const std::vector<KernelCosts>& costs);

}  // namespace sluice::effisha
