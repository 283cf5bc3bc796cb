// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/clients.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "sw/gpu/cuda/driver.h"
#include "sw/io/atomic_file.h"
#include "sw/service/daemon.h"

namespace sluice::gpu {

namespace {

std::filesystem::path scratch(const char* what) {
  return std::filesystem::temp_directory_path() / fmt::format("sluice_{}_{}", what, getpid());
}

/// Starts a program. @param actions  may be null
pid_t started(std::vector<std::string> words, const posix_spawn_file_actions_t* actions) {
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, arguments[0], actions, nullptr, arguments.data(), environ) != 0)
    throw GpuError(words[0] + ": cannot be started");
  return pid;
}

}  // namespace

Client::Client(std::string name, std::vector<std::string> words, const std::vector<std::string>& environment)
    : name_(std::move(name)) {
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw GpuError(name_ + ": no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  words.insert(words.begin(), environment.begin(), environment.end());
  words.insert(words.begin(), "/usr/bin/env");  // which keeps the other variables
  pid_ = started(std::move(words), &actions);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = fdopen(out[0], "r");
}

Client::~Client() { end(); }

void Client::end() {
  if (from_ == nullptr) return;
  close(to_);  // end of input: the client ends
  fclose(std::exchange(from_, nullptr));
  waitpid(pid_, nullptr, 0);
}

void Client::send(const std::string& line) const {
  if (write(to_, (line + "\n").c_str(), line.size() + 1) < 0) throw GpuError(name_ + ": the client has ended");
}

nlohmann::json Client::receive() {
  std::string line;
  for (int c = fgetc(from_); c != '\n'; c = fgetc(from_)) {
    if (c == EOF) throw GpuError(name_ + ": the client has ended");
    line += static_cast<char>(c);
  }
  return nlohmann::json::parse(line);
}

SharingService::SharingService(const std::string& program, const std::string& scheduler) : folder_(scratch("service")) {
  make_folder(folder_);
  std::filesystem::remove(folder_ / "log");
  pid_ = started({program, "serve", "--executor=gpu", "--mps", "--scheduler=" + scheduler, "--socket=" + socket(),
                  "--log=" + (folder_ / "log").string()},
                 nullptr);
  for (int tries = 0;; ++tries) {
    constexpr int kTries = 500;
    try {
      static_cast<void>(service::fetch_status(socket()));
      return;
    } catch (const std::exception&) {
      if (tries == kTries) throw GpuError("sluice serve does not answer after 5 s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

SharingService::~SharingService() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

SharingService::Log SharingService::log() {
  constexpr double kPicosPerMicro = 1e6;
  std::ifstream file(folder_ / "log");
  Log log;
  std::map<std::uint32_t, double> ordered;  // job: since when it is to leave
  std::string line;
  for (std::size_t n = 0; std::getline(file, line); ++n) {
    if (n < read_) continue;
    read_ = n + 1;
    const nlohmann::json decision = nlohmann::json::parse(line);
    const double now = decision["now_ps"].get<double>() / kPicosPerMicro;
    log.decide_us.push_back(decision["us"]);
    if (std::string reason = decision.value("reason", ""); log.reasons.empty() || log.reasons.back() != reason)
      log.reasons.push_back(std::move(reason));
    for (const nlohmann::json& event : decision["events"]) {
      if (event["kind"] != "evicted") continue;
      const auto found = ordered.find(event["job"].get<std::uint32_t>());
      if (found == ordered.end()) continue;
      log.evict_us.push_back(now - found->second);
      ordered.erase(found);
    }
    std::set<std::uint32_t> holds;
    for (const nlohmann::json& share : decision["shares"]) holds.insert(share["job"].get<std::uint32_t>());
    for (const nlohmann::json& share : decision["before"])
      if (!holds.contains(share["job"].get<std::uint32_t>())) ordered.emplace(share["job"].get<std::uint32_t>(), now);
  }
  return log;
}

MpsServer::MpsServer() {
  const std::filesystem::path folder = scratch("mps");
  make_folder(folder);
  setenv("CUDA_MPS_PIPE_DIRECTORY", folder.c_str(), 1);
  setenv("CUDA_MPS_LOG_DIRECTORY", folder.c_str(), 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 1);  // the clients share the hardware's connections
  if (std::system("nvidia-cuda-mps-control -d >/dev/null 2>&1") != 0)
    throw GpuError("nvidia-cuda-mps-control -d does not start: is MPS installed?");
}

MpsServer::~MpsServer() {
  if (std::system("echo quit | nvidia-cuda-mps-control >/dev/null 2>&1") != 0) std::fputs("the MPS server did not end\n", stderr);
  unsetenv("CUDA_MPS_PIPE_DIRECTORY");
  unsetenv("CUDA_MPS_LOG_DIRECTORY");
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
}

}  // namespace sluice::gpu
