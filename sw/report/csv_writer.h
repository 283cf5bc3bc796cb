// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "sw/report/eval_results.h"

namespace sluice {

/// A field as RFC 4180 wants it: quoted when it holds a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(std::string_view text);

/// results.csv: one header line, then one line a run; columns of docs/reference/results_schema.md. Unknown numbers are empty
/// fields.
[[nodiscard]] std::string csv_text(const EvalResults& results);

}  // namespace sluice
