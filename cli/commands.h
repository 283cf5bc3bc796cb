// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace sluice::cli {

/// What `main` runs after parsing; set by the chosen subcommand. Returns the exit code: 0, or 1 when a result fails a check.
/// Throws what sw/core/errors.h names.
using Action = std::function<int()>;

// One function a command, one file each (cli/<name>_command.cpp). Each adds its subcommand to `app` and, when that
// subcommand is given, stores what to do in `action`.
void add_partition_command(CLI::App& app, Action& action);
void add_workload_command(CLI::App& app, Action& action);
void add_import_command(CLI::App& app, Action& action);
void add_sim_command(CLI::App& app, Action& action);
void add_schedule_command(CLI::App& app, Action& action);
void add_eval_command(CLI::App& app, Action& action);
void add_calibrate_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_trace_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_bench_rtl_command(CLI::App& bench, Action& action);  ///< under `bench`, as the next
void add_bench_service_command(CLI::App& bench, Action& action);
void add_sweep_command(CLI::App& app, Action& action);
void add_report_papers(CLI::App& report, Action& action);  ///< under `report`
void add_serve_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_gpu_command(CLI::App& app, Action& action);

}  // namespace sluice::cli
