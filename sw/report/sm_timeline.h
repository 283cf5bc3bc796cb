// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

#include "sw/report/eval_results.h"
#include "sw/report/page.h"

namespace sluice {

/// CTAs of every kernel on every SM over time, from the trace that a run left: a row an SM, as high as the CTAs that it holds.
/// @param run  names the kernels; its decisions give the phases: profile, decision, quotas
/// @param end  cycles that are shown; 0: all
/// @throws InputError when the file is no Chrome trace
[[nodiscard]] report::Timeline sm_timeline(const std::filesystem::path& trace, const EvalRun& run, std::uint64_t end = 0);

/// Beside a trace FILE.json: FILE.html with its first cycles, through profile and decision to the quotas, and the whole run; and
/// the first of these as a picture, FILE.svg.
void write_timeline_page(const std::filesystem::path& trace, const EvalRun& run, const nlohmann::ordered_json& provenance);

}  // namespace sluice
