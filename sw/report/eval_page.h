// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/report/eval_results.h"
#include "sw/report/page.h"

namespace sluice {

/// The page of an evaluation: what Warped-Slicer gains, every mix under every policy, fairness, counters and the kernels alone.
/// What the results do not hold is left out.
[[nodiscard]] report::Page eval_page(const EvalResults& results);

}  // namespace sluice
