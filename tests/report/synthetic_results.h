// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/report/eval_results.h"

namespace sluice::test {

/// Invented results in the shape of a full evaluation: ten kernels, 30 pairs, six policies (the Oracle on two pairs only).
/// No figure in it means anything.
[[nodiscard]] EvalResults synthetic_results();

}  // namespace sluice::test
