// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/module_code.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::interpose {
namespace {

TEST(PackedCode, IsReadAsItWasWrittenAndNothingThatWasCutIs) {
  Code code;
  code.cubin = {'\x7f', 'E', 'L', 'F', '\0', 'x'};
  code.variables = true;
  code.kernels["k"].entry = "k__sluice";
  code.kernels["k"].shared_behind = 256;
  code.kernels["l"].refusal = {gpu::GateRule::NoPtx, "why"};
  const std::string text = packed(code);
  const auto read = unpacked(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->cubin, code.cubin);
  EXPECT_TRUE(read->variables);
  EXPECT_EQ(read->kernels.at("k").entry, "k__sluice");
  EXPECT_EQ(read->kernels.at("k").shared_behind, 256U);
  EXPECT_EQ(read->kernels.at("l").refusal->reason, "why");
  for (std::size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(unpacked(text.substr(0, n))) << n;
  EXPECT_FALSE(unpacked(text + "x"));
}

}  // namespace
}  // namespace sluice::interpose
