// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace sluice::gpu {

/// Measurements of one experiment, one JSON object a line, each with a "key". Lines are appended as they are measured, so that an
/// interrupted experiment goes on where it was; a last line that was cut off is dropped.
class RawStore {
 public:
  /// @throws InputError when a line before the last is not such an object; as read_file and write_file_atomically do
  explicit RawStore(const std::filesystem::path& file);
  [[nodiscard]] bool has(const std::string& key) const { return keys_.contains(key); }
  void add(const std::string& key, nlohmann::json measurement);

  /// All lines of a file, or of FILE.xz; empty when there is neither.
  [[nodiscard]] static std::vector<nlohmann::json> read(const std::filesystem::path& file);

 private:
  std::filesystem::path file_;
  std::set<std::string> keys_;
  std::ofstream out_;
};

}  // namespace sluice::gpu
