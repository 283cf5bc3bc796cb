// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
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

/// "Warped-Slicer" for "warped_slicer"; unknown names come back as they are.
[[nodiscard]] std::string policy_label(std::string_view policy);

/// A policy has the same colour in every chart of every report. @param position  decides for unknown names
[[nodiscard]] std::size_t policy_colour(const std::string& policy, std::size_t position);

/// "(3,2)", "Spatial", "Left-Over", "FCFS": a partition in a table's cell.
[[nodiscard]] std::string partition_label(const Partition& partition);

}  // namespace sluice
