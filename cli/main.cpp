// The `sluice` command: parses, runs the chosen action, and is the one place where exceptions end.
// Exit codes: 0, 1 (a result that fails a check), 2 (bad input).
#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <exception>
#include <string>

#include "cli/commands.h"
#include "study/run_cache.h"
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

int run(int argc, char** argv) {
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
  sluice::cli::add_sim_command(app, action);
  sluice::cli::add_eval_command(app, action);
  sluice::cli::add_trace_command(app, action);
  sluice::cli::add_bench_command(app, action);
  sluice::cli::add_sweep_command(app, action);
  sluice::cli::add_calibrate_command(app, action);
  sluice::cli::add_import_command(app, action);
  sluice::cli::add_report_command(app, action);
  sluice::cli::add_verify_command(app, action);
  sluice::cli::add_gpu_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    return action ? action() : 0;
  } catch (const sluice::Interrupted& e) {  // not an error of the input: 1, the result is not complete
    spdlog::warn("{}", e.what());
    return 1;
  } catch (const std::exception& e) {  // bad input, or what the system refused (memory, disk): one line, nothing half-written
    spdlog::error("{}", e.what());
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (...) {  // the logger itself could not be set up
    std::fputs("sluice: out of resources\n", stderr);
    return 2;
  }
}
