// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace sluice::gpu {

/// Rebuilds every table, JSON file and plot from the measurements (*.jsonl) in `folder`, prints the tables, and writes
/// pairs.json, triples.json, overhead.json, preemption.json, curves.json, verify.json and index.html there,
/// each if its measurements exist.
/// @return 0, or 1 when a result does not hold (a quota violation, a difference in an output)
/// @throws InputError when the folder holds no measurements, or a file is not what it should be
int write_report(const std::filesystem::path& folder, bool json);

}  // namespace sluice::gpu
