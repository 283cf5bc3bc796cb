// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice::tb {

/// Functional coverage of one bench: bins are declared with what they mean, then counted. With SLUICE_COVERAGE_DIR set the counts
/// are written to <dir>/<block>.bins.json when the object ends; tb/coverage.sh merges them. One object a bench program and block:
/// names add up.
class Coverage {
 public:
  explicit Coverage(std::string block) : block_(std::move(block)) {}
  Coverage(const Coverage&) = delete;
  Coverage& operator=(const Coverage&) = delete;
  ~Coverage();

  void declare(const std::string& bin, const std::string& meaning) { bins_[bin].meaning = meaning; }
  /// A bin that was not declared is a mistake in the bench.
  void hit(const std::string& bin, std::uint64_t times = 1) { bins_.at(bin).count += times; }
  [[nodiscard]] std::vector<std::string> missed() const {
    std::vector<std::string> names;
    for (const auto& [name, bin] : bins_) {
      if (bin.count == 0) names.push_back(name);
    }
    return names;
  }

 private:
  struct Bin {
    std::string meaning;
    std::uint64_t count = 0;
  };

  void write(const std::string& path) const;

  std::string block_;
  std::map<std::string, Bin> bins_;
};

}  // namespace sluice::tb
