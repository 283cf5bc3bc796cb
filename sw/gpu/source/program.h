// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sluice::gpu {

/// A folder of its own that goes with it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs a program with what it says in a file. @return its exit status; nothing when there is no such program
[[nodiscard]] std::optional<int> run_program(std::vector<std::string> words, const std::filesystem::path& log);

/// The same for a program of the CUDA toolkit: `name` from PATH, $CUDA_HOME/bin or /usr/local/cuda/bin. A name with a slash is
/// that program alone. @param words  its arguments. @param used  which one ran
[[nodiscard]] std::optional<int> run_tool(const std::string& name, const std::vector<std::string>& words,
                                          const std::filesystem::path& log, std::string* used = nullptr);

}  // namespace sluice::gpu
