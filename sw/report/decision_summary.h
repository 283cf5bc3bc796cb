// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sw/report/eval_results.h"

namespace sluice {

/// Decisions against those of the solo curves (the runs of policy `solo_curve`).
struct Agreement {
  std::size_t mixes = 0, same = 0;
  std::size_t within_one = 0;  ///< one CTA or less apart for every kernel; intra-SM and Spatial disagree
  std::size_t undecided = 0;   ///< of `mixes`: no decision with every kernel was reached, or one without a profile
};

/// Warped-Slicer against one other policy.
struct RatioOver {
  std::size_t mixes = 0;
  double ratio = 0;  ///< geometric mean of the IPC ratios of the mixes that both ran; not a number without one
};

/// A mix in which Warped-Slicer is below the Oracle, and what each of them chose.
struct BelowOracle {
  std::vector<std::string> kernels;
  double ratio = 0;
  Partition warped_slicer, oracle;
  const EvalRun* solo_curve = nullptr;  ///< null where it was not run
};

/// How good Warped-Slicer's decisions are: judged by what the kernels do alone, and by the best that was found.
struct DecisionSummary {
  Agreement warped_slicer;                                  ///< the last decision with every kernel
  std::vector<std::pair<std::string, Agreement>> scalings;  ///< golden, from the samples; empty without samples
  std::size_t samples = 0, clean_samples = 0;
  RatioOver over_solo_curve, over_oracle;
  std::vector<BelowOracle> worst;     ///< lowest ratio first; at most kWorstMixes
  std::vector<const EvalRun*> apart;  ///< Warped-Slicer's runs that decided more than one CTA from the solo curves
};
inline constexpr std::size_t kWorstMixes = 10;

/// @pre `results` outlives the summary
[[nodiscard]] DecisionSummary summarize_decisions(const EvalResults& results);

/// Same mode, and for intra-SM partitions no kernel more than `slack` CTAs apart.
[[nodiscard]] bool agree(const Partition& a, const Partition& b, std::uint32_t slack);

/// Fills `golden` of every decision that has samples: the golden model's water-filling and loss guard on the samples under each
/// scaling.
void add_golden_decisions(EvalResults& results, const MachineConfig& machine, std::span<const KernelDescriptor> kernels);

/// Lines for the terminal; empty when neither solo curves nor an Oracle ran beside Warped-Slicer.
[[nodiscard]] std::string decision_report(const DecisionSummary& summary);

/// The object `decisions` of results.json.
[[nodiscard]] nlohmann::ordered_json to_json(const DecisionSummary& summary);

}  // namespace sluice
