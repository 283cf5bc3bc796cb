// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/driver/i_device.h"
#include "sw/policy/co_schedule.h"
#include "sw/report/paper_figures.h"
#include "sw/report/paper_page.h"
#include "sw/scheduler/scenario.h"
#include "sw/scheduler/schedule_run.h"

// The evaluations of the papers on the model: what each is run with, and the figures it gives.
namespace sluice {

/// What the evaluation of every paper is run with.
struct PaperRun {
  MachineConfig machine;
  std::string machine_text;  ///< all that distinguishes the machine: part of the fingerprint of kept runs
  Workload workload;
  PartitionerKind partitioner = PartitionerKind::Twin;
  std::uint64_t seed = 1;
  unsigned jobs = 1;            ///< simulations at a time
  std::filesystem::path store;  ///< finished runs are kept in this file, and reused: run_all()
};

/// Warped-Slicer's evaluation: figures 1 to 10, the larger SM, and energy.
struct FiguresStudy : PaperRun {
  std::uint64_t window = 2000000, oracle_window = 0;    ///< as of EvaluationPlan
  std::string pairs = "all", triples = "triples";       ///< mixes
  std::filesystem::path large_machine, phase_workload;  ///< read by the figures that need them
  bool oracle = false;                                  ///< pairs and triples with the best of all partitions
  bool balance = false;                                 ///< pairs and triples under our own policy as well
  std::vector<std::string> only;                        ///< of figure_ids(); empty: all
};

[[nodiscard]] std::vector<std::string> figure_ids();

/// What several figures share is run once. @throws as evaluate() and run_all()
[[nodiscard]] std::vector<figures::Figure> figures_study(const FiguresStudy& study);

struct EffishaPlan : PaperRun {
  std::string workload_text;        ///< all that distinguishes the workload
  std::filesystem::path scenarios;  ///< folder of effisha_{group,sjf,random,fig9}.toml
  double reads_per_us = 0;          ///< of host memory, as a GPU was measured to have; 0: not known
  double time_scale = 1;            ///< share of the cycles that schedules simulate
};

/// Reads of host memory that all SMs of a GPU have a microsecond, where every thread reads: the mean of the kernels in the page
/// of results/*/effisha. @throws InputError when the file has none
[[nodiscard]] double host_reads_per_us(const std::filesystem::path& figures);

/// EffiSha's tables and figures: kernels alone under each mechanism, and schedules on the model and the fake executor.
/// @throws as measure_preemption() and ScheduleOnModel::run()
[[nodiscard]] std::vector<figures::Figure> effisha_study(const EffishaPlan& plan);

/// What being preemptible costs each job of a scenario alone, and how fast it leaves: as it is, on the partition unit, and by
/// software in three ways (EffiSha, figures 10 and 13).
///
/// A round is a task of every CTA that does tasks: one of the CTAs that the GPU holds may be a proxy. An overhead is the time of
/// some full rounds over the tasks in them, beside the same of the kernel as it is; start and end of the run count in both. The
/// kernel's own time is extrapolated from two such runs to its whole grid.
///
/// @param scenario     jobs with alone_ms, from which the number of rounds follows
/// @param keep         finished runs are kept in this file
/// @param fingerprint  text of machine and kernels
/// @throws InputError when a job has no alone_ms; Interrupted
[[nodiscard]] std::vector<effisha::KernelCosts> measure_preemption(const Scenario& scenario, const ScheduleTarget& target,
                                                                   const std::filesystem::path& keep,
                                                                   const std::string& fingerprint, std::uint64_t seed,
                                                                   unsigned jobs);

/// Every scheduler and policy on the same pairs and the same arrivals, on the GPU model. No paper makes this comparison.
struct FiveStudy : PaperRun {
  double scale = 1;                     ///< share of each kernel's grid that is run
  std::string pairs;                    ///< mixes, as for `sluice eval`
  Scenario arrivals;                    ///< jobs that come over time
  std::vector<std::string> schedulers;  ///< of five_schedulers(), in their order; `arrival` is always run
  /// Schedulers that are not run have the lines of an earlier figures.json, an object by figure; null: they have none.
  nlohmann::ordered_json kept;
};

[[nodiscard]] std::vector<std::string> five_schedulers();

/// @throws InputError when the kept figures lack a field, or `arrival` differs from theirs; otherwise as ScheduleOnModel::run()
[[nodiscard]] std::vector<figures::Figure> five_study(const FiveStudy& study);

/// The runs of SiM's evaluation on the model: each kernel alone, over CTA counts, and all pairs under its schedulers.
struct SimStudy : PaperRun {  ///< kernels of the workload have a launch_reference
  Scenario scenario;          ///< of pairs; its jobs' kernels are the workload's
};

/// Normalised to `arrival`: SiM's sequential execution. As in the paper, `adaptive` also counts where both jobs come together.
inline constexpr const char* kSimSchedulers[] = {"pt", "even", "adaptive"};

struct SimOutcome {
  std::vector<figures::SimKernel> kernels;
  std::vector<figures::SimPair> pairs;
};

/// The least time in which any schedule can do these launches of whole grids, milliseconds: with all SMs busy all the time.
///
/// An SM issues at most an instruction a scheduler and cycle. An instruction holds an ALU pipe, or the SFU, for so many cycles,
/// and a pipe takes one at a time. How many instructions the grids have, and how long they hold the pipes, is the programs' and
/// no schedule's: `runs` of any schedule have the same. So the time is at least their sum over what all SMs can do in a cycle,
/// for issue slots, for ALU pipes and for SFUs. Nothing is said of memory, where one kernel may find what another brought.
[[nodiscard]] double sim_bound(const std::vector<const RunResult*>& runs, const MachineConfig& machine);

/// @throws CheckFailed when a schedule is faster than sim_bound() allows
/// @param equal_ms  not 0: instead of the lengths of the workload, each kernel's warps have as many instructions as make it so
///                  long alone, nearly
/// @throws InputError when the scenario is not one of pairs; otherwise as ScheduleOnModel::run()
[[nodiscard]] SimOutcome run_sim(const SimStudy& study, double equal_ms = 0);

/// SiM's tables and figures.
/// @param equal_ms  0: without those of kernels of equal length. Throws as run_sim()
[[nodiscard]] std::vector<figures::Figure> sim_study(const SimStudy& study, double equal_ms);

/// What the runs of Slate's evaluation are made of.
struct SlateStudyPlan : PaperRun {  ///< the workload has the five kernels of table II, and STREAM
  Scenario pairs;                   ///< jobs named PAIR.1, PAIR.2
};

/// Runs them.
/// @return the figures in the order of the paper
/// @throws InputError when the workload lacks a kernel; otherwise as ScheduleOnModel
[[nodiscard]] std::vector<figures::Figure> slate_study(const SlateStudyPlan& plan);

// Kernelet's evaluation: pairs on the GPU model, their rates as the Markov model predicts them, and schedules with these rates.

struct KerneletRuns : PaperRun {
  std::uint64_t window = 100000;  ///< cycles of each run
};

struct KerneletMeasurements {
  CoRunTables tables;
  std::map<std::string, std::vector<double>> alone;  ///< IPC of one SM of each kernel with 1, 2, ... CTAs there, to all that fit
  std::map<std::string, std::vector<SliceOverhead>>
      slices;  ///< of 1, 2, 4, ... waves of CTAs, to the shortest that the rule takes
};

/// The paper's rule for the shortest slice: launches of 1, 2, 4, ... waves of each kernel alone, all CTAs that fit, against as
/// many waves within a longer launch. What a launch costs beside the start and the drain of its CTAs is the machine's `[host]`.
/// @return of each kernel, of rising lengths
[[nodiscard]] std::map<std::string, std::vector<SliceOverhead>> measure_slices(const KerneletRuns& runs);

/// Each kernel alone with every number of CTAs on an SM, and every two kernels at every slice ratio, on the GPU model with the
/// twin of the partition unit. `predicted` sees the runs alone only, with one CTA and with all that fit. Both tables have the
/// shortest slices of measure_slices().
/// @throws InputError when a kernel makes no progress in the window; Interrupted
[[nodiscard]] KerneletMeasurements measure_co_runs(const KerneletRuns& runs);

/// Every ratio of every pair: predicted and measured IPC of both kernels together, of the machine's peak.
[[nodiscard]] std::vector<figures::PairPoint> pair_points(const CoRunTables& tables, const MachineConfig& machine);

/// Random schedules of a scenario: makespans in seconds, in order of their seeds 1, 2, ...
/// @param jobs  threads, at least 1
[[nodiscard]] std::vector<double> monte_carlo(const Scenario& scenario, const ScheduleTarget& target, const CoRunTables& tables,
                                              unsigned schedules, unsigned jobs);

/// What pruning leaves out at other thresholds, and what it costs: FindCoSchedule once over all kernels of the table.
[[nodiscard]] std::vector<figures::PruningPoint> pruning_points(const CoRunTables& tables, const KerneletRuns& runs);

/// One of the paper's GPUs, and what was measured on its model.
struct KerneletMachine {
  figures::KerneletMachine names;
  KerneletRuns runs;
  CoRunTables tables;
  std::map<std::string, std::vector<double>> alone;
  std::map<std::string, std::vector<SliceOverhead>> slices;
};
[[nodiscard]] KerneletMachine measured(KerneletRuns runs, figures::KerneletMachine names);

struct KerneletPlan {
  std::filesystem::path scenarios;  ///< folder of kernelet_*.toml
  unsigned schedules = 1000;        ///< random ones, figure 7
  std::uint64_t seed = 1;
  unsigned jobs = 1;
};
/// Kernelet's figures 5 to 9: the rates of pairs on both machines, and schedules with them on the fake executor.
[[nodiscard]] std::vector<figures::Figure> kernelet_figures(const KerneletPlan& plan, const KerneletMachine& c2050,
                                                            const KerneletMachine& gtx680);

}  // namespace sluice
