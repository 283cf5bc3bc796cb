// SPDX-License-Identifier: Apache-2.0
// sluice verify waterfill, adaptive: a greedy allocation against exhaustive search on random cases. sluice verify markov:
// properties of Kernelet's model.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.h"
#include "sw/partition/markov_study.h"
#include "sw/partition/waterfill_study.h"

namespace sluice::cli {

namespace {

constexpr std::uint64_t kMaxCases = 1000000000;

nlohmann::ordered_json to_json(const Shortfall& shortfall) {
  return {{"cases", shortfall.cases}, {"mean", shortfall.mean()}, {"max", shortfall.max}};
}

nlohmann::ordered_json to_json(const StudyTally& tally) {
  return {{"drawn", tally.drawn},
          {"infeasible", tally.infeasible},
          {"contended", tally.contended},
          {"disagree_fit", tally.disagree_fit},
          {"minimum_shortfall", to_json(tally.minimum)},
          {"total_shortfall", to_json(tally.total)},
          {"first_mismatch", tally.first_mismatch ? nlohmann::ordered_json(*tally.first_mismatch) : nlohmann::ordered_json()}};
}

/// A greedy allocation against exhaustive search.
struct Study {
  const char *name, *help, *method, *goal_differs, *sum_differs;
  decltype(study_waterfill)* run;
};
constexpr Study kStudies[] = {
    {"waterfill", "water-filling against exhaustive search on random curves and resources; exit code 1 when it is not optimal",
     "Water-filling", "minimum performance differs", "minimum equal, sum of performances lower", study_waterfill},
    {"adaptive",
     "SiM's allocation over remaining times against exhaustive search; exit code 1 when the longest is not the shortest possible",
     "Allocation by remaining time", "longest remaining time differs", "longest equal, sum of times higher",
     study_remaining_time}};

void print_json(const StudyConfig& config, const StudyResult& result) {
  const nlohmann::ordered_json json = {{"cases", config.cases},
                                       {"seed", config.seed},
                                       {"max_kernels", config.max_kernels},
                                       {"max_ctas", config.max_ctas},
                                       {"epsilon", config.epsilon},
                                       {"concave", to_json(result.concave)},
                                       {"arbitrary", to_json(result.arbitrary)}};
  fmt::print("{}\n", json.dump());
}

void print_table(const Study& study, const StudyConfig& config, const StudyResult& result) {
  fmt::print("{} against exhaustive search: seed {}, up to {} kernels, up to {} CTAs, epsilon {}\n\n", study.method, config.seed,
             config.max_kernels, config.max_ctas, config.epsilon);
  fmt::print("{:<44}{:>12}{:>12}\n", "", "concave", "arbitrary");
  const auto row = [&](const char* what, const auto& of) {
    fmt::print("{:<44}{:>12}{:>12}\n", what, of(result.concave), of(result.arbitrary));
  };
  const auto number = [](double value) { return value == 0 ? std::string("0") : fmt::format("{:.4f}", value); };
  row("random cases", [](const StudyTally& t) { return t.drawn; });
  row("  one CTA of each does not fit", [](const StudyTally& t) { return t.infeasible; });
  row("  not every kernel can have its best", [](const StudyTally& t) { return t.contended; });
  row("disagree whether anything fits", [](const StudyTally& t) { return t.disagree_fit; });
  row(study.goal_differs, [](const StudyTally& t) { return t.minimum.cases; });
  row("  mean shortfall there", [&](const StudyTally& t) { return number(t.minimum.mean()); });
  row("  largest", [&](const StudyTally& t) { return number(t.minimum.max); });
  row(study.sum_differs, [](const StudyTally& t) { return t.total.cases; });
  row("  mean shortfall there", [&](const StudyTally& t) { return number(t.total.mean()); });
  row("  largest", [&](const StudyTally& t) { return number(t.total.max); });
  for (const auto& [name, tally] : {std::pair("concave", &result.concave), std::pair("arbitrary", &result.arbitrary)}) {
    if (tally->first_mismatch) fmt::print("\nfirst difference ({}): {}\n", name, *tally->first_mismatch);
  }
}

/// A percentage that overwrites itself on a terminal, a line every tenth elsewhere.
class Percent {
 public:
  Percent(const char* of, std::uint64_t total) : of_(of), total_(total) {}
  void operator()(std::uint64_t done) {
    const std::uint64_t percent = done * 100 / total_;
    if (percent == shown_) return;
    shown_ = percent;
    if (isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\rverify {}: {} %{}", of_, percent, percent == 100 ? "\n" : "");
    } else if (percent % 10 == 0) {
      fmt::print(stderr, "verify {}: {} %\n", of_, percent);
    }
  }

