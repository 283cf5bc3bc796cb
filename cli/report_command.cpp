// SPDX-License-Identifier: Apache-2.0
// sluice report: rebuilds summaries and pages from what was measured; `report update` those of every folder of results/.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "study/gpu_lines.h"
#include "study/sweep_run.h"
#include "sw/core/errors.h"
#include "sw/gpu/report/gpu_report.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"
#include "sw/report/eval_results.h"
#include "sw/report/eval_tables.h"
#include "sw/report/views.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

/// Utilisation and stalls of the same runs, from a table.
void add_counters(EvalResults& results, const EvalResults& table) {
  for (EvalRun& run : results.runs) {
    const auto same = std::ranges::find_if(
        table.runs, [&](const EvalRun& other) { return other.kernels == run.kernels && other.policy == run.policy; });
    if (same == table.runs.end()) continue;
    run.utilization = same->utilization;
    run.stalls = same->stalls;
  }
}

/// Summaries and page of one folder, from the rawest that it holds. @return false when it holds nothing to rebuild
bool rebuild(const fs::path& folder) {
  const auto has = [&](const char* name) { return has_packed(folder / name); };
  const auto json = [&](const char* name) { return nlohmann::ordered_json::parse(read_packed(folder / name)); };
  if (has("sweep_gscl45nm.json")) {
    write_file_atomically(folder / "index.html",
                          report::html(figures::synth_page({json("standard_gscl45nm.json"), json("standard_sluice45.json")},
                                                           json("sweep_gscl45nm.json"))));
    return true;
  }
  if (!has("index.html")) return false;
  if (has("machine.json")) {  // of a GPU
    if (!gpu::write_paper_page(folder)) gpu::write_report(folder, false);
    return true;
  }
  if (has("results.json") || has("results.csv")) {
    EvalResults results;
    if (has("results.json")) {
      results = read_results(folder / "results.json");
      const bool whole = std::ranges::any_of(results.runs, [](const EvalRun& run) { return !run.sms.empty(); });
      if (whole || !has("results.csv"))
        write_file_atomically(folder / "results.csv", runs_table(results).csv());
      else  // a results.json without its counters: what it lacks is in the table
        add_counters(results, results_from_csv(read_file(folder / "results.csv"), (folder / "results.csv").string()));
    } else {
      results = results_from_csv(read_file(folder / "results.csv"), (folder / "results.csv").string());
      if (has("meta.json")) results.meta = json("meta.json");
    }
    write_file_atomically(folder / "index.html", report::html(eval_page(results)));
    return true;
  }
  if (!has("figures.json")) return false;
  write_file_atomically(folder / "index.html", report::html(figures::page_of(json("figures.json"))));
  return true;
}

/// Standard output goes nowhere while it lives: what rebuilding a folder prints.
class Quietly {
 public:
  Quietly() {
    std::fflush(stdout);
    kept_ = ::dup(STDOUT_FILENO);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
  }
  ~Quietly() {
    std::fflush(stdout);
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }
  Quietly(const Quietly&) = delete;
  Quietly& operator=(const Quietly&) = delete;

 private:
  int kept_;
};

std::size_t rebuild_all(const fs::path& root) {
  const Quietly quietly;
  std::size_t rebuilt = rebuild(root) ? 1 : 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
    if (entry.is_directory() && rebuild(entry.path())) ++rebuilt;
  return rebuilt;
}

/// Rebuilds a copy of the folder, and names every file that is another than the committed one.
int check(const fs::path& root) {
  const fs::path copy = fs::temp_directory_path() / fmt::format("sluice_report_{}", ::getpid());
  fs::copy(root, copy, fs::copy_options::recursive);
  const std::size_t rebuilt = rebuild_all(copy);
  std::size_t files = 0, other = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(copy)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const fs::path committed = root / fs::relative(entry.path(), copy);
    if (fs::exists(committed) && read_file(committed) == read_file(entry.path())) continue;
    ++other;
    fmt::print("{}: not what its data make of it\n", committed.string());
  }
  fs::remove_all(copy);
  fmt::print("{} folders rebuilt: {} of {} files differ\n", rebuilt, other, files);
  return other == 0 ? 0 : 1;
}

