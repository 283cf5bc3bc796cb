// SPDX-License-Identifier: Apache-2.0
// The mixes under MPS: one process an application, all clients of a server started for the experiment.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/jobs/rates.h"
#include "sw/io/atomic_file.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

/// A child process that answers a line with a line.
class Client {
 public:
  Client(const std::string& program, const std::string& app) : app_(app) {
    std::array<int, 2> in{}, out{};
    if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw GpuError("MPS client: no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::vector<std::string> words = {program, "gpu", "mps-client", "--app", app};
    std::vector<char*> arguments;
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    const int error = posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = fdopen(out[0], "r");
    if (error != 0) throw GpuError(fmt::format("{}: cannot be started as an MPS client", program));
  }
  ~Client() {
    close(to_);  // end of input: the client ends
    fclose(from_);
    waitpid(pid_, nullptr, 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& line) const {
    if (write(to_, (line + "\n").c_str(), line.size() + 1) < 0) throw GpuError(app_ + ": the MPS client has ended");
  }
  [[nodiscard]] nlohmann::json receive() {
    std::string line;
    for (int c = fgetc(from_); c != '\n'; c = fgetc(from_)) {
      if (c == EOF) throw GpuError(app_ + ": the MPS client has ended");
      line += static_cast<char>(c);
    }
    return nlohmann::json::parse(line);
  }

 private:
  std::string app_;
  pid_t pid_ = 0;
  int to_ = -1;
  FILE* from_ = nullptr;
};

/// An MPS server of our own, ended with the experiment.
class Server {
 public:
  explicit Server(const std::filesystem::path& folder) {
    make_folder(folder);
    setenv("CUDA_MPS_PIPE_DIRECTORY", folder.c_str(), 1);
    setenv("CUDA_MPS_LOG_DIRECTORY", folder.c_str(), 1);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 1);  // the clients share the hardware's connections
    if (std::system("nvidia-cuda-mps-control -d >/dev/null 2>&1") != 0)
      throw GpuError("nvidia-cuda-mps-control -d does not start: is MPS installed?");
  }
  ~Server() {
    if (std::system("echo quit | nvidia-cuda-mps-control >/dev/null 2>&1") != 0)
      std::fputs("the MPS server did not end\n", stderr);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
};

}  // namespace

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
  const Server server(std::filesystem::temp_directory_path() / fmt::format("sluice_mps_{}", getpid()));
  std::map<std::string, std::unique_ptr<Client>> clients;
  std::map<std::string, double> blocks;
  for (const std::string& app : apps) clients[app] = std::make_unique<Client>(program, app);
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
