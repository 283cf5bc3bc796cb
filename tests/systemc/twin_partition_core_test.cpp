// SPDX-License-Identifier: Apache-2.0
// Written from the error bounds that docs/reference/blocks/partition_core.md states, over all mantissas and counts.
#include <gtest/gtest.h>

#include <cmath>

#include "systemc/unit/twin/partition_core.h"

namespace sluice {
namespace {

constexpr std::uint32_t kMantissas = 1U << kEntryFractionBits, kExponent = 8;

std::uint32_t none(std::uint32_t, unsigned, unsigned) { return 0; }

/// The largest entry at or below the line of a best of this mantissa.
std::uint32_t on_the_line(std::uint32_t mantissa, unsigned n, unsigned most) {
  std::uint32_t exponent = kExponent, value = (kMantissas + mantissa) * n;
  for (; value / most < kMantissas; value *= 2) --exponent;
  return (exponent << kEntryFractionBits) + value / most - kMantissas;
}

/// Of all lines of a best with `most` CTAs: does performance lie within the bounds of the page, whatever the samples below are?
void expect_bounds(std::uint32_t (*sample)(std::uint32_t, unsigned, unsigned)) {
  for (unsigned most = 2; most <= 32; ++most) {
    for (std::uint32_t mantissa = 0; mantissa < kMantissas; ++mantissa) {
      PerfTableRow row;
      for (unsigned n = 1; n < most; ++n) row.write(n, sample(mantissa, n, most));
      row.write(most, (kExponent << kEntryFractionBits) + mantissa);
      row.finish();
      ASSERT_EQ(row.performance(most), kPerfOne) << "mantissa " << mantissa;
      for (unsigned n = 1; n < most; ++n) {
        const double error = row.performance(n) / double{kPerfOne} - static_cast<double>(n) / most;
        ASSERT_LE(error, 0) << n << " of " << most << ", mantissa " << mantissa;
        ASSERT_GT(error, -std::ldexp(1, -13)) << n << " of " << most << ", mantissa " << mantissa;
      }
    }
  }
}

TEST(TwinPartitionCore, RoundsAsThePagesSay) { expect_bounds(none); }

TEST(TwinPartitionCore, SamplesOnALineDoNotLowerIt) { expect_bounds(on_the_line); }

TEST(TwinPartitionCore, AKernelWithoutProgressHasItsBestWithOneCta) {
  PerfTableRow row;
  for (unsigned n = 1; n <= 4; ++n) row.write(n, 0);
  row.finish();
  EXPECT_GE(row.performance(1), kPerfOne);
}

}  // namespace
}  // namespace sluice
