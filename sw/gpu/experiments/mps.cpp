// SPDX-License-Identifier: Apache-2.0
// The mixes under MPS: one process an application, all clients of a server started for the experiment.
#include <fmt/format.h>

#include <map>

#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/gpu/jobs/rates.h"

namespace sluice::gpu {

void mps_experiment(GpuSession& /*session*/, const ExperimentOptions& options) {
  const std::vector<std::string> apps = options.apps.empty() ? table2_names() : options.apps;
  std::vector<std::vector<std::string>> mixes = choose(apps, 2);
  for (std::vector<std::string>& triple : choose(apps, 3)) mixes.push_back(std::move(triple));
  RawLines lines(options, "mps", mixes.size());
  const MpsServer server;
  std::map<std::string, std::unique_ptr<Client>> clients;
  for (const std::string& app : apps)
    clients[app] = std::make_unique<Client>(app, client_words(options.program, app, full_size(app)));
  for (const std::string& app : apps)
    if (clients[app]->receive()["mps"] == false) throw GpuError(app + ": the client does not share its context through MPS");
  const auto run = [&](const std::vector<std::string>& names, double window) {
    for (const std::string& n : names) clients[n]->send(fmt::format("load {:.0f}", window * 1e6));
    std::vector<std::vector<double>> times;
    for (const std::string& n : names) times.push_back(clients[n]->receive()["times"].get<std::vector<double>>());
    std::vector<double> rates = common_event_rates(times);
    for (std::size_t k = 0; k < names.size(); ++k)
      rates[k] *= static_cast<double>(make_app(names[k], AppScale::Full).launch.blocks());
    return rates;
  };
  for (const std::string& app : apps) static_cast<void>(run({app}, options.window));  // the first run of a client loads its code
  for (const std::vector<std::string>& names : mixes) {
    for (unsigned r = 0; r < options.repetitions; ++r) {
      const std::string key = fmt::format("{}/mps/{}", mix_name(names), r);
      if (lines.has(key)) continue;
      std::vector<double> solo;
      for (const std::string& n : names) solo.push_back(run({n}, options.window)[0]);
      lines.add(key, {{"kernels", names},
                      {"policy", "mps"},
                      {"repetition", r},
                      {"solo_blocks_per_second", solo},
                      {"blocks_per_second", run(names, 4 * options.window)}});
    }
    lines.done(mix_name(names));
  }
}

}  // namespace sluice::gpu
