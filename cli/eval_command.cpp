// SPDX-License-Identifier: Apache-2.0
#include <sluice_provenance.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <numeric>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/evaluation.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/names.h"
#include "sw/policy/registry.h"
#include "sw/report/eval_results.h"
#include "sw/report/eval_tables.h"
#include "sw/report/summary.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct EvalOptions : CommonOptions {
  std::string pairs = "all", policies = "left_over,fcfs,even,spatial,warped_slicer,solo_curve", oracle_pairs, out, seeds;
  std::uint64_t curve_window = 0;  ///< 0: half of the window
  [[nodiscard]] std::uint64_t curve_cycles() const {
    return curve_window == 0 ? std::max<std::uint64_t>(window / 2, 1) : curve_window;
  }
  std::string command_line;
};

/// "3": seeds 1, 2, 3; "4,7": those. The first is that of the runs reported in full.
std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  for (const std::string& item : split_list(text)) {
    if (item.empty() || item.size() > 9 || item.find_first_not_of("0123456789") != std::string::npos || std::stoul(item) == 0)
      throw InputError(fmt::format("--seeds {}: must be a number of seeds, or a list such as 1,4,7", text));
    seeds.push_back(std::stoul(item));
  }
  if (seeds.empty()) throw InputError("--seeds: none given");
  if (seeds.size() > 1) {
    for (std::size_t i = 0; i < seeds.size(); ++i)
      if (std::count(seeds.begin(), seeds.end(), seeds[i]) > 1)
        throw InputError(fmt::format("--seeds {}: seed {} twice", text, seeds[i]));
    return seeds;
  }
  if (seeds.front() > 1000) throw InputError(fmt::format("--seeds {}: at most 1000", text));
  std::vector<std::uint64_t> all(seeds.front());
  std::iota(all.begin(), all.end(), std::uint64_t{1});
  return all;
}

/// Every policy but the Oracle again, with other seeds.
void repeat(EvaluationPlan plan, const std::vector<std::uint64_t>& seeds, EvalResults& results) {
  results.seeds = seed_runs(plan.seed, results);
  std::erase_if(results.seeds, [](const SeedRun& run) { return run.policy == kOracle; });
  std::erase(plan.policies, kOracle);
  plan.oracle_pairs.clear();
  if (plan.policies.empty()) return;
  for (const std::uint64_t seed : seeds) {
    if (seed == seeds.front()) continue;
    plan.seed = seed;
    for (SeedRun& run : seed_runs(seed, evaluate(plan).results)) results.seeds.push_back(std::move(run));
  }
}

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

int run(const EvalOptions& options) {
  EvaluationPlan plan;
  plan.machine = read_machine(options.machine_file);
  plan.machine_text = machine_text(options.machine_file);
  plan.workload = read_workload(options.workload_file);
  set_balance(options.balance, plan.machine, plan.workload.kernels);
  plan.machine_text += options.balance;
  plan.mixes = options.pairs;
  plan.policies = split_list(options.policies);
  plan.oracle_pairs = split_list(options.oracle_pairs);
  plan.window = options.window;
  plan.oracle_window = options.oracle_window;
  plan.curve_window = options.curve_cycles();
  const std::vector<std::uint64_t> seeds = options.seeds.empty() ? std::vector{options.seed} : parse_seeds(options.seeds);
  plan.seed = seeds.front();
  plan.partitioner = options.kind();
  plan.jobs = options.jobs;
  check_output(options.out);
  plan.store = std::filesystem::path(options.out) / "runs.sqlite";
  EvalResults results = evaluate(plan).results;
  if (seeds.size() > 1) repeat(plan, seeds, results);
  results.meta = {{"version", SLUICE_VERSION},
                  {"commit", SLUICE_COMMIT},
                  {"machine", plan.machine.name},
                  {"workload", std::filesystem::path(options.workload_file).stem().string()},
                  {"window_cycles", options.window},
                  {"curve_window_cycles", options.curve_cycles()},
                  {"seed", plan.seed},
                  {"partitioner", options.partitioner},
                  {"policies", split_list(options.policies)},
                  {"command", options.command_line},
                  {"date", timestamp()}};
  if (host_totals().reused == 0) {  // what the whole evaluation cost, where this command made all of it
    results.meta["host_cpu_seconds"] = host_totals().cpu_seconds;
    results.meta["host_peak_rss_mib"] = host_totals().peak_rss_mib;
  }
  const std::filesystem::path out(options.out);
  write_file_atomically(out / "results.json", results_text(results));
  write_file_atomically(out / "results.csv", runs_table(results).csv());
  write_file_atomically(out / "index.html", report::html(eval_page(results)));
  if (options.json) {
    fmt::print("{}", results_text(results));
  } else {
    fmt::print("{}\n{} runs ({} kept from before), {:.0f} CPU s, peak memory of one run {:.0f} MiB\nreport: {}\n",
               terminal_report(results), host_totals().runs, host_totals().reused, host_totals().cpu_seconds,
               host_totals().peak_rss_mib, (out / "index.html").string());
  }
  return 0;
}

}  // namespace

void add_eval_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand(
      "eval", "Warped-Slicer's evaluation: each kernel alone, then mixes until all reach their own instruction counts");
  options->add_files(*command);
  options->add_balance(*command);
  options->add_run(*command);
  options->add_oracle(*command);
  options->add_jobs(*command);
  options->add_json(*command);
  command
      ->add_option(
          "--pairs", options->pairs,
          "all (the paper's 30), compute_triples (its three-kernel mixes), triples (those with two compute kernels), all_triples "
          "(two compute kernels, all that fit), or A_B,A_C_D,...")
      ->capture_default_str();
  command->add_option("--policies", options->policies, "of " + policy_names())->capture_default_str();
  command->add_option("--oracle-pairs", options->oracle_pairs, "run the Oracle on these mixes only");
  command
      ->add_option("--curve-window", options->curve_window,
                   "cycles of each point of the curves over CTA counts, on which solo_curve decides; default half of --window")
      ->check(CLI::Range(1000, 1000000000));
  command
      ->add_option("--seeds", options->seeds,
                   "a number of seeds, or a list: every policy but the Oracle is repeated with each, and the spread is printed")
      ->excludes(command->get_option("--seed"));
  command
      ->add_option("--out", options->out, "folder of results.json, results.csv, index.html; finished runs in it are not repeated")
      ->required();
  command->callback([options, &action] {
    options->command_line = fmt::format(
        "sluice eval --machine {} --workload {} --pairs {} --policies {}{}{} --partitioner {} --window {} --curve-window {} "
        "{}{}",
        options->machine_file, options->workload_file, options->pairs, options->policies,
        options->oracle_pairs.empty() ? "" : " --oracle-pairs " + options->oracle_pairs,
        options->oracle_window == 0 ? "" : fmt::format(" --oracle-window {}", options->oracle_window), options->partitioner,
        options->window, options->curve_cycles(),
        options->seeds.empty() ? fmt::format("--seed {}", options->seed) : "--seeds " + options->seeds,
        options->balance.empty() ? "" : " --balance " + options->balance);
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
