// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/clients.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "sw/core/errors.h"
#include "sw/gpu/cuda/driver.h"
#include "sw/io/atomic_file.h"
#include "sw/service/daemon.h"

namespace sluice::gpu {

namespace {

/// Starts a program, which ends with this one. @param in, out  its standard input and output; -1: ours
pid_t started(std::vector<std::string> words, int in = -1, int out = -1) {
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw_errno(words[0], errno);
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGPIPE, SIG_DFL);
  if (in >= 0) dup2(in, STDIN_FILENO);
  if (out >= 0) dup2(out, STDOUT_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Client::Client(std::string name, std::vector<std::string> words, const std::vector<std::string>& environment,
               std::filesystem::path report)
    : name_(std::move(name)), report_(std::move(report)) {
  std::signal(SIGPIPE, SIG_IGN);  // what is sent to one that has ended is an error as any other
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw GpuError(name_ + ": no pipe");
  words.insert(words.begin(), environment.begin(), environment.end());
  if (!report_.empty()) words.insert(words.begin(), "SLUICE_REPORT=" + report_.string());
  words.insert(words.begin(), "/usr/bin/env");  // which keeps the other variables
  pid_ = started(std::move(words), in[0], out[1]);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = fdopen(out[0], "r");
}

Client::~Client() { end(); }

nlohmann::json Client::end() {
  if (from_ == nullptr) return {};
  close(to_);  // end of input: the client ends
  fclose(std::exchange(from_, nullptr));
  waitpid(pid_, nullptr, 0);
  if (report_.empty() || !std::filesystem::exists(report_)) return {};
  return nlohmann::json::parse(read_file(report_));
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
  nlohmann::json answer = nlohmann::json::parse(line);
  if (!answer.contains("error")) return answer;
  throw_error(answer["kind"].get<ErrorKind>(), answer["error"]);
}

std::unique_ptr<Client> start_kernels(const std::string& program, const std::string& name,
                                      const std::vector<std::string>& kernels, const std::optional<std::vector<std::string>>& run,
                                      const std::filesystem::path& report, std::vector<std::string> environment) {
  std::vector<std::string> words;
  if (run) {
    environment.emplace_back("SLUICE_COMPILE_WAIT_MS=10000");
    words = {program, "run"};
    words.insert(words.end(), run->begin(), run->end());
    words.emplace_back("--");
  }
  words.insert(words.end(), {program, "gpu", "client"});
  words.insert(words.end(), kernels.begin(), kernels.end());
  return std::make_unique<Client>(name, std::move(words), environment, report);
}

SharingService::SharingService(const std::string& program, const std::string& scheduler,
                               const std::vector<std::string>& options) {
  std::vector<std::string> words = {program,
                                    "serve",
                                    "--executor=gpu",
                                    "--scheduler=" + scheduler,
                                    "--socket=" + socket(),
                                    "--log=" + (folder_.path() / "log").string()};
  words.insert(words.end(), options.begin(), options.end());
  pid_ = started(std::move(words));
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

SharingService::Log SharingService::log(std::size_t jobs) {
  constexpr double kPicosPerMicro = 1e6;
  std::ifstream file(folder_.path() / "log");
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
    if (decision["shares"].size() == jobs) log.shares = decision["shares"];
    std::set<std::uint32_t> holds;
    for (const nlohmann::json& share : decision["shares"]) holds.insert(share["job"].get<std::uint32_t>());
    for (const nlohmann::json& share : decision["before"])
      if (!holds.contains(share["job"].get<std::uint32_t>())) ordered.emplace(share["job"].get<std::uint32_t>(), now);
  }
  return log;
}

MpsServer::MpsServer() {
  for (const char* variable : {"CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"}) setenv(variable, folder_.path().c_str(), 1);
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
