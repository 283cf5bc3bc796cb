// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/clients.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "sw/gpu/cuda/driver.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

Client::Client(std::string name, std::vector<std::string> words, const std::vector<std::string>& environment)
    : name_(std::move(name)) {
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw GpuError(name_ + ": no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  if (!environment.empty()) {  // through env, which keeps the others
    std::vector<std::string> through = {"/usr/bin/env"};
    through.insert(through.end(), environment.begin(), environment.end());
    through.insert(through.end(), words.begin(), words.end());
    words = std::move(through);
  }
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const int error = posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = fdopen(out[0], "r");
  if (error != 0) throw GpuError(fmt::format("{}: cannot be started as a client", words[0]));
}

Client::~Client() {
  close(to_);  // end of input: the client ends
  fclose(from_);
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

MpsServer::MpsServer(const std::filesystem::path& folder) {
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
