// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/commands.h"

namespace sluice::cli {

/// Adds `bench rtl` under `bench`.
void add_bench_rtl_command(CLI::App& bench, Action& action);

}  // namespace sluice::cli
