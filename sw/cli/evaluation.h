#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sw/core/kernel.h"
#include "sw/core/machine.h"
#include "sw/device/i_device.h"
#include "sw/report/eval_results.h"

namespace sluice::cli {

/// What one evaluation is to run (docs/commands.md, "How the evaluation works").
struct EvaluationPlan {
  MachineConfig machine;
  std::string machine_text;  ///< all that distinguishes the machine: part of the fingerprint of kept runs
  Workload workload;
  std::string mixes = "all";
  std::vector<std::string> policies, oracle_pairs;  ///< oracle_pairs: empty = the Oracle runs on every mix
  std::uint64_t window = 2000000;
  std::uint64_t curve_window = 200000;  ///< 0: no performance-against-CTAs curves
  std::uint64_t seed = 1;
  PartitionerKind partitioner = PartitionerKind::Rtl;
  unsigned jobs = 1;
  std::filesystem::path runs_folder;  ///< finished runs are kept here, and reused
};

struct EvaluationOutcome {
  EvalResults results;  ///< without meta
  std::map<std::string, RunResult> solos;
};

/// Each kernel alone, its curve, every mix under every policy.
/// @throws InputError before anything runs when names or mixes are wrong; Interrupted
[[nodiscard]] EvaluationOutcome evaluate(const EvaluationPlan& plan);

}  // namespace sluice::cli
