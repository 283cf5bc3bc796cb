#include <sluice_provenance.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "sw/cli/commands.h"
#include "sw/cli/common.h"
#include "sw/cli/run_cache.h"
#include "sw/policy/registry.h"
#include "sw/report/atomic_file.h"
#include "sw/report/csv_writer.h"
#include "sw/report/eval_results.h"
#include "sw/report/html_report.h"
#include "sw/report/results_json.h"
#include "sw/report/terminal_table.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"

namespace sluice::cli {

namespace {

struct Options : CommonOptions {
  std::string pairs = "all", policies = "left_over,fcfs,even,spatial,warped_slicer", oracle_pairs, out;
  std::uint64_t curve_window = 200000;
  std::string command_line;
};

/// Everything about one evaluation that is read once.
struct Evaluation {
  Options options;
  MachineConfig machine;
  std::string machine_text;
  std::vector<Mix> mixes;
  std::vector<KernelDescriptor> kernels;  ///< of all mixes, each once
  std::filesystem::path runs_folder;

  [[nodiscard]] std::string fingerprint(const std::vector<KernelDescriptor>& mix, const std::string& how) const {
    return fmt::format("{}\n{}\nseed {}\n{}", machine_text, format_workload({"", mix}, ""), options.seed, how);
  }
};

std::map<std::string, RunResult> run_solos(const Evaluation& e) {
  std::vector<NamedRun> runs;
  for (const KernelDescriptor& k : e.kernels) {
    runs.push_back({"solo-" + k.name, e.fingerprint({k}, fmt::format("solo {}", e.options.window)),
                    solo_spec(e.machine, k, e.options.window, e.options.seed)});
  }
  const std::vector<RunResult> results = run_all(runs, e.runs_folder, e.options.jobs, "alone");
  std::map<std::string, RunResult> by_name;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (results[i].total.warp_instructions == 0) {
      throw InputError(
          fmt::format("kernel {}: issues nothing within {} cycles: take a longer --window", e.kernels[i].name, e.options.window));
    }
    by_name[e.kernels[i].name] = results[i];
  }
  return by_name;
}

/// Figure 3a: each kernel with 1..N CTAs per SM.
std::map<std::string, std::vector<double>> run_curves(const Evaluation& e) {
  std::vector<NamedRun> runs;
  std::vector<std::string> owner;
  for (const KernelDescriptor& k : e.kernels) {
    const std::uint32_t most = occupancy(k.demand(), e.machine.sm.capacity).value();
    for (std::uint32_t n = 1; n <= most; ++n) {
      NamedRun run{fmt::format("curve-{}-{}", k.name, n),
                   e.fingerprint({k}, fmt::format("curve {} {}", n, e.options.curve_window)),
                   solo_spec(e.machine, k, e.options.curve_window, e.options.seed)};
      run.spec.machine.sm.capacity.cta_slots = n;
      runs.push_back(std::move(run));
      owner.push_back(k.name);
    }
  }
  const std::vector<RunResult> results = run_all(runs, e.runs_folder, e.options.jobs, "curves");
  std::map<std::string, std::vector<double>> curves;
  for (std::size_t i = 0; i < runs.size(); ++i) curves[owner[i]].push_back(make_solo_run({}, e.machine, results[i]).ipc);
  return curves;
}

struct Candidate {
  std::size_t mix;
  std::string policy;
  Partition partition;
};

/// Every mix under every policy; of the Oracle's candidates the one with the highest IPC.
std::vector<EvalRun> run_mixes(const Evaluation& e, const std::map<std::string, RunResult>& solos) {
  const std::vector<std::string> policies = split_list(e.options.policies);
  std::set<std::string> oracle_mixes;
  for (const std::string& name : split_list(e.options.oracle_pairs)) oracle_mixes.insert(name);
  std::vector<NamedRun> runs;
  std::vector<Candidate> candidates;
  for (std::size_t m = 0; m < e.mixes.size(); ++m) {
    const Mix& mix = e.mixes[m];
    std::vector<std::uint64_t> targets;
    for (const KernelDescriptor& k : mix.kernels) targets.push_back(solos.at(k.name).total.warp_instructions);
    for (const std::string& policy : policies) {
      if (policy == "oracle" && !oracle_mixes.empty() && !oracle_mixes.contains(mix.name())) continue;
      for (const DispatchPlan& plan : make_policy(policy)->plans(e.machine, mix.kernels)) {
        std::vector<std::uint32_t> ctas;
        for (const CtaCount c : plan.partition.ctas) ctas.push_back(c.value());
        // Policies that come to the same plan share a run; the partitioner matters only where it decides.
        const std::string how = plan.mode == DispatchMode::Dynamic
                                    ? "dynamic-" + e.options.partitioner
                                    : fmt::format("{}-{}", to_string(plan.partition.mode), fmt::join(ctas, "-"));
        const bool repartitions =
            policy == "even" && mix.kernels.size() > 2;  // Even recomputes its quotas when one of three ends
        runs.push_back({fmt::format("{}-{}{}", mix.name(), repartitions ? "even-" : "", how),
                        e.fingerprint(mix.kernels, fmt::format("{} {} {}", how, repartitions, fmt::join(targets, " "))),
                        mix_spec(e.machine, mix.kernels, plan, targets, e.options)});
        candidates.push_back({m, policy, plan.partition});
      }
    }
  }
  // Run each name once.
  std::vector<NamedRun> unique;
  std::map<std::string, std::size_t> index;
  for (const NamedRun& run : runs) {
    if (index.emplace(run.name, unique.size()).second) unique.push_back(run);
  }
  const std::vector<RunResult> results = run_all(unique, e.runs_folder, e.options.jobs, "together");

  std::vector<EvalRun> entries;
  for (std::size_t i = 0; i < candidates.size();) {
    const Mix& mix = e.mixes[candidates[i].mix];
    const std::vector<Cycles> alone(mix.kernels.size(), Cycles(e.options.window));
    std::optional<EvalRun> best;
    std::size_t end = i;
    for (; end < candidates.size() && candidates[end].mix == candidates[i].mix && candidates[end].policy == candidates[i].policy;
         ++end) {
      EvalRun run = make_eval_run(
          {mix.kernel_names(), mix.category, candidates[end].policy, e.options.partitioner, candidates[end].partition, 0},
          e.machine, results[index[runs[end].name]], alone);
      if (!best || run.ipc > best->ipc) best = std::move(run);
    }
    best->oracle_candidates = candidates[i].policy == "oracle" ? end - i : 0;
    entries.push_back(std::move(*best));
    i = end;
  }
  return entries;
}

std::string timestamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

Evaluation prepare(const Options& options) {
  Evaluation e{options, read_machine(options.machine_file), file_text(options.machine_file), {}, {}, {}};
  const Workload workload = read_workload(options.workload_file);
  e.mixes = parse_mixes(workload, e.machine, options.pairs);
  e.runs_folder = std::filesystem::path(options.out) / "runs";
  std::set<std::string> seen;
  for (const KernelDescriptor& k : workload.kernels) {
    const bool used = std::ranges::any_of(e.mixes, [&](const Mix& mix) {
      return std::ranges::find(mix.kernels, k.name, &KernelDescriptor::name) != mix.kernels.end();
    });
    if (!used || !seen.insert(k.name).second) continue;
    check_fits(e.machine, k);
    e.kernels.push_back(k);
  }
  for (const std::string& policy : split_list(options.policies)) {  // names and mixes are refused before anything runs
    if (policy == "static") throw InputError("policy static: use sluice sim --ctas a,b");
    for (const Mix& mix : e.mixes) (void)make_policy(policy)->plans(e.machine, mix.kernels);
  }
  return e;
}

int run(const Options& options) {
  const Evaluation e = prepare(options);
  check_writable(options.out);
  const auto solos = run_solos(e);
  const auto curves = run_curves(e);
  EvalResults results;
  results.runs = run_mixes(e, solos);
  normalize_to_left_over(results);
  for (const KernelDescriptor& k : e.kernels)
    results.solo.push_back(make_solo_run(k, e.machine, solos.at(k.name), curves.at(k.name)));
  results.meta = {{"version", SLUICE_VERSION},
                  {"commit", SLUICE_COMMIT},
                  {"machine", e.machine.name},
                  {"workload", std::filesystem::path(options.workload_file).stem().string()},
                  {"window_cycles", options.window},
                  {"curve_window_cycles", options.curve_window},
                  {"seed", options.seed},
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
  write_file_atomically(out / "results.csv", csv_text(results));
  write_file_atomically(out / "index.html", html_report(results));
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
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "eval", "Warped-Slicer's evaluation: each kernel alone, then mixes until all reach their own instruction counts");
  options->add_files(*command);
  options->add_run(*command);
  options->add_jobs(*command);
  options->add_json(*command);
  command->add_option("--pairs", options->pairs, "all (the paper's 30), triples, or A_B,A_C_D,...")->capture_default_str();
  command->add_option("--policies", options->policies, "of left_over, fcfs, even, spatial, warped_slicer, oracle")
      ->capture_default_str();
  command->add_option("--oracle-pairs", options->oracle_pairs, "run the Oracle on these mixes only");
  command->add_option("--curve-window", options->curve_window, "cycles of each point of the performance-against-CTAs curves")
      ->capture_default_str()
      ->check(CLI::Range(1000, 1000000000));
  command
      ->add_option("--out", options->out, "folder of results.json, results.csv, index.html; finished runs in it are not repeated")
      ->required();
  command->callback([options, &action] {
    options->command_line = fmt::format(
        "sluice eval --machine {} --workload {} --pairs {} --policies {}{} --partitioner {} --window {} --curve-window {} --seed "
        "{}",
        options->machine_file, options->workload_file, options->pairs, options->policies,
        options->oracle_pairs.empty() ? "" : " --oracle-pairs " + options->oracle_pairs, options->partitioner, options->window,
        options->curve_window, options->seed);
    action = [options] { return run(*options); };
  });
}

}  // namespace sluice::cli
