// SPDX-License-Identifier: Apache-2.0
#include "study/run_result_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

using namespace sluice;

TEST(RunResultJson, KeepsTheSamplesOfADecisionAndWhenLaunchesBegan) {
  RunResult result;
  Decision& decision = result.decisions.emplace_back();
  decision.kernels = {KernelId(0), KernelId(2)};
  decision.samples.resize(1);
  decision.samples[0].kernel = KernelId(2);
  result.host.began = {7, 0};
  const RunResult read = nlohmann::json(result).get<RunResult>();
  EXPECT_EQ(read.decisions.at(0).samples, decision.samples);
  EXPECT_EQ(read.host.began, result.host.began);
}
