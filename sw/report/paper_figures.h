// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/partition/slate_table.h"
#include "sw/report/eval_results.h"
#include "sw/report/paper_page.h"
#include "sw/scheduler/schedule_run.h"

namespace sluice::figures {

// The figures of Warped-Slicer's evaluation (ISCA 2016), each from runs of the model and beside what the paper's text or tables
// say.

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

// The tables and figures of SiM's evaluation (Adaptive Simultaneous Multi-tenancy for GPUs, section 4), each from runs of the
// model and beside what the paper's text or tables say.

/// A kernel alone.
struct SimKernel {
  KernelDescriptor kernel;         ///< with launch_reference
  LaunchReference model;           ///< the same of the model
  RunResult run;                   ///< one launch, in all CTAs that fit
  std::vector<double> times;       ///< of a launch with 1, 2, ... CTAs on every SM, any unit
  [[nodiscard]] bool low() const;  ///< issue-slot utilisation below 50 %, as the paper prints it
};

/// A pair under one scheduler: means over the orders of arrival.
struct SimShare {
  double stp = 0;              ///< normalised: the sequential span over this one
  double antt = 0;             ///< turnaround over the time alone
  double antt_sequential = 0;  ///< ANTT over that of sequential execution
  double worst_ntt = 0;        ///< of a job in any order
};
struct SimPair {
  std::string name;         ///< A_B
  bool low = false;         ///< with a kernel of low issue-slot utilisation
  double bound = 0;         ///< no schedule's STP is above: sim_bound() in study/sim_study.h
  double longer_alone = 0;  ///< STP where the span is the longer kernel alone: no bound, as a kernel may gain beside another
  std::map<std::string, SimShare> shares;  ///< by scheduler
};

[[nodiscard]] Figure sim_table2(const MachineConfig& machine);
[[nodiscard]] Figure sim_table3(const std::vector<SimKernel>& kernels, const MachineConfig& machine);
[[nodiscard]] Figure sim_spatial(const std::vector<SimKernel>& kernels, const MachineConfig& machine);  ///< figure 2
[[nodiscard]] Figure sim_units(const std::vector<SimKernel>& kernels, const MachineConfig& machine);    ///< figure 7
[[nodiscard]] Figure sim_curves(const std::vector<SimKernel>& kernels);                                 ///< figure 9
[[nodiscard]] Figure sim_example(const MachineConfig& machine);                                         ///< section 3.7, figure 6
/// Figures 10 (`low`) and 11, or the same with kernels of equal length.
[[nodiscard]] Figure sim_pairs(const std::vector<SimPair>& pairs, bool low, bool equal);
[[nodiscard]] Figure sim_antt(const std::vector<SimPair>& pairs, bool equal);

// The tables and figures of Slate's evaluation that need no GPU, each from runs of the model and beside what the paper's text or
// tables say.

/// One kernel alone. Rates are of the whole GPU.
struct SlateAlone {
  std::string name;
  std::optional<double> gflops;  ///< GFLOP/s
  double gigabytes = 0;          ///< global loads and stores, GB/s
  double warp_instructions = 0;  ///< in all
  double ipc = 0;                ///< warp instructions a cycle and SM
  double long_memory = 0;        ///< share of SM cycles without an issue, for long memory latency
  double milliseconds = 0;
  Intensity intensity;
};

/// A kernel in tasks of so many blocks.
struct SlateTasksRun {
  std::string kernel;
  std::uint32_t task_size = 1;
  SlateAlone run;
};

/// Global bytes a second of a kernel on its first 1, 2, ... SMs, GB/s; NaN where not run.
struct SlateSmCurve {
  std::string kernel;
  std::vector<double> gigabytes;
};
/// The fewest SMs that give at least 95 % of the curve's best. @pre one point at least
[[nodiscard]] std::uint32_t saturates_at(const SlateSmCurve& curve);

[[nodiscard]] Figure slate_sm_scaling(const std::vector<SlateSmCurve>& curves);                ///< figure 1
[[nodiscard]] Figure slate_policy_table();                                                     ///< table I
[[nodiscard]] Figure slate_profiles_table(const std::vector<SlateAlone>& kernels);             ///< table II
[[nodiscard]] Figure slate_gaussian_table(const SlateAlone& blocks, const SlateAlone& tasks);  ///< table III
/// Table IV: BS beside RG. @param runs  of `left_over` and `slate`, over the scenario of figure 7
[[nodiscard]] Figure slate_bs_rg_table(const std::vector<ScheduleRun>& runs, const std::vector<SlateAlone>& kernels,
                                       const MachineConfig& machine);
[[nodiscard]] Figure slate_overhead_table();                                    ///< table V
[[nodiscard]] Figure slate_task_sizes(const std::vector<SlateTasksRun>& runs);  ///< figure 5
[[nodiscard]] Figure slate_pairs_figure(const std::vector<ScheduleRun>& runs);  ///< figure 7

/// Runs of `left_over` on a machine on which every CTA takes so many cycles from its dispatch to its first instruction.
struct SlateSetUp {
  std::uint32_t cycles = 0;
  ScheduleRun left_over;
};
/// Figure 7 as if a CTA's set-up cost `left_over` more, and Slate's workers, which stay, nothing.
/// @param slate  on the machine as it is
[[nodiscard]] Figure slate_set_up_figure(const std::vector<SlateSetUp>& runs, const ScheduleRun& slate);

/// From the arrival of a pair to the end of its later job, by the pair's name; jobs are named PAIR.1 and PAIR.2.
/// @throws InputError naming a job that is not named so, or has no partner
[[nodiscard]] std::map<std::string, double> pair_makespans(const ScheduleRun& run);  ///< milliseconds

// The figures of Kernelet's evaluation (Zhong, He, IEEE TPDS 2014), each beside what the paper's text says.

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

/// What a run of the model says of one scene.
struct SceneFigures {
  double stp = 0, antt = 0, worst_ntt = 0;
  Time makespan{};
  double stalled = 0, empty = 0;  ///< shares of SM time: warps but none issued; no warp
  std::uint64_t evictions = 0;
};
[[nodiscard]] SceneFigures scene_figures(const ScheduleRun& run);

/// The same jobs under one scheduler, in scenes of their own.
struct SchedulerScenes {
  std::string scheduler, system;                             ///< whose it is: "EffiSha", "Warped-Slicer", ...
  std::vector<std::pair<std::string, SceneFigures>> scenes;  ///< by name, e.g. of the pair
};
/// From the data of a figure that schedulers_compared() made, in its order if the JSON is ordered.
/// @throws nlohmann::json::exception when a field is missing
[[nodiscard]] std::vector<SchedulerScenes> read_schedulers(const nlohmann::ordered_json& data);

/// Every scheduler on the same scenes: STP, ANTT, the worst NTT, the makespan, and SM time that issued nothing.
/// @param baseline  one of the schedulers: makespans are over its
/// @pre all ran the same scenes
[[nodiscard]] Figure schedulers_compared(std::string id, std::string title, const std::vector<SchedulerScenes>& all,
                                         const std::string& baseline);

}  // namespace sluice::figures

namespace sluice::effisha {

// Figures and tables of EffiSha's evaluation (Chen, Shen, Zhou), each beside what the paper's text prints.

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
