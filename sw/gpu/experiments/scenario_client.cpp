// SPDX-License-Identifier: Apache-2.0
// Scenarios as separate processes, as a user starts them: under the service, or beside it.
#include <fmt/format.h>

#include <iostream>

#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

namespace {

std::int64_t nanoseconds() {  // CLOCK_MONOTONIC: one clock for all processes
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<std::string> client_words(const std::string& program, const std::string& app, const AppSize& size) {
  return {program,
          "gpu",
          "scenario-client",
          "--app=" + app,
          fmt::format("--blocks={}", size.blocks),
          fmt::format("--passes={}", size.passes)};
}

ScenarioProcesses::ScenarioProcesses(const std::string& program, const GpuScenario& scenario, const SharingService* service) {
  constexpr std::size_t kSpinners = 4;  // more of them, beside the programs' own threads, want more cores than there are
  if (service != nullptr) folder_ = std::filesystem::path(service->socket()).parent_path();
  for (std::size_t k = 0; k < scenario.all.size(); ++k) {
    const std::size_t job = scenario.all[k].job;
    names_.push_back(scenario.scenario.jobs[job].name);
    std::vector<std::string> environment, words;
    if (service != nullptr) {
      // What our own driver has set (cuda/driver.cpp) is not what users have.
      environment = {"-u",
                     "CUDA_DEVICE_MAX_CONNECTIONS",
                     "-u",
                     "CUDA_MODULE_LOADING",
                     "SLUICE_REPORT=" + report(k).string(),
                     "SLUICE_COMPILE_WAIT_MS=10000"};
      words = {program,
               "run",
               "--require-service",
               "--socket=" + service->socket(),
               "--name=" + names_.back(),
               fmt::format("--priority={}", scenario.all[k].priority)};
      if (scenario.all.size() < kSpinners) words.emplace_back("--spin");
      words.emplace_back("--");
    }
    for (const std::string& word : client_words(program, scenario.apps[job], scenario.sizes[job])) words.push_back(word);
    clients_.push_back(std::make_unique<Client>(names_.back(), words, environment));
  }
  for (const auto& client : clients_) static_cast<void>(client->receive());  // it is ready
  static_cast<void>(run(scenario));
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
    all.push_back(answer["fingerprints"]);
  return all;
}

ScenarioProcesses::Launches ScenarioProcesses::end() {
  Launches all;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    clients_[k]->end();
    if (folder_.empty()) continue;
    const nlohmann::json said = nlohmann::json::parse(read_file(report(k)));
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

int scenario_client(const std::string& app, const AppSize& size) {
  GpuSession session(0, false);  // untransformed kernels, beside other processes that do the same
  const PreparedKernel& kernel = session.app(app, size);
  const StreamHandle stream = make_stream();
  static_cast<void>(native_seconds(kernel, stream.get()));  // loads its code
  std::cout << nlohmann::json{{"app", app}}.dump() << std::endl;
  const auto launch = [&] {
    kernel.launch_native(stream.get());
    check(driver().cuStreamSynchronize(stream.get()), app + " failed on the GPU");
  };
  std::int64_t number = 0;
  for (std::string order; std::cin >> order >> number;) {
    nlohmann::json answer = nlohmann::json::object();
    if (order == "at") {
      while (nanoseconds() < number) {
      }
      answer["launched"] = nanoseconds();
      launch();
      answer["ended"] = nanoseconds();
    } else if (order == "repeat") {
      const Clock::time_point start = Clock::now();
      for (; number > 0; --number) launch();
      answer["ms"] = seconds(Clock::now() - start) * 1e3;
    } else if (order == "poison") {
      kernel.poison_outputs();
    } else {
      answer["fingerprints"] = kernel.fingerprints();
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace sluice::gpu
