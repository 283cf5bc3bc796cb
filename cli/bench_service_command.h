// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/commands.h"

namespace sluice::cli {

/// Adds `bench service` under `bench`.
void add_bench_service_command(CLI::App& bench, Action& action);

}  // namespace sluice::cli
