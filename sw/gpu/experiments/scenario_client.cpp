// SPDX-License-Identifier: Apache-2.0
// Scenarios as separate processes: what a user has without Sluice, with and without MPS.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "sw/gpu/experiments/scenario_runs.h"

namespace sluice::gpu {

namespace {

std::int64_t nanoseconds() {  // CLOCK_MONOTONIC: one clock for all processes
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

ScenarioProcesses::ScenarioProcesses(const std::string& program, const GpuScenario& scenario, Clients clients) {
  std::vector<std::int32_t> sorted;
  for (const ScenarioLaunch& launch : scenario.all) sorted.push_back(launch.priority);
  std::ranges::sort(sorted);
  const std::int32_t middle = sorted[sorted.size() / 2];
  for (std::size_t k = 0; k < scenario.all.size(); ++k) {
    const std::size_t job = scenario.all[k].job;
    std::vector<std::string> environment;
    // The server's numbers: 0 is normal, 1 is below normal.
    if (clients == Clients::Priorities)
      environment.push_back(fmt::format("CUDA_MPS_CLIENT_PRIORITY={}", scenario.all[k].priority >= middle ? 0 : 1));
    if (clients == Clients::Halves) environment.emplace_back("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50");
    clients_.push_back(
        std::make_unique<Client>(scenario.scenario.jobs[job].name,
                                 std::vector<std::string>{program, "gpu", "scenario-client", "--app", scenario.apps[job],
                                                          "--blocks", std::to_string(scenario.sizes[job].blocks), "--passes",
                                                          std::to_string(scenario.sizes[job].passes)},
                                 environment));
  }
  for (const auto& client : clients_) static_cast<void>(client->receive());  // it is ready
}

GpuRun ScenarioProcesses::run(const GpuScenario& scenario) {
  std::set<std::string> all;
  for (const ScenarioJob& job : scenario.scenario.jobs) all.insert(job.name);
  return run(scenario, all);
}

GpuRun ScenarioProcesses::run(const GpuScenario& scenario, const std::set<std::string>& jobs) {
  constexpr std::int64_t kLead = 20'000'000;  // until all have heard
  const std::int64_t start = nanoseconds() + kLead;
  const auto wanted = [&](std::size_t k) { return jobs.contains(scenario.scenario.jobs[scenario.all[k].job].name); };
  for (std::size_t k = 0; k < clients_.size(); ++k)
    if (wanted(k)) clients_[k]->send(std::to_string(start + scenario.all[k].arrival.count() / 1000));
  GpuRun run;
  for (std::size_t k = 0; k < clients_.size(); ++k) {
    if (!wanted(k)) continue;
    const nlohmann::json answer = clients_[k]->receive();
    const double arrived = static_cast<double>(scenario.all[k].arrival.count()) * 1e-9;
    run.jobs.push_back({{"name", scenario.scenario.jobs[scenario.all[k].job].name},
                        {"priority", scenario.all[k].priority},
                        {"arrived_ms", arrived},
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
  for (std::int64_t at = 0; std::cin >> at;) {
    while (nanoseconds() < at) {
    }
    const std::int64_t launched = nanoseconds();
    kernel.launch_native(stream.get());
    check(driver().cuStreamSynchronize(stream.get()), app + " failed on the GPU");
    std::cout << nlohmann::json{{"launched", launched}, {"ended", nanoseconds()}}.dump() << std::endl;
  }
  return 0;
}

}  // namespace sluice::gpu
