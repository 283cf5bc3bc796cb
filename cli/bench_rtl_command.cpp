// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "study/rtl_benchmark/rtl_benchmark.h"

namespace sluice::cli {

namespace {

struct BenchRtlOptions {
  std::uint64_t cycles = 20000, profiles = 100000, seed = 20161;
  unsigned decisions = 300;
  bool json = false;
};

struct Figures {
  std::vector<std::pair<std::uint32_t, DispatchRate>> dispatch;  ///< by NUM_SM
  std::vector<DecisionTimes> decisions;
  FixedPointCost fixed_point;

  [[nodiscard]] unsigned first_dispatch() const {
    unsigned worst = 0;
    for (const auto& [sms, rate] : dispatch) worst = std::max(worst, rate.first_dispatch);
    return worst;
  }
};

/// What the hardware promises and these figures break; empty when nothing.
std::vector<std::string> broken(const Figures& f) {
  std::vector<std::string> lines;
  for (const auto& [sms, rate] : f.dispatch) {
    if (rate.per_cycle < 1) lines.push_back(fmt::format("{} SMs: {:.6f} CTAs a cycle, promised: 1", sms, rate.per_cycle));
  }
  if (f.first_dispatch() > 3) lines.push_back(fmt::format("first dispatch after {} cycles, promised: 3", f.first_dispatch()));
  for (const DecisionTimes& t : f.decisions) {
    if (t.decision > t.decision_bound()) {
      lines.push_back(fmt::format("K = {}, N = {}: a decision takes {} cycles, promised: {}", t.kernels, t.levels, t.decision,
                                  t.decision_bound()));
    }
  }
  if (f.fixed_point.entry_max_error > kEntryErrorBound) {
    lines.push_back(fmt::format("an entry's error is {:.6f}, promised: {}", f.fixed_point.entry_max_error, kEntryErrorBound));
  }
  if (f.fixed_point.changed_pct() >= 0.5)
    lines.push_back(
        fmt::format("fixed point changes {:.3f} % of the partitions, promised: under 0.5 %", f.fixed_point.changed_pct()));
  if (f.fixed_point.changed_by_more > f.fixed_point.most_by_more()) {
    lines.push_back(fmt::format("fixed point changes {} partitions by more than one CTA, promised: {}",
                                f.fixed_point.changed_by_more, f.fixed_point.most_by_more()));
  }
  return lines;
}

void print(const Figures& f, bool json) {
  if (json) {
    nlohmann::json out = {{"first_dispatch_cycles", f.first_dispatch()},
                          {"entry_max_error", f.fixed_point.entry_max_error},
                          {"fixed_point_changed_pct", f.fixed_point.changed_pct()}};
    for (const auto& [sms, rate] : f.dispatch) out["dispatch_per_cycle"][std::to_string(sms)] = rate.per_cycle;
    for (const DecisionTimes& t : f.decisions) {
      const std::string size = fmt::format("{},{}", t.kernels, t.levels);
      out["waterfill_cycles"][size] = t.waterfill;
      out["decision_cycles"][size] = t.decision;
    }
    fmt::print("{}\n", out.dump());
    return;
  }
  for (const auto& [sms, rate] : f.dispatch) {
    fmt::print("{:>4} SMs   {:.6f} CTAs a cycle, first dispatch after {} cycles\n", sms, rate.per_cycle, rate.first_dispatch);
  }
  fmt::print("{:<16} {:>14} {:>14} {:>9}\n", "kernels, levels", "water-filling", "decision", "at most");
  for (const DecisionTimes& t : f.decisions) {
    fmt::print("{:<16} {:>14} {:>14} {:>9}\n", fmt::format("{}, {}", t.kernels, t.levels), t.waterfill, t.decision,
               t.decision_bound());
  }
  fmt::print(
      "fixed point: {} of {} partitions differ from double precision ({:.4f} %), {} of them in the loss guard's verdict, {} by "
      "more "
      "than one CTA; an entry is off by {:.6f} of its value at most\n",
      f.fixed_point.changed, f.fixed_point.decisions, f.fixed_point.changed_pct(), f.fixed_point.changed_verdict,
      f.fixed_point.changed_by_more, f.fixed_point.entry_max_error);
}

int run(const BenchRtlOptions& options) {
  Figures figures;
  for (const std::uint32_t sms : {16U, 132U})
    figures.dispatch.emplace_back(sms, measure_dispatch(sms, options.cycles, options.seed));
  figures.decisions = decision_models().measure(options.decisions, options.seed);
  const auto core = decision_models().make_core(false);
  figures.fixed_point = measure_fixed_point(*core, options.profiles, options.seed);
  print(figures, options.json);
  const std::vector<std::string> lines = broken(figures);
  for (const std::string& line : lines) fmt::print(stderr, "{}\n", line);
  return lines.empty() ? 0 : 1;
}

}  // namespace

void add_bench_rtl_command(CLI::App& bench, Action& action) {
  auto options = std::make_shared<BenchRtlOptions>();
  CLI::App* command = bench.add_subcommand(
      "rtl", "Cycles that the partition unit's RTL takes, and what fixed point costs; exit code 1 when it breaks a promise");
  command->add_option("--cycles", options->cycles, "cycles of dispatch that are counted, in each of three modes")
      ->capture_default_str()
      ->check(CLI::Range(100, 1000000000));
  command->add_option("--decisions", options->decisions, "decisions timed at each size")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  command->add_option("--profiles", options->profiles, "random profiles decided in fixed point and in double precision")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000000));
  command->add_option("--seed", options->seed, "of everything random")->capture_default_str();
  command->add_flag("--json", options->json, "result as JSON on standard output");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sluice::cli
