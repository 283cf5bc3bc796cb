// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/source/nvcc.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "sw/core/errors.h"
#include "sw/gpu/source/first_error.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "sluice_nvcc_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw_errno(name, errno);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Runs a program with what it says in a file. @return its exit status; nothing when there is no such program
std::optional<int> run(std::vector<std::string> words, const fs::path& log) {
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

}  // namespace

std::string ptx_by_nvcc(const std::string& nvcc, const std::string& file, unsigned sm, const CompileOptions& options) {
  const Scratch scratch;
  const fs::path out = scratch.path() / "out.ptx", log = scratch.path() / "log";
  std::vector<std::string> words = {nvcc, "-ptx", "-x", "cu", fmt::format("-arch=compute_{}", sm), "-o", out.string()};
  for (const std::string& folder : options.includes) words.push_back("-I" + folder);
  for (const std::string& define : options.defines) words.push_back("-D" + define);
  words.push_back(file);
  std::vector<std::string> programs = {nvcc};
  if (nvcc == "nvcc") {
    if (const char* home = std::getenv("CUDA_HOME")) programs.push_back(std::string(home) + "/bin/nvcc");
    programs.emplace_back("/usr/local/cuda/bin/nvcc");
  }
  std::optional<int> status;
  for (const std::string& program : programs) {
    words.front() = program;
    status = run(words, log);
    if (status) break;
  }
  if (!status) throw InputError(fmt::format("--nvcc {}: there is no such program", nvcc));
  if (*status != 0)
    throw InputError(fmt::format("{} does not compile with {}: {}", file, words.front(), first_error(read_file(log))));
  return read_file(out);
}

}  // namespace sluice::gpu
