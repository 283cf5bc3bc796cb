// SPDX-License-Identifier: Apache-2.0
// sluice sweep: machines x parameters x seeds x mixes x policies, here or over the nodes of a Slurm cluster.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "study/evaluation.h"
#include "study/run_cache.h"
#include "study/run_specs.h"
#include "study/sweep_file.h"
#include "sw/io/atomic_file.h"
#include "sw/io/csv_reader.h"
#include "sw/report/eval_results.h"
#include "sw/report/summary.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  std::string file, out;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  std::optional<std::size_t> task;
  bool slurm = false, collect = false, json = false;
};

fs::path task_file(const fs::path& out, std::size_t task) { return out / "tasks" / fmt::format("{:06}.json", task); }

EvaluationPlan plan_of(const Sweep& sweep, std::size_t index) {
  const Sweep::Task task = sweep.task(index);
  EvaluationPlan plan;
  plan.machine = sweep.machines[task.machine].config;
  plan.machine_text = without_energy(sweep.machines[task.machine].text);
  plan.workload = sweep.workload;
  plan.mixes = sweep.mixes[task.mix];
  plan.policies = sweep.policies;
  plan.window = sweep.window;
  plan.curve_window = 0;
  plan.seed = sweep.seeds[task.seed];
  plan.partitioner = sweep.partitioner == "rtl" ? PartitionerKind::Rtl : PartitionerKind::Twin;
  return plan;
}

/// What the results of a task depend on: a description that was edited has other tasks under the same numbers.
std::string key_of_task(const EvaluationPlan& plan) {
  return key_of(fmt::format("{}\n{}\n{}\n{}\nwindow {}\nseed {}\n{}", plan.machine_text, format_workload(plan.workload, ""),
                            plan.mixes, fmt::join(plan.policies, ","), plan.window, plan.seed, to_string(plan.partitioner)),
                plan.partitioner);
}

/// One task: its mix under every policy. What is finished already is not run again.
void run_task(const Sweep& sweep, std::size_t index, const fs::path& out, unsigned jobs) {
  const Sweep::Task task = sweep.task(index);
  EvaluationPlan plan = plan_of(sweep, index);
  plan.jobs = jobs;
  plan.runs_folder = out / "runs" / fmt::format("m{}-s{}", task.machine, plan.seed);
  EvalResults results = evaluate(plan).results;
  results.meta = {
      {"machine", sweep.machines[task.machine].label}, {"seed", plan.seed}, {"task", index}, {"key", key_of_task(plan)}};
  make_folder(out / "tasks");
  write_file_atomically(task_file(out, index), results_text(results));
}

/// Every finished task as lines of one table. @return tasks that are missing
std::vector<std::size_t> collect(const Sweep& sweep, const fs::path& out, std::string& csv) {
  csv = "machine,seed,mix,policy,cycles,ipc,normalized_ipc,stp,antt,min_speedup,partition\n";
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < sweep.tasks(); ++i) {
    if (!fs::exists(task_file(out, i))) {
      missing.push_back(i);
      continue;
    }
    const EvalResults results = read_results(task_file(out, i));
    if (results.meta.value("key", "") != key_of_task(plan_of(sweep, i))) {
      missing.push_back(i);
      continue;
    }
    for (const EvalRun& run : results.runs) {
      csv +=
          format_csv({sweep.machines[sweep.task(i).machine].label, fmt::format("{}", sweep.seeds[sweep.task(i).seed]),
                      mix_name(run.kernels), run.policy, fmt::format("{}", run.cycles), fmt::format("{:.4f}", run.ipc),
                      fmt::format("{:.5f}", run.normalized_ipc), fmt::format("{:.5f}", run.stp), fmt::format("{:.5f}", run.antt),
                      fmt::format("{:.5f}", run.min_speedup), partition_label(run.partition)});
    }
  }
  return missing;
}

/// A job array whose jobs share the output folder: submit it with sbatch.
std::string slurm_script(const Sweep& sweep, const SweepOptions& options) {
  const std::string file = fs::absolute(options.file).string(), out = fs::absolute(options.out).string();
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  return fmt::format(
      "#!/bin/sh\n#SBATCH --job-name=sluice-{}\n#SBATCH --array=0-{}\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n"
      "#SBATCH --output={}/slurm-%A_%a.log\n"
      "# {} tasks; afterwards: '{}' sweep '{}' --out '{}' --collect\n"
      "exec '{}' sweep '{}' --out '{}' --task \"$SLURM_ARRAY_TASK_ID\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\"\n",
      sweep.name, sweep.tasks() - 1, out, sweep.tasks(), self, file, out, self, file, out);
}

int run(const SweepOptions& options) {
  const Sweep sweep = read_sweep(options.file);
  const fs::path out(options.out);
  check_output(out);
  if (options.slurm) {
    fmt::print("{}", slurm_script(sweep, options));
    return 0;
  }
  if (options.task) {
    if (*options.task >= sweep.tasks())
      throw InputError(fmt::format("--task {}: must be 0..{}", *options.task, sweep.tasks() - 1));
    run_task(sweep, *options.task, out, options.jobs);
    return 0;
  }
  for (std::size_t i = 0; !options.collect && i < sweep.tasks(); ++i) check_evaluation(plan_of(sweep, i));
  for (std::size_t i = 0; !options.collect && i < sweep.tasks(); ++i) run_task(sweep, i, out, options.jobs);
  std::string csv;
  const std::vector<std::size_t> missing = collect(sweep, out, csv);
  write_file_atomically(out / "results.csv", csv);
  if (options.json) {
    fmt::print("{}\n",
               nlohmann::json{
                   {"name", sweep.name}, {"tasks", sweep.tasks()}, {"missing", missing}, {"csv", (out / "results.csv").string()}}
                   .dump());
  } else {
    fmt::print("{}: {} of {} tasks finished; {}\n", sweep.name, sweep.tasks() - missing.size(), sweep.tasks(),
               (out / "results.csv").string());
    if (!missing.empty()) fmt::print("missing: {}\n", fmt::join(missing, ","));
  }
  return missing.empty() ? 0 : 1;
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Machines x parameters x seeds x mixes x policies, here or as a Slurm job array");
  command->add_option("file", options->file, "sweep description (TOML), e.g. configs/sweeps/profile_length.toml")->required();
  command->add_option("--out", options->out,
                      "folder of the results, finished tasks in it are not repeated; default: out/ and the name of FILE");
  command->add_option("--jobs", options->jobs, "simulations at a time")->capture_default_str()->check(CLI::Range(1, 1024));
  command->add_option("--task", options->task, "run this task only (what a job of an array does)");
  command->add_flag("--slurm", options->slurm, "print a Slurm batch script of all tasks instead of running them");
  command->add_flag("--collect", options->collect,
                    "only gather finished tasks into results.csv; exit code 1 when some are missing");
  command->add_flag("--json", options->json, "summary as JSON on standard output");
  command->callback([options, &action] {
    if (options->out.empty()) options->out = (fs::path("out") / fs::path(options->file).stem()).string();
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
