#pragma once
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
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
  ~Coverage() {
    if (const char* dir = std::getenv("SLUICE_COVERAGE_DIR")) write(std::string(dir) + "/" + block_ + ".bins.json");
  }

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

  /// Adds to what an earlier test of the same bench left.
  void write(const std::string& path) const {
    nlohmann::json all = nlohmann::json::object();
    if (std::ifstream before(path); before) all = nlohmann::json::parse(before);
    for (const auto& [name, bin] : bins_) {
      const std::uint64_t counted = all.contains(name) ? all[name]["count"].get<std::uint64_t>() : 0;
      all[name] = {{"meaning", bin.meaning}, {"count", counted + bin.count}};
    }
    std::ofstream(path) << all.dump(1) << '\n';
  }

  std::string block_;
  std::map<std::string, Bin> bins_;
};

}  // namespace sluice::tb