 private:
  const char* of_;
  std::uint64_t total_, shown_ = 0;
};

int verify_study(const Study& study, const StudyConfig& config, bool json) {
  Percent percent(study.name, 2 * config.cases);
  const StudyResult result = study.run(config, [&](std::uint64_t done) { percent(done); });
  percent(2 * config.cases);
  json ? print_json(config, result) : print_table(study, config, result);
  // A saturation threshold gives performance away on purpose: only the papers' rules are bound to reach the optimum.
  const bool optimal = result.concave.mismatches() == 0 && result.arbitrary.mismatches() == 0;
  return optimal || config.epsilon > 0 ? 0 : 1;
}

/// Options of a study. @return its configuration
std::shared_ptr<StudyConfig> add_study_options(CLI::App* study, bool& json) {
  auto config = std::make_shared<StudyConfig>();
  constexpr std::uint32_t kMaxKernels = 4, kMaxCtas = 32;  // more takes the exhaustive search hours
  study->add_option("--cases", config->cases, "random cases of each family: concave and arbitrary curves")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, kMaxCases));
  study->add_option("--seed", config->seed, "equal seeds draw equal cases")->capture_default_str();
  study->add_option("--max-kernels", config->max_kernels, "kernels of a case: 1 to this")
      ->capture_default_str()
      ->check(CLI::Range(1U, kMaxKernels));
  study->add_option("--max-ctas", config->max_ctas, "length of a curve and CTA slots of an SM: 1 to this")
      ->capture_default_str()
      ->check(CLI::Range(1U, kMaxCtas));
  study->add_flag("--json", json, "result as JSON on standard output");
  return config;
}

int verify_markov(std::uint64_t cases, std::uint64_t seed, bool json) {
  Percent percent("markov", cases);
  const MarkovStudy study = study_markov(cases, seed, [&](std::uint64_t done) { percent(done); });
  percent(cases);
  if (json) {
    nlohmann::ordered_json properties = nlohmann::ordered_json::array();
    for (const MarkovStudy::Property& p : study.properties)
      properties.push_back({{"name", p.name}, {"tolerance", p.tolerance}, {"worst", p.worst}, {"violations", p.violations}});
    const nlohmann::ordered_json result = {
        {"cases", study.pairs},
        {"seed", seed},
        {"violations", study.violations()},
        {"properties", properties},
        {"first_violation", study.first_violation ? nlohmann::ordered_json(*study.first_violation) : nlohmann::ordered_json()}};
    fmt::print("{}\n", result.dump());
  } else {
    fmt::print("Kernelet's model over {} random pairs of kernels, seed {}\n\n{:<68}{:>10}{:>10}{:>11}\n", study.pairs, seed, "",
               "largest", "allowed", "violations");
    for (const MarkovStudy::Property& p : study.properties)
      fmt::print("{:<68}{:>10.1e}{:>10.0e}{:>11}\n", p.name, p.worst, p.tolerance, p.violations);
    if (study.first_violation) fmt::print("\nfirst violation: {}\n", *study.first_violation);
  }
  return study.violations() == 0 ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* verify = app.add_subcommand("verify", "check an algorithm against an independent one");
  verify->require_subcommand(1);
  for (const Study& study : kStudies) {
    CLI::App* command = verify->add_subcommand(study.name, study.help);
    const auto json = std::make_shared<bool>(false);
    const auto config = add_study_options(command, *json);
    if (study.run == study_waterfill)
      command->add_option("--epsilon", config->epsilon, "saturation threshold of water-filling, of a kernel's best")
          ->capture_default_str()
          ->check(CLI::Range(0.0, 1.0));
    command->callback(
        [&study, config, json, &action] { action = [&study, config, json] { return verify_study(study, *config, *json); }; });
  }
  CLI::App* markov = verify->add_subcommand(
      "markov", "properties of Kernelet's performance model on random pairs of kernels; exit code 1 when one is violated");
  struct MarkovOptions {
    std::uint64_t cases = 10000, seed = 1;
    bool json = false;
  };
  auto options = std::make_shared<MarkovOptions>();
  markov->add_option("--cases", options->cases, "random pairs")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, kMaxCases));
  markov->add_option("--seed", options->seed, "equal seeds draw equal pairs")->capture_default_str();
  markov->add_flag("--json", options->json, "result as JSON on standard output");
  markov->callback(
      [options, &action] { action = [options] { return verify_markov(options->cases, options->seed, options->json); }; });
}

}  // namespace sluice::cli
