// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "sw/driver/i_device.h"

namespace sluice {

/// Lossless text form of a result: what a simulation process hands to its parent, and what a resumable evaluation keeps.
void to_json(nlohmann::json& json, const RunResult& result);
/// @throws nlohmann::json::exception on anything `to_json` did not write
void from_json(const nlohmann::json& json, RunResult& result);

}  // namespace sluice
