// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sw/report/eval_results.h"

namespace sluice {

/// The runs of one seed in short: for `EvalResults::seeds`.
[[nodiscard]] std::vector<SeedRun> seed_runs(std::uint64_t seed, const EvalResults& results);

struct Spread {
  double min = 0, median = 0, max = 0;  ///< not a number without a known value
};
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// One mix over the seeds.
struct MixSpread {
  std::vector<std::string> kernels;
  std::vector<std::pair<std::string, Spread>> ipc;           ///< by policy
  std::vector<std::pair<Partition, std::size_t>> decisions;  ///< of Warped-Slicer, and in how many seeds; most often first
  std::size_t judged = 0, agreeing = 0;                      ///< seeds with solo curves; of them within one CTA
};

/// One seed over the mixes.
struct SeedSummary {
  std::uint64_t seed = 0;
  std::size_t judged = 0, agreeing = 0;            ///< mixes
  double over_left_over = 0, over_solo_curve = 0;  ///< Warped-Slicer, geometric means; not a number where not run
};

[[nodiscard]] std::vector<MixSpread> mix_spreads(const EvalResults& results);
[[nodiscard]] std::vector<SeedSummary> seed_summaries(const EvalResults& results);

/// Tables for the terminal; empty without seeds.
[[nodiscard]] std::string seed_report(const EvalResults& results);

/// The object `spread` of results.json.
[[nodiscard]] nlohmann::ordered_json spread_json(const EvalResults& results);

}  // namespace sluice
