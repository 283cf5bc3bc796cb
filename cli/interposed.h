// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "sw/core/errors.h"

namespace sluice::cli {

/// Path of this program, for others that it starts.
inline std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// Where the library lies that stands in front of the driver's. @throws SystemError in a build without it
inline std::filesystem::path interposer_folder() {
  std::filesystem::path folder = std::filesystem::path(own_path()).parent_path().parent_path() / "lib/sluice";
  const std::filesystem::path library = folder / "libcuda.so.1";
  if (!std::filesystem::exists(library))
    throw SystemError(library.string() + " is missing: this build has no CUDA (SLUICE_CUDA)");
  return folder;
}

/// The environment of a program that is to find that library first, as NAME=VALUE.
inline std::vector<std::string> interposer_first(const std::filesystem::path& folder) {
  const auto with = [](const char* variable, const std::string& value) {
    const char* before = std::getenv(variable);
    return std::string(variable) + '=' + (before == nullptr || *before == '\0' ? value : value + ':' + before);
  };
  return {with("LD_LIBRARY_PATH", folder.string()), with("LD_PRELOAD", (folder / "libcuda.so.1").string())};
}
inline void put_interposer_first(const std::filesystem::path& folder) {
  for (const std::string& each : interposer_first(folder)) {
    const std::size_t at = each.find('=');
    setenv(each.substr(0, at).c_str(), each.substr(at + 1).c_str(), 1);
  }
}

}  // namespace sluice::cli
