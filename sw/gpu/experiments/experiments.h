// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sw/gpu/jobs/gpu_session.h"

namespace sluice::gpu {

struct ExperimentOptions {
  std::filesystem::path out;  ///< folder of the raw results, NAME.jsonl in it
  unsigned repetitions = 5;
  std::vector<std::string> apps;      ///< empty: the experiment's own choice
  std::map<std::string, double> phi;  ///< equation 3's phi_mem of each application, from a profile of it alone; 0 where absent
  std::filesystem::path profiles;     ///< that page: Kernelet's model is made from it
  double window = 10e-3;              ///< seconds of a measurement
  unsigned plans = 1000;              ///< random plans that Kernelet is compared with
  std::filesystem::path scenarios = "configs/scenarios";  ///< folder of the papers' scenarios
  std::string program;                                    ///< path of this program, for clients
  nlohmann::json on;                                      ///< GPU, driver, clocks, date, commit: goes into every line
};

// One experiment a file; each appends to OUT/NAME.jsonl what is not there yet, and prints progress.
void verify_experiment(GpuSession& session, const ExperimentOptions& options);  ///< results, exactly-once, placement
void sizes_experiment(GpuSession& session,
                      const ExperimentOptions& options);  ///< grids that last as long as the papers' launches
void user_kernels_experiment(GpuSession& session, const ExperimentOptions& options);  ///< what users' kernels do, bit by bit
void gate_experiment(GpuSession& session, const ExperimentOptions& options);  ///< what the gate decides, and whether it is right
void curves_experiment(GpuSession& session, const ExperimentOptions& options);       ///< (a) performance against CTAs per SM
void overhead_experiment(GpuSession& session, const ExperimentOptions& options);     ///< (e) transformed against untransformed
void preemption_experiment(GpuSession& session, const ExperimentOptions& options);   ///< (f) evict order to all CTAs gone
void repartition_experiment(GpuSession& session, const ExperimentOptions& options);  ///< (g) a kernel arrives, a kernel ends
void pairs_experiment(GpuSession& session, const ExperimentOptions& options);        ///< (b), (c)
void triples_experiment(GpuSession& session, const ExperimentOptions& options);      ///< (d)
/// What a program's stream may wait with for a launch whose blocks another grid does: latency, cost, and what it blocks.
void completion_experiment(GpuSession& session, const ExperimentOptions& options);
/// What a form costs that is made for any shape of launch.
void forms_experiment(GpuSession& session, const ExperimentOptions& options);
/// How long an order takes beside a program's copies.
void orders_experiment(GpuSession& session, const ExperimentOptions& options);
/// (c) where each kernel of a pair has SMs of its own: every split that the hardware makes, and which is best
void ranges_experiment(GpuSession& session, const ExperimentOptions& options);
/// (c) under MPS: needs no GpuSession, its clients are processes of their own. @param program  path of this program
void mps_experiment(const std::string& program, const ExperimentOptions& options);
/// What one MPS client does: takes orders from standard input, one a line ("run APP SECONDS"), answers on standard output.
int mps_client(const std::vector<std::string>& apps);

// EffiSha's evaluation (results/h200/effisha/README.md).
void effisha_overhead_experiment(GpuSession& session, const ExperimentOptions& options);  ///< figure 10: the pushed flag
void effisha_flags_experiment(GpuSession& session, const ExperimentOptions& options);     ///< figure 10: the paper's own flags
void effisha_service_experiment(GpuSession& session, const ExperimentOptions& options);   ///< figures 14, 15 through the service
void effisha_service_latency_experiment(GpuSession& session,
                                        const ExperimentOptions& options);                  ///< figure 13 through the service
void effisha_pkm_experiment(GpuSession& session, const ExperimentOptions& options);         ///< figures 10, 11: slices
void effisha_latency_experiment(GpuSession& session, const ExperimentOptions& options);     ///< figure 13
void effisha_schedules_experiment(GpuSession& session, const ExperimentOptions& options);   ///< figures 12, 14, 15
void effisha_processes_experiment(GpuSession& session, const ExperimentOptions& options);   ///< their default: processes, MPS
void effisha_priorities_experiment(GpuSession& session, const ExperimentOptions& options);  ///< figure 9
// SiM's evaluation.
void sim_curves_experiment(GpuSession& session, const ExperimentOptions& options);  ///< times over CTAs: what `adaptive` knows
void sim_rates_experiment(GpuSession& session, const ExperimentOptions& options);   ///< rates of pairs: what replays know
void sim_pairs_experiment(GpuSession& session, const ExperimentOptions& options);   ///< figures 10, 11
void sim_pt_experiment(GpuSession& session, const ExperimentOptions& options);      ///< the same under the paper's baseline

// Slate's evaluation.
void slate_alone_experiment(GpuSession& session, const ExperimentOptions& options);      ///< table III; Kernelet's kernels too
void slate_tasks_experiment(GpuSession& session, const ExperimentOptions& options);      ///< figure 5: sizes of tasks
void slate_service_experiment(GpuSession& session, const ExperimentOptions& options);    ///< what the service adds to each alone
void slate_ranges_experiment(GpuSession& session, const ExperimentOptions& options);     ///< what `slate_measured` knows
void slate_resize_experiment(GpuSession& session, const ExperimentOptions& options);     ///< ranges that move
void slate_pairs_experiment(GpuSession& session, const ExperimentOptions& options);      ///< figure 7
void slate_processes_experiment(GpuSession& session, const ExperimentOptions& options);  ///< the same as processes, and under MPS

void sim_processes_experiment(GpuSession& session, const ExperimentOptions& options);  ///< the pairs under MPS
void sim_equal_experiment(GpuSession& session, const ExperimentOptions& options);      ///< table II's ten, all 15 ms: 45 pairs

// Kernelet's evaluation.
void kernelet_slices_experiment(GpuSession& session, const ExperimentOptions& options);  ///< what slices cost by their length
void kernelet_pairs_experiment(GpuSession& session, const ExperimentOptions& options);   ///< rates of every pair at every ratio
void kernelet_copies_experiment(GpuSession& session, const ExperimentOptions& options);  ///< figure 8: copies beside kernels
void kernelet_queues_experiment(GpuSession& session, const ExperimentOptions& options);  ///< figures 6, 7: CI, MI, MIX, ALL

// All five systems on the pairs of table II's ten kernels, with equal work.
void five_rates_experiment(GpuSession& session, const ExperimentOptions& options);  ///< what the schedulers know beforehand
void five_service_experiment(GpuSession& session,
                             const ExperimentOptions& options);                   ///< the pairs as processes, under the service
void five_own_experiment(GpuSession& session, const ExperimentOptions& options);  ///< without Sluice: what the GPU offers itself
void five_pairs_experiment(GpuSession& session, const ExperimentOptions& options);    ///< turnarounds under each, and under MPS
void five_printed_experiment(GpuSession& session, const ExperimentOptions& options);  ///< Kernelet and Slate as printed

/// Unordered choices of `size` names, in order.
[[nodiscard]] std::vector<std::vector<std::string>> choose(const std::vector<std::string>& names, std::size_t size);
[[nodiscard]] std::string mix_name(const std::vector<std::string>& names);

}  // namespace sluice::gpu
