// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <systemc>

namespace sluice {

/// A cycle that does not come.
inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

/// Core clock of the modelled GPU: converts between core cycles and SystemC time (1 ps resolution).
class SimClock {
 public:
  explicit SimClock(double core_mhz) : period_ps_(static_cast<std::uint64_t>(std::llround(1e6 / core_mhz))) {}
  [[nodiscard]] std::uint64_t period_ps() const { return period_ps_; }
  [[nodiscard]] std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period_ps_; }
  [[nodiscard]] sc_core::sc_time cycles(std::uint64_t n) const { return sc_core::sc_time::from_value(n * period_ps_); }
  [[nodiscard]] std::uint64_t to_cycles(const sc_core::sc_time& t) const { return t.value() / period_ps_; }

 private:
  std::uint64_t period_ps_;
};

}  // namespace sluice
