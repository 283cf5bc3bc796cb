// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/report/eval_results.h"
#include "sw/report/page.h"
#include "sw/report/table.h"

namespace sluice {

// An evaluation as tables: the same ones on the terminal, on the page and in results.csv.

/// IPC over Left-Over of every mix under every policy, the partition that Warped-Slicer chose, and means.
[[nodiscard]] report::Table mixes_table(const EvalResults& results);
/// What Warped-Slicer gains over the others, by category, beside the published gains where the mixes are pairs.
[[nodiscard]] report::Table gains_table(const EvalResults& results);
/// CTAs per SM of each kernel under every policy that gives counts.
[[nodiscard]] report::Table partitions_table(const EvalResults& results);
/// Means of caches, memory, power and energy by policy.
[[nodiscard]] report::Table memory_table(const EvalResults& results);
/// Smallest and largest figure of the SMs of a run, under Warped-Slicer where it ran.
[[nodiscard]] report::Table sms_table(const EvalResults& results);
/// Each kernel alone, beside the workload's reference figures.
[[nodiscard]] report::Table kernels_table(const EvalResults& results);
/// A line a run, with every figure: the contents of results.csv.
[[nodiscard]] report::Table runs_table(const EvalResults& results);
/// The runs of a results.csv; what it does not hold (counters, curves, samples) is missing.
/// @throws InputError naming the file and what is wrong
[[nodiscard]] EvalResults results_from_csv(const std::string& text, const std::string& source);

/// What `sluice eval` and `sluice report` print.
[[nodiscard]] std::string terminal_report(const EvalResults& results);

/// Arithmetic mean of a figure over the runs of a policy.
template <class Figure>
double policy_mean(const EvalResults& results, std::string_view policy, Figure figure) {
  double sum = 0;
  std::size_t n = 0;
  for (const EvalRun& run : results.runs) {
    const double value = run.policy == policy ? figure(run) : std::numeric_limits<double>::quiet_NaN();
    if (value == value) sum += value, ++n;  // NOLINT(misc-redundant-expression): not a number
  }
  return n == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(n);
}

/// The page of an evaluation: what Warped-Slicer gains, every mix under every policy, fairness, counters and the kernels alone.
/// What the results do not hold is left out.
[[nodiscard]] report::Page eval_page(const EvalResults& results);

}  // namespace sluice