/// The answer of a store of runs to a question.
void answer(const fs::path& store, const std::string& sql, bool as_json) {
  const Database::Answer answer = Database(store, Database::Access::Read).query(sql);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string csv = fmt::format("{}\n", fmt::join(answer.columns, ","));
  for (const nlohmann::json& row : answer.rows) {
    nlohmann::ordered_json& object = all.emplace_back(nlohmann::ordered_json::object());
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[answer.columns[i]] = row[i];
      const auto* text = row[i].get_ptr<const std::string*>();
      csv += (text != nullptr    ? report::csv_field(*text)
              : row[i].is_null() ? ""
                                 : row[i].dump()) +
             (i + 1 < row.size() ? "," : "\n");
    }
  }
  fmt::print("{}", as_json ? all.dump(1) + "\n" : csv);
}

struct ReportOptions {
  std::string path, root = "results", sql, sweep;
  bool json = false, check = false;
};

int run(const ReportOptions& options) {
  fs::path file(options.path);
  const fs::path store = fs::is_directory(file) ? file / "runs.sqlite" : file;
  if (!options.sql.empty()) {
    answer(store, options.sql, options.json);
    return 0;
  }
  if (store.extension() == ".sqlite" && fs::exists(store) && !has_packed(store.parent_path() / "results.json")) {
    Database points(store, Database::Access::Read);
    if (!options.sweep.empty() && points.query("SELECT 1 FROM points WHERE sweep = ? LIMIT 1", {options.sweep}).rows.empty())
      throw InputError(fmt::format("{}: --sweep {}: has no points", store.string(), options.sweep));
    const fs::path page = fs::absolute(store).parent_path() / "index.html";
    write_file_atomically(page, report::html(sweep_page(points, options.sweep)));
    fmt::print("report: {}\n", page.string());
    return 0;
  }
  if (fs::is_directory(file) && rebuild(file) && !has_packed(file / "results.json")) {
    fmt::print("report: {}\n", (file / "index.html").string());
    return 0;
  }
  if (fs::is_directory(file)) file /= "results.json";
  const EvalResults results = read_results(file);
  if (!fs::is_directory(options.path) || !fs::exists(file.parent_path() / "index.html")) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    write_file_atomically(folder / "results.csv", runs_table(results).csv());
    write_file_atomically(folder / "index.html", report::html(eval_page(results)));
  }
  if (options.json)
    fmt::print("{}", results_text(results));
  else
    fmt::print("{}\nreport: {}\n", terminal_report(results), (file.parent_path() / "index.html").string());
  return 0;
}

int update(const ReportOptions& options) {
  if (!fs::is_directory(options.root)) throw InputError(options.root + ": no folder");
  if (options.check) return check(options.root);
  fmt::print("{} folders rebuilt\n", rebuild_all(options.root));
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "Rebuild the page and tables of a folder of results; `report figures` and others: run a paper's evaluation");
  command->add_option("path", options->path, "folder of results, an evaluation's results.json, or a store of runs (.sqlite)");
  command->add_flag("--json", options->json, "print the results, with a fresh summary, instead of the table");
  command->add_option("--sweep", options->sweep, "of a store that sweeps share: the one to show; default: that ran last");
  command->add_option("--sql", options->sql, "answer a question to the runs.sqlite of the folder as CSV (docs/user/sweeps.md)");
  CLI::App* all = command->add_subcommand("update", "Rebuild every summary and page of results/ from its raw data; needs no GPU");
  all->add_option("root", options->root, "folder of the results")->capture_default_str();
  all->add_flag("--check", options->check, "change nothing; exit code 1 when a file is not what its data make of it");
  all->callback([options, &action] { action = [options] { return update(*options); }; });
  add_report_papers(*command, action);
  command->require_subcommand(0, 1);
  command->final_callback([options, command, &action] {
    if (!command->get_subcommands().empty()) return;
    if (options->path.empty()) throw CLI::RequiredError("path");
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
