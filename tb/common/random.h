// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace sluice::tb {

/// The campaign's seed: SLUICE_SEED, or a fixed one; printed, so that a failure can be repeated.
inline std::uint64_t seed() {
  const char* given = std::getenv("SLUICE_SEED");
  const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : 20161;
  std::printf("seed %llu\n", static_cast<unsigned long long>(value));
  return value;
}

/// Length of a campaign: long with SLUICE_FULL=1.
inline std::uint64_t campaign(std::uint64_t quick, std::uint64_t full) {
  return std::getenv("SLUICE_FULL") != nullptr ? full : quick;
}

class Random {
 public:
  explicit Random(std::uint64_t s) : engine_(s) {}
  std::uint32_t in(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(engine_);
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }
  bool chance(double p) { return std::bernoulli_distribution(p)(engine_); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sluice::tb
