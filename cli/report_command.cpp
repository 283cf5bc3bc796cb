// SPDX-License-Identifier: Apache-2.0
// sluice report: rebuilds results.csv and index.html from results.json, and prints the table.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "sw/io/atomic_file.h"
#include "sw/report/csv_writer.h"
#include "sw/report/html_report.h"
#include "sw/report/results_json.h"
#include "sw/report/terminal_table.h"

namespace sluice::cli {

namespace {

struct Options {
  std::string path;
  bool json = false;
};

int run(const Options& options) {
  std::filesystem::path file(options.path);
  if (std::filesystem::is_directory(file)) file /= "results.json";
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const EvalResults results = read_results(file);
  write_file_atomically(folder / "results.csv", csv_text(results));
  write_file_atomically(folder / "index.html", html_report(results));
  if (options.json)
    fmt::print("{}", results_text(results));
  else
    fmt::print("{}\nreport: {}\n", terminal_report(results), (folder / "index.html").string());
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "report", "Rebuild the table, results.csv and index.html of an evaluation; `report figures`: the paper's figures");
  command->add_option("path", options->path, "folder of an evaluation, or its results.json");
  command->add_flag("--json", options->json, "print the results, with a fresh summary, instead of the table");
  add_figures_command(*command, action);
  add_report_five_command(*command, action);
  add_report_sim_command(*command, action);
  add_report_slate_command(*command, action);
  add_report_kernelet_command(*command, action);
  add_report_effisha_command(*command, action);
  command->require_subcommand(0, 1);
  command->final_callback([options, command, &action] {
    if (!command->get_subcommands().empty()) return;
    if (options->path.empty()) throw CLI::RequiredError("path");
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
