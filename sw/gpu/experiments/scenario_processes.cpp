// SPDX-License-Identifier: Apache-2.0
// Scenarios as separate processes, as a user starts them: under the service, or beside it.
#include <fmt/format.h>

#include "sw/gpu/experiments/scenario_runs.h"

namespace sluice::gpu {

namespace {

std::int64_t nanoseconds() {  // CLOCK_MONOTONIC: one clock for all processes
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

ScenarioProcesses::ScenarioProcesses(const std::string& program, const GpuScenario& scenario, const SharingService* service) {
  constexpr std::size_t kSpinners = 4;  // more of them, beside the programs' own threads, want more cores than there are
  for (std::size_t k = 0; k < scenario.all.size(); ++k) {
    const std::size_t job = scenario.all[k].job;
    names_.push_back(scenario.scenario.jobs[job].name);
    std::optional<std::vector<std::string>> run;
    if (service != nullptr) {
      run = {"--require-service", "--socket=" + service->socket(), "--name=" + names_.back(),
             fmt::format("--priority={}", scenario.all[k].priority)};
      if (scenario.all.size() < kSpinners) run->emplace_back("--spin");
    }
    clients_.push_back(start_kernels(program, names_.back(), of_app(scenario.apps[job], scenario.sizes[job]), run,
                                     reports_.path() / fmt::format("report{}", k)));
  }
  for (const auto& client : clients_) static_cast<void>(client->receive());  // it is ready
  static_cast<void>(this->run(scenario));
}

std::vector<nlohmann::json> ScenarioProcesses::ask(const std::set<std::string>& jobs,
                                                   const std::function<std::string(std::size_t)>& order) {
  std::vector<nlohmann::json> answers;
  const auto wanted = [&](std::size_t k) { return jobs.empty() || jobs.contains(names_[k]); };
  for (std::size_t k = 0; k < clients_.size(); ++k)
    if (wanted(k)) clients_[k]->send(order(k));
  for (std::size_t k = 0; k < clients_.size(); ++k)
    if (wanted(k)) {
      answers.push_back(clients_[k]->receive());
      answers.back()["launch"] = k;
    }
  return answers;
}

std::vector<double> ScenarioProcesses::repeat(const std::set<std::string>& jobs, unsigned launches) {
  std::vector<double> ms;
  for (const nlohmann::json& answer : ask(jobs, [&](std::size_t) { return fmt::format("repeat {}", launches); }))
    ms.push_back(answer["ms"]);
  return ms;
}

void ScenarioProcesses::poison() {
  static_cast<void>(ask({}, [](std::size_t) { return "poison 0"; }));
}

std::vector<std::vector<std::uint64_t>> ScenarioProcesses::fingerprints() {
  std::vector<std::vector<std::uint64_t>> all;
  for (const nlohmann::json& answer : ask({}, [](std::size_t) { return "fingerprints 0"; }))
    all.push_back(answer["fingerprints"][0]);
  return all;
}

ScenarioProcesses::Launches ScenarioProcesses::end() {
  Launches all;
  for (const auto& client : clients_) {
    const nlohmann::json said = client->end();
    if (said.is_null()) continue;
    const auto launches = [&](const char* way) {
      return said["kernels"].value(way, nlohmann::json::object()).value("launches", std::uint64_t{0});
    };
    all.quota += launches("quota");
    all.native += launches("native");
    all.violations += said["quota_violations"].is_null() ? 0 : said["quota_violations"].get<std::uint64_t>();
    if (said.contains("service")) all.evictions.push_back(said["service"]["evictions"]);
  }
  return all;
}

GpuRun ScenarioProcesses::run(const GpuScenario& scenario, const std::set<std::string>& jobs) {
  constexpr std::int64_t kLead = 20'000'000;  // until all have heard
  const std::int64_t start = nanoseconds() + kLead;
  const auto at = [&](std::size_t k) { return fmt::format("at {}", start + scenario.all[k].arrival.count() / 1000); };
  GpuRun run;
  for (const nlohmann::json& answer : ask(jobs, at)) {
    const ScenarioLaunch& launch = scenario.all[answer["launch"].get<std::size_t>()];
    run.jobs.push_back({{"name", scenario.scenario.jobs[launch.job].name},
                        {"priority", launch.priority},
                        {"arrived_ms", static_cast<double>(launch.arrival.count()) * 1e-9},
                        {"launched_ms", static_cast<double>(answer["launched"].get<std::int64_t>() - start) * 1e-6},
                        {"ended_ms", static_cast<double>(answer["ended"].get<std::int64_t>() - start) * 1e-6}});
  }
  return run;
}

}  // namespace sluice::gpu
