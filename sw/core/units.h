// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>

namespace sluice {

/// A number that knows what it counts: two quantities of different kinds do not mix (house rule 6).
template <class Tag, class Rep>
class Quantity {
 public:
  using rep = Rep;
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;  // NOLINT(modernize-use-nullptr): the 0 is the compiler's
  constexpr Quantity& operator+=(Quantity other) {
    value_ = static_cast<Rep>(value_ + other.value_);
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ = static_cast<Rep>(value_ - other.value_);
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }

 private:
  Rep value_ = 0;
};

using Cycles = Quantity<struct CyclesTag, std::uint64_t>;      ///< core clock cycles
using CtaCount = Quantity<struct CtaCountTag, std::uint32_t>;  ///< CTAs (thread blocks), usually on one SM
using SmId = Quantity<struct SmIdTag, std::uint32_t>;          ///< index of a streaming multiprocessor, 0..num_sms-1
using KernelId = Quantity<struct KernelIdTag, std::uint32_t>;  ///< index of a kernel in its mix, 0..K-1

}  // namespace sluice
