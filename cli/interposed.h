// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sw/core/errors.h"

namespace sluice::cli {

/// Where the library lies that stands in front of the driver's. @throws SystemError in a build without it
inline std::filesystem::path interposer_folder() {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  std::filesystem::path folder = own.parent_path().parent_path() / "lib/sluice";
  const std::filesystem::path library = folder / "libcuda.so.1";
  if (!std::filesystem::exists(library))
    throw SystemError(library.string() + " is missing: this build has no CUDA (SLUICE_CUDA)");
  return folder;
}

/// The environment of a program that is to find that library first.
inline void put_interposer_first(const std::filesystem::path& folder) {
  const auto put_first = [](const char* variable, const std::string& value) {
    const char* before = std::getenv(variable);
    const std::string all = before == nullptr || *before == '\0' ? value : value + ':' + before;
    setenv(variable, all.c_str(), 1);
  };
  put_first("LD_LIBRARY_PATH", folder.string());
  put_first("LD_PRELOAD", (folder / "libcuda.so.1").string());
}

}  // namespace sluice::cli
