// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "study/run_pool.h"
#include "sw/scheduler/decision_log.h"
#include "systemc/model_device.h"

namespace sluice::test {

/// A run on the GPU model, and what its scheduler decided.
struct LoggedRun {
  RunResult result;
  std::vector<nlohmann::json> decisions;
};

/// The model runs in a process of its own: the decisions come back as lines of a file.
inline LoggedRun logged_run(RunSpec spec, const MakeScheduler& make) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sluice_decisions_" + std::to_string(::getpid()) + ".jsonl");
  std::filesystem::remove(file);
  spec.make_scheduler = [make, file] { return std::make_unique<LoggedScheduler>(make(), file); };
  LoggedRun ran;
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, 1);
  EXPECT_TRUE(pool.run({spec}, [&](std::size_t, const RunResult& r, const HostCost&) { ran.result = r; }));
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) ran.decisions.push_back(nlohmann::json::parse(line));
  std::filesystem::remove(file);
  return ran;
}

}  // namespace sluice::test
