// SPDX-License-Identifier: Apache-2.0
// The mixes under MPS: one process an application, all clients of a server started for the experiment.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sw/gpu/experiments/clients.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/jobs/rates.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

int mps_client(const std::vector<std::string>& apps) {
  GpuSession session;
  const PreparedKernel& kernel = session.app(apps.at(0));
  const StreamHandle stream = make_stream();
  int shared = 0;
  driver().cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, session.context().device());
  std::cout << nlohmann::json{{"app", apps[0]}, {"mps", shared}, {"blocks", kernel.spec().blocks()}}.dump() << std::endl;
  for (double window = 0; std::cin >> window;) {
    std::atomic<bool> stop = false;
    LaunchTimes times;
    std::thread load([&] {
      session.context().make_current();
      times = run_native_load(kernel, stream.get(), stop);
    });
    sleep_seconds(window);
    stop = true;
    load.join();
    std::cout << nlohmann::json(times).dump() << std::endl;
  }
  return 0;
}

void mps_experiment(const std::string& program, const ExperimentOptions& options) {
  RawStore store(options.out / "mps.jsonl");
  const std::vector<std::string> apps = options.apps.empty() ? table2_names() : options.apps;
  const MpsServer server(std::filesystem::temp_directory_path() / fmt::format("sluice_mps_{}", getpid()));
  std::map<std::string, std::unique_ptr<Client>> clients;
  std::map<std::string, double> blocks;
  for (const std::string& app : apps)
    clients[app] = std::make_unique<Client>(app, std::vector<std::string>{program, "gpu", "mps-client", "--app", app});
  for (const std::string& app : apps) {
    const nlohmann::json hello = clients[app]->receive();
    if (hello["mps"] == 0) throw GpuError(app + ": the client does not share its context through MPS");
    blocks[app] = hello["blocks"];
  }
  const auto run = [&](const std::vector<std::string>& names, double window) {
    for (const std::string& n : names) clients[n]->send(std::to_string(window));
    std::vector<std::vector<double>> times;
    for (const std::string& n : names) times.push_back(clients[n]->receive().get<std::vector<double>>());
    std::vector<double> rates = common_event_rates(times);
    for (std::size_t k = 0; k < names.size(); ++k) rates[k] *= blocks[names[k]];
    return rates;
  };
  for (const std::string& app : apps) static_cast<void>(run({app}, options.window));  // the first run of a client loads its code
  std::vector<std::vector<std::string>> mixes = choose(apps, 2);
  for (std::vector<std::string>& triple : choose(apps, 3)) mixes.push_back(std::move(triple));
  Progress progress("mps", mixes.size());
  for (const std::vector<std::string>& names : mixes) {
    for (unsigned r = 0; r < options.repetitions; ++r) {
      const std::string key = fmt::format("{}/mps/{}", mix_name(names), r);
      if (store.has(key)) continue;
      std::vector<double> solo;
      for (const std::string& n : names) solo.push_back(run({n}, options.window)[0]);
      store.add(key, {{"kernels", names},
                      {"policy", "mps"},
                      {"repetition", r},
                      {"solo_blocks_per_second", solo},
                      {"blocks_per_second", run(names, 4 * options.window)}});
    }
    progress.done(mix_name(names));
  }
}

}  // namespace sluice::gpu
