// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace sluice::interpose {

/// One order to leave. All times from the moment in which the service wrote it.
class OrderTimes {
 public:
  enum class Step : std::uint8_t { Seen, Left, Told };  ///< by our thread; the last CTA has; the service is
  static constexpr std::array<const char*, 3> kNames = {"seen", "left", "told"};

  void begin(std::uint64_t written_ns) { ns_.fill(written_ns); }
  void at(Step step) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    ns_[static_cast<std::size_t>(step) + 1] = static_cast<std::uint64_t>(ns);
  }
  [[nodiscard]] double us(std::size_t step) const { return static_cast<double>(ns_[step + 1] - ns_[0]) / 1e3; }

 private:
  std::array<std::uint64_t, kNames.size() + 1> ns_{};
};

/// What became of the service's orders to leave, in this process.
class EvictionTimes {
 public:
  void add(const OrderTimes& one) {
    if (all_.size() < kMost) all_.push_back(one);
  }
  /// {"count":n,"p50_us":{"seen":x,...},"p99_us":{...}}
  [[nodiscard]] nlohmann::json json() const {
    nlohmann::json out = {{"count", all_.size()}};
    if (all_.empty()) return out;
    for (std::size_t step = 0; step < OrderTimes::kNames.size(); ++step) {
      std::vector<double> us;
      us.reserve(all_.size());
      for (const OrderTimes& one : all_) us.push_back(one.us(step));
      std::ranges::sort(us);
      out["p50_us"][OrderTimes::kNames[step]] = us[us.size() / 2];
      out["p99_us"][OrderTimes::kNames[step]] = us[us.size() * 99 / 100];
    }
    return out;
  }

 private:
  static constexpr std::size_t kMost = 100'000;
  std::vector<OrderTimes> all_;
};

}  // namespace sluice::interpose
