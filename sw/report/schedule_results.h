// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "sw/scheduler/schedule_run.h"

namespace sluice {

/// What `sluice schedule --json` prints (docs/user/commands.md).
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const ScheduleRun> runs);

/// What `sluice schedule` prints: a column a run with the NTT of every job, then ANTT, STP, makespan, evictions and decisions. A
/// job with several launches has its mean NTT, and evictions are told by priority, too.
/// @pre runs of one scenario
[[nodiscard]] std::string schedule_table(std::span<const ScheduleRun> runs);

}  // namespace sluice
