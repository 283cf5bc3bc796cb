// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/core/share.h"
#include "sw/core/units.h"
#include "sw/driver/i_device.h"

namespace sluice {

/// Not a number stands for "does not apply" or "not known" in every figure below; JSON writes it as null, CSV as an empty field.
/// Fractions are 0..1. IPC counts thread instructions per core cycle of the whole GPU.

/// One kernel alone on the machine.
struct SoloRun {
  std::string kernel;
  KernelType type = KernelType::Compute;
  std::uint64_t cycles = 0;  ///< length of the run: T_alone of the instructions below
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  double ipc = 0;
  double alu_utilization = 0, sfu_utilization = 0, ldst_utilization = 0;  ///< fractions of pipeline-cycles
  double l2_mpki = 0;                                                     ///< L2 misses per thousand warp instructions
  double l1_miss_rate = 0, l2_miss_rate = 0;                              ///< misses / accesses
  std::optional<SoloReference> reference;                                 ///< published figures
  std::vector<double> curve;                                              ///< IPC with 1..N CTAs per SM; may be empty
};

/// Fractions of SM-cycles in which nothing was issued, by reason. 1 minus their sum issued something.
struct StallFractions {
  double long_memory = 0, execution_resource = 0, raw = 0, instruction_buffer = 0, barrier = 0, idle = 0;
};

/// What one kernel saw of a co-run.
struct KernelOutcome {
  std::string name;
  std::uint64_t finish_cycle = 0;  ///< T_corun: cycle its instruction target was reached; 0 = not reached
  double speedup = 0;              ///< T_alone / T_corun; not a number when the target was not reached
  KernelCounters counters;
  StallFractions stalls;  ///< of SM-cycles, by what most of this kernel's warps waited for; idle: none on that SM
};

/// Fractions of the machine in use, averaged over SMs and cycles.
struct UtilizationFractions {
  double alu = 0, sfu = 0, ldst = 0;                     ///< pipeline-cycles busy
  double registers = 0, threads = 0, shared_memory = 0;  ///< capacity held by resident CTAs
};

/// What one SM did in a run.
struct SmOutcome {
  std::uint64_t warp_instructions = 0;
  double alu_utilization = 0, sfu_utilization = 0, ldst_utilization = 0;  ///< fractions of its pipeline-cycles
  double l1_miss_rate = 0;
  StallFractions stalls;  ///< of its cycles
};

/// One decision of the partition sequencer.
struct DecisionRecord {
  std::uint64_t sampled_at = 0, decided_at = 0;  ///< core cycles
  std::vector<std::string> kernels;              ///< who took part
  std::vector<Profile> profiles;                 ///< scaled IPC of one SM with 1..N CTAs, one curve per participant
  Partition partition;
  /// What the SMs measured; `kernel` is an index into `kernels`. Empty where the device keeps none.
  std::vector<ProfileSample> samples{};
  /// What the golden model decides from the samples, by the name of the scaling: "none", "paper", "reciprocal", "ceiling",
  /// "ceiling_hull".
  std::vector<std::pair<std::string, Partition>> golden{};
  std::optional<DecisionReason> reason{};  ///< left out by older results
  BalanceReport balance{};
};

/// What makes a co-run the run it is.
struct RunIdentity {
  std::vector<std::string> kernels;  ///< in mix order
  std::string category;              ///< e.g. "compute+cache"
  std::string policy;       ///< "left_over", "fcfs", "even", "spatial", "warped_slicer", "solo_curve", "oracle", "static"
  std::string partitioner;  ///< "rtl" or "twin": what this run ran on
  Partition partition;      ///< as asked for; a decision of the sequencer replaces it
  std::size_t oracle_candidates = 0;  ///< partitions a search tried, Left-Over not counted; 0 = no search
  std::string taken_from{};           ///< policy oracle: the other policy whose run is the best; empty = a partition it tried
};

/// One kernel mix under one policy.
struct EvalRun : RunIdentity {
  std::uint64_t cycles = 0;   ///< until the last kernel reached its target
  double ipc = 0;             ///< of all kernels together
  double normalized_ipc = 0;  ///< over the left_over run of the same mix; see normalize_to_left_over
  double stp = 0;             ///< system throughput: sum of speed-ups, 0..K
  double antt = 0;            ///< average normalised turnaround time: mean of T_corun / T_alone; lower is better
  double min_speedup = 0;     ///< fairness
  std::vector<KernelOutcome> per_kernel;
  StallFractions stalls;
  UtilizationFractions utilization;
  double l1_miss_rate = 0, l2_miss_rate = 0;
  double dram_bytes_per_cycle = 0;             ///< bytes per core cycle, whole GPU
  double average_watts = 0, total_joules = 0;  ///< docs/user/machines.md, Energy
  std::vector<SmOutcome> sms;
  std::vector<DecisionRecord> decisions;
};

/// A mix under a policy with one seed, in short.
struct SeedRun {
  std::uint64_t seed = 0;
  std::vector<std::string> kernels;
  std::string policy;
  double ipc = 0, normalized_ipc = 0;
  std::optional<Partition> partition;  ///< of warped_slicer: the last decision with every kernel; empty without one
};

/// Everything an evaluation leaves behind: the contents of results.json.
struct EvalResults {
  /// Free-form: version, commit, machine, workload, window_cycles, seed, partitioner, policies, command, date, ...
  nlohmann::ordered_json meta = nlohmann::ordered_json::object();
  std::vector<SoloRun> solo;
  std::vector<EvalRun> runs;
  std::vector<SeedRun> seeds;  ///< where the policies were repeated with other seeds: those of every seed, that of `runs` too
};

[[nodiscard]] SoloRun make_solo_run(const KernelDescriptor& kernel, const MachineConfig& machine, const RunResult& result,
                                    std::vector<double> curve = {});

/// Derives the figures of a co-run. `normalized_ipc` stays "not known" until normalize_to_left_over.
/// The partition is that of the first decision in which every kernel took part, where there is one.
/// @param alone  T_alone of each kernel's target, in mix order
/// @pre alone, identity.kernels and result.kernels have the same length
[[nodiscard]] EvalRun make_eval_run(RunIdentity identity, const MachineConfig& machine, const RunResult& result,
                                    std::span<const Cycles> alone);

/// The paper's Oracle is the best of all multiprogramming approaches: where another policy's run beats every partition that was
/// tried, that run becomes the Oracle's result.
void give_oracle_the_best(EvalResults& results);

/// Fills `normalized_ipc` of every run: its IPC over that of the left_over run of the same kernels in the same order.
void normalize_to_left_over(EvalResults& results);

/// The last decision in which every kernel of the run took part; null where there is none.
[[nodiscard]] const DecisionRecord* last_joint_decision(const EvalRun& run);

/// "HOT_DXT": the mix as the paper writes it.
[[nodiscard]] std::string mix_name(std::span<const std::string> kernels);

/// For a JSON document: null where a figure is not known.
[[nodiscard]] nlohmann::ordered_json number_or_null(double value);

/// Version of the results.json schema (docs/reference/results_schema.md), written as meta.schema_version.
inline constexpr int kResultsSchemaVersion = 1;

/// The document of docs/reference/results_schema.md: meta, solo, runs, summary (computed here). Unknown numbers become null.
[[nodiscard]] nlohmann::ordered_json to_json(const EvalResults& results);

/// @param source  file name for messages
/// @throws InputError naming the source, the field and what is wrong with it
[[nodiscard]] EvalResults results_from_json(const nlohmann::ordered_json& json, const std::string& source);

/// @throws InputError when the file can't be read, is not JSON, or does not follow the schema
[[nodiscard]] EvalResults read_results(const std::filesystem::path& path);

/// Text of results.json: two spaces of indentation, arrays of numbers on one line.
[[nodiscard]] std::string results_text(const EvalResults& results);

}  // namespace sluice
