// SPDX-License-Identifier: Apache-2.0
// sluice sweep: machines x parameters x seeds x mixes x policies, here or over the nodes of a Slurm cluster.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/run_cache.h"
#include "study/sweep_run.h"
#include "sw/io/atomic_file.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostJobs = 1000;  // of an array: Slurm as it comes takes one more

struct SweepOptions {
  std::string file, out, store, tasks;
  std::vector<fs::path> machines;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool slurm = false, collect = false, json = false;
};

/// As a shell takes it for one word.
std::string quoted(std::string text) {
  for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4)) text.replace(at, 1, "'\\''");
  return '\'' + text + '\'';
}

/// A job array whose jobs share the store's folder: submit it with sbatch.
std::string slurm_script(const Sweep& sweep, const SweepOptions& options) {
  const std::string out = fs::absolute(options.out).string();
  std::string sweeps =
      fmt::format("{} sweep {} --out {} --store {}", quoted(fs::read_symlink("/proc/self/exe").string()),
                  quoted(fs::absolute(options.file).string()), quoted(out), quoted(fs::absolute(options.store).string()));
  for (const fs::path& machine : options.machines) sweeps += " --machine " + quoted(fs::absolute(machine).string());
  const std::size_t each = (sweep.tasks() + kMostJobs - 1) / kMostJobs;
  return fmt::format(
      "#!/bin/sh\n#SBATCH --job-name=\"sluice-{}\"\n#SBATCH --array=0-{}\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n"
      "#SBATCH --output=\"{}/slurm-%A_%a.log\"\n# {} tasks; afterwards: {} --collect\nfirst=$((SLURM_ARRAY_TASK_ID * {}))\n"
      "exec {} --task \"$first-$((first + {}))\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\"\n",
      sweep.name, (sweep.tasks() - 1) / each, out, sweep.tasks(), sweeps, each, sweeps, each - 1);
}

/// "7" or "0-99", which may end behind the last. @throws InputError
std::pair<std::size_t, std::size_t> parse_tasks(const std::string& text, std::size_t tasks) {
  const std::size_t dash = text.find('-');
  const auto number = [&](const std::string& digits) {
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
      throw InputError(fmt::format("--task {}: must be a task or a range of some, e.g. 7 or 0-99", text));
    return std::stoul(digits);
  };
  const std::size_t first = number(text.substr(0, dash)),
                    last = dash == std::string::npos ? first : number(text.substr(dash + 1));
  if (first >= tasks || last < first) throw InputError(fmt::format("--task {}: must be in 0..{}", text, tasks - 1));
  return {first, std::min(last, tasks - 1)};
}

int run(const SweepOptions& options) {
  const Sweep sweep = read_sweep(options.file, options.machines);
  const fs::path out(options.out);
  check_output(out);
  if (!options.collect) check_sweep(sweep);
  if (options.slurm) {
    fmt::print("{}", slurm_script(sweep, options));
    return 0;
  }
  if (!options.tasks.empty()) {
    const auto [first, last] = parse_tasks(options.tasks, sweep.tasks());
    RunStore store(options.store, RunStore::Role::Helper);
    const SweepOutcome outcome = run_sweep(sweep, first, last, store, options.jobs, nullptr);
    if (outcome.failed == 0) return 0;
    throw CheckFailed(fmt::format("{} points failed: {}", outcome.failed, outcome.error));
  }
  RunStore store(options.store);
  const SweepOutcome outcome =
      run_sweep(sweep, 0, sweep.tasks() - 1, store, options.collect ? 0 : options.jobs, &store.database());
  write_file_atomically(out / "results.csv", sweep_csv(store.database(), sweep));
  write_file_atomically(out / "index.html", report::html(sweep_page(store.database(), sweep.name)));
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"name", sweep.name},
                                      {"tasks", sweep.tasks()},
                                      {"missing", outcome.missing},
                                      {"failed", outcome.failed},
                                      {"csv", (out / "results.csv").string()}}
                           .dump());
  } else {
    fmt::print("{}: {} of {} tasks finished; {}\n{} runs ({} kept from before), {:.0f} CPU s\nreport: {}\n", sweep.name,
               sweep.tasks() - outcome.missing.size(), sweep.tasks(), (out / "results.csv").string(), host_totals().runs,
               host_totals().reused, host_totals().cpu_seconds, (out / "index.html").string());
    if (!outcome.missing.empty()) fmt::print("missing: {}\n", fmt::join(outcome.missing, ","));
    if (outcome.failed > 0) fmt::print("{} points failed, the first with: {}\n", outcome.failed, outcome.error);
  }
  return outcome.missing.empty() && outcome.failed == 0 ? 0 : 1;
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Machines x parameters x seeds x mixes x policies, here or as a Slurm job array");
  command->add_option("file", options->file, "sweep description (TOML), e.g. configs/sweeps/profile_length.toml")->required();
  command->add_option("--machine", options->machines, "a machine description (TOML) in place of FILE's; may come again")
      ->allow_extra_args(false);
  command->add_option("--out", options->out, "folder of results.csv and index.html; default: out/ and the name of FILE");
  command->add_option("--store", options->store,
                      "file of finished runs, which are not repeated; sweeps may share it; default: runs.sqlite in the folder");
  command->add_option("--jobs", options->jobs, "simulations at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  command->add_option("--task", options->tasks,
                      "run a task or a range of some, as 0-99, and leave the runs for --collect (what a job of an array does)");
  command->add_flag("--slurm", options->slurm, "print a Slurm batch script of all tasks instead of running them");
  command->add_flag("--collect", options->collect,
                    "run nothing: gather what jobs of an array left; exit code 1 when tasks are missing");
  command->add_flag("--json", options->json, "summary as JSON on standard output");
  command->callback([options, &action] {
    if (options->out.empty()) options->out = (fs::path("out") / fs::path(options->file).stem()).string();
    if (options->store.empty()) options->store = (fs::path(options->out) / "runs.sqlite").string();
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
