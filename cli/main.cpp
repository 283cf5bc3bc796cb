// SPDX-License-Identifier: Apache-2.0
// The `sluice` command: parses, runs the chosen action, and is the one place where exceptions end.
// Exit codes: kExitCodes.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cli/commands.h"
#include "sw/core/errors.h"

namespace {

/// One line, as for every other error, with the command whose help says more.
std::string usage_error(const CLI::App* app, const CLI::Error& e) {
  std::string command = "sluice";
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  return fmt::format("error: {}; see `{} --help`\n", e.what(), command);
}

constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 a check fails; 2 bad input; 3 the system refuses (disk, memory, processes, GPU), or an internal "
    "error;\n"
    "130 interrupted.";

int run(int argc, char** argv) {
  std::signal(SIGXFSZ, [](int) {});  // a file that grows too large is its writer's error; what is started has the default again
  spdlog::set_default_logger(spdlog::stderr_color_mt("sluice"));  // standard output is for results
  spdlog::set_pattern("%^%l%$: %v");
  CLI::App app{
      "Sluice: a hardware model of a GPU SM resource partitioner.\n"
      "Decides how many CTAs of each concurrent kernel live on each SM, and shows what that does."};
  app.require_subcommand(1);
  app.failure_message(usage_error);
  app.set_version_flag("--version", SLUICE_VERSION);
  sluice::cli::Action action;
  sluice::cli::add_partition_command(app, action);
  sluice::cli::add_workload_command(app, action);
  sluice::cli::add_sim_command(app, action);
  sluice::cli::add_schedule_command(app, action);
  sluice::cli::add_eval_command(app, action);
  sluice::cli::add_trace_command(app, action);
  sluice::cli::add_bench_command(app, action);
  sluice::cli::add_sweep_command(app, action);
  sluice::cli::add_calibrate_command(app, action);
  sluice::cli::add_import_command(app, action);
  sluice::cli::add_report_command(app, action);
  sluice::cli::add_serve_command(app, action);
  sluice::cli::add_run_command(app, action);
  sluice::cli::add_gpu_command(app, action);
  app.footer(kExitCodes);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    const int code = action ? action() : 0;
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) sluice::throw_errno("standard output", errno == 0 ? EIO : errno);
    return code;
  } catch (const std::exception& e) {  // one line, nothing half-written
    const sluice::ErrorKind kind = sluice::kind_of(e);
    const char* what = dynamic_cast<const std::bad_alloc*>(&e) != nullptr ? "out of memory" : e.what();
    if (kind == sluice::ErrorKind::Interrupted) {
      spdlog::warn("{}", what);
    } else {
      spdlog::error("{}{}", kind == sluice::ErrorKind::Defect ? "internal error: " : "", what);
    }
    return sluice::exit_code(kind);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (...) {  // the logger itself could not be set up
    std::fputs("sluice: out of resources\n", stderr);
    return sluice::exit_code(sluice::ErrorKind::System);
  }
}
