// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sw/core/kernel.h"
#include "sw/report/paper_page.h"

namespace sluice::gpu {

/// Kernels under quotas as the overhead experiments found them: a CTA's threads, registers and shared memory.
/// @param results  folder with overhead.jsonl and papers/overhead.jsonl
/// @return by application, without grids
[[nodiscard]] std::map<std::string, KernelDescriptor> measured_kernels(const std::filesystem::path& results);

/// Kernelet's model, which knows each kernel by its counters alone, on the pairs that the folder holds: figure 5.
/// @return empty where rates of pairs or the counters are missing
/// @throws InputError when the overhead experiments lack a kernel
[[nodiscard]] figures::Figure kernelet_prediction(const std::filesystem::path& folder, const nlohmann::json& machine);

}  // namespace sluice::gpu
