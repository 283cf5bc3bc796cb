// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/source/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace fs = std::filesystem;

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "sluice_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw_errno(name, errno);
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::optional<int> run_program(std::vector<std::string> words, const fs::path& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT || error == EACCES || error == ENOTDIR) return {};
  if (error != 0) throw_errno(words.front(), error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw_errno(words.front(), errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<int> run_tool(const std::string& name, const std::vector<std::string>& words, const fs::path& log,
                            std::string* used) {
  std::vector<std::string> programs = {name};
  if (name.find('/') == std::string::npos) {
    if (const char* home = std::getenv("CUDA_HOME")) programs.push_back(std::string(home) + "/bin/" + name);
    programs.push_back("/usr/local/cuda/bin/" + name);
  }
  for (const std::string& program : programs) {
    std::vector<std::string> all = {program};
    all.insert(all.end(), words.begin(), words.end());
    const std::optional<int> status = run_program(std::move(all), log);
    if (status && used != nullptr) *used = program;
    if (status) return status;
  }
  return {};
}

}  // namespace sluice::gpu
