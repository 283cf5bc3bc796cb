// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "study/run_cache.h"
#include "study/sweep_file.h"
#include "sw/report/page.h"

namespace sluice {

/// @throws as evaluate() before it runs anything, for every task
void check_sweep(const Sweep& sweep);

struct SweepOutcome {
  std::vector<std::size_t> missing;  ///< tasks
  std::size_t failed = 0;            ///< points
  std::string error;                 ///< of the first
};
/// Tasks first..last, a thousand at a time in memory: what the store lacks is run, each run once. A run that fails is a failed
/// point.
/// @param jobs    simulations at a time; 0 runs nothing
/// @param points  gets a row a policy of each finished task in the table `points`, in place of those that the sweep had; or null
SweepOutcome run_sweep(const Sweep& sweep, std::size_t first, std::size_t last, RunStore& store, unsigned jobs, Database* points);

/// The finished points of a sweep, in its order.
[[nodiscard]] std::string sweep_csv(Database& points, const Sweep& sweep);
/// Pareto front, a curve for each parameter, best machines, failures.
/// @param sweep  name; empty: the one that ran last
[[nodiscard]] report::Page sweep_page(Database& points, std::string sweep);

}  // namespace sluice
