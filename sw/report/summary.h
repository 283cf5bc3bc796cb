// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sw/policy/names.h"
#include "sw/report/eval_results.h"

namespace sluice {

/// Geometric mean of the finite values; not a number when there is none, or one of them is not positive.
[[nodiscard]] double geometric_mean_of_known(std::span<const double> values);
/// Arithmetic mean of the finite values; not a number when there is none.
[[nodiscard]] double mean_of_known(std::span<const double> values);

/// One policy over the mixes of one category, or of "all".
struct PolicySummary {
  std::string policy, category;
  std::size_t mixes = 0;      ///< runs that went into the means
  double normalized_ipc = 0;  ///< geometric mean over the mixes
  double category_mean = 0;   ///< "all" only: geometric mean of the categories' means, each category counting once
  double stp = 0;             ///< arithmetic mean
  double antt = 0;            ///< arithmetic mean
  double min_speedup = 0;     ///< geometric mean
  double serial_gain = 0;     ///< geometric mean of how much sooner a mix is done than its kernels one after the other
  double fairness = 0;        ///< geometric mean of min_speedup over that of left_over, mix by mix
};

/// Speed-up of warped_slicer over another policy: geometric mean of the IPC ratios of the mixes that both ran.
struct PolicyRatio {
  std::string over, category;
  std::size_t mixes = 0;
  double ipc_ratio = 0;
};

struct Summary {
  std::vector<PolicySummary> policies;  ///< by policy, then category; "all" last
  std::vector<PolicyRatio> ratios;      ///< over left_over, even and spatial, where they ran
  bool of_pairs = true;                 ///< every mix has two kernels, as those of the published means
  [[nodiscard]] const PolicySummary* find(std::string_view policy, std::string_view category) const;
  [[nodiscard]] const PolicyRatio* find_ratio(std::string_view over, std::string_view category) const;
};

[[nodiscard]] Summary summarize(const EvalResults& results);

/// What the Warped-Slicer paper (ISCA 2016, section V) states in words: mean gain of warped_slicer over a policy, all 30 pairs of
/// its table II.
struct PublishedGain {
  std::string_view over;
  double ipc_ratio;
  double fairness_ratio;  ///< of the minimum speed-up; not a number where the text gives none
};
inline constexpr PublishedGain kPublishedGains[] = {
    {kLeftOver, 1.23, 1.26},
    {kEven, 1.14, 1.14},
    {kSpatial, 1.17, std::numeric_limits<double>::quiet_NaN()},
};

/// The results as a grid: mixes against policies. Where a mix ran twice under one policy (both partitioners, say), the first run
/// counts.
class ResultGrid {
 public:
  explicit ResultGrid(const EvalResults& results);

  struct Mix {
    std::string name, category;
    std::vector<const EvalRun*> runs;  ///< one per policy; null where it did not run
  };
  [[nodiscard]] const std::vector<std::string>& policies() const { return policies_; }  ///< known ones first, in a fixed order
  [[nodiscard]] const std::vector<std::string>& categories() const { return categories_; }  ///< the paper's three first
  [[nodiscard]] const std::vector<Mix>& mixes() const { return mixes_; }  ///< by category, then first appearance
  /// Run of `mix` under `policy`; null where there is none.
  [[nodiscard]] const EvalRun* run(const Mix& mix, std::string_view policy) const;

 private:
  std::vector<std::string> policies_, categories_;
  std::vector<Mix> mixes_;
};

/// @param category  "all": of every mix; the ratio is not a number where none ran under both
[[nodiscard]] PolicyRatio summarize_ratio(const ResultGrid& grid, std::string_view over, const std::string& category);

/// "Warped-Slicer" for "warped_slicer"; unknown names come back as they are.
[[nodiscard]] std::string policy_label(std::string_view policy);

/// A policy has the same colour in every chart of every report. @param position  decides for unknown names
[[nodiscard]] std::size_t policy_colour(const std::string& policy, std::size_t position);

/// "(3,2)", "Spatial", "Left-Over", "FCFS": a partition in a table's cell.
[[nodiscard]] std::string partition_label(const Partition& partition);

/// Decisions against those of the solo curves (the runs of policy `solo_curve`).
struct Agreement {
  std::size_t mixes = 0, same = 0;
  std::size_t within_one = 0;  ///< one CTA or less apart for every kernel; intra-SM and Spatial disagree
  std::size_t undecided = 0;   ///< of `mixes`: no decision with every kernel was reached, or one without a profile
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
  PolicyRatio over_solo_curve, over_oracle;
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
