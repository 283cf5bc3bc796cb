// SPDX-License-Identifier: Apache-2.0
// Samples of long grids against the grids themselves.
#include <gtest/gtest.h>

#include <cmath>

#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

class Samples : public ::testing::Test {
 protected:
  Samples() { machine.num_sms = 2; }
  RunSpec whole(const std::string& names, const std::string& policy, std::uint32_t sample, std::uint32_t waves = 100) {
    RunSpec spec;
    spec.machine = machine;
    const Mix mix = parse_mixes(workload, machine, names).front();
    for (KernelDescriptor kernel : mix.kernels) {
      kernel.grid_ctas = waves * machine.num_sms * occupancy(kernel.demand(), machine.sm.capacity).value();
      spec.launches.push_back({kernel, 0, Cycles(0)});
      spec.launches.back().once = true;
    }
    spec.make_scheduler = scheduler_of(policy_plans(policy, machine, mix.kernels).front(), machine);
    spec.sample = sample;
    return spec;
  }
  static void expect_near(std::uint64_t is, std::uint64_t whole, double share, const std::string& what) {
    EXPECT_NEAR(static_cast<double>(is), static_cast<double>(whole), share * static_cast<double>(whole)) << what;
  }
  MachineConfig machine = read_machine(kRoot / "configs/machines/fermi_table1.toml");
  Workload workload = read_workload(kRoot / "configs/workloads/table2.toml");
};

TEST_F(Samples, AThirdTellsTheWhole) {
  std::vector<RunSpec> specs;
  const std::vector<std::pair<std::string, std::string>> mixes = {
      {"BFS", "left_over"}, {"HOT_KNN", "even"}, {"DXT_MVP", "warped_slicer"}, {"KNN_NN", "left_over"}};
  for (const auto& [names, policy] : mixes)
    for (const std::uint32_t sample : {1U, 3U}) specs.push_back(whole(names, policy, sample));
  const std::vector<RunResult> results = scripted::run(specs);
  for (std::size_t i = 0; i < mixes.size(); ++i) {
    const RunResult &all = results[2 * i], &part = results[2 * i + 1];
    EXPECT_TRUE(all.sampled.empty());
    ASSERT_EQ(part.sampled.size(), all.kernels.size()) << mixes[i].first;
    ASSERT_EQ(part.decisions.size(), all.decisions.size());
    for (std::size_t d = 0; d < all.decisions.size(); ++d) {
      EXPECT_EQ(part.decisions[d].decided_at, all.decisions[d].decided_at) << mixes[i].first;
      EXPECT_EQ(part.decisions[d].profiles, all.decisions[d].profiles) << mixes[i].first << ": the profile is the whole's";
    }
    for (std::size_t k = 0; k < all.kernels.size(); ++k) {
      const KernelCounters &a = all.kernels[k], &p = part.kernels[k];
      const std::uint64_t grid = specs[2 * i].launches[k].kernel.grid_ctas;
      EXPECT_LE(part.sampled[k].ctas, grid / 3);
      EXPECT_GT(part.sampled[k].interval, 0);
      EXPECT_EQ(p.ctas_completed, grid);
      expect_near(p.finish_cycle, a.finish_cycle, 0.03, mixes[i].first);
      expect_near(p.warp_instructions, a.warp_instructions, 0.01, mixes[i].first);
      expect_near(p.l2_accesses, a.l2_accesses, 0.05, mixes[i].first);
    }
    expect_near(part.cycles.value(), all.cycles.value(), 0.03, mixes[i].first);
    expect_near(part.sm_cycles, all.sm_cycles, 0.03, mixes[i].first);
    std::uint64_t by_sm = 0;
    for (const SmCounters& sm : part.sms) by_sm += sm.work.warp_instructions;
    expect_near(by_sm, part.total.warp_instructions, 1e-6, "the SMs' sum");
  }
}

/// Three kernels: when the first is done, the unit profiles the other two.
TEST_F(Samples, ADecisionByAProfileOfSamplesIsRefused) {
  machine.num_sms = 4;
  machine.partitioner.warm_up_cycles = 2000;
  machine.partitioner.profile_cycles = 1024;
  RunSpec spec = whole("NN_KNN_BFS", "warped_slicer", 3, 200);
  spec.launches[0].kernel.grid_ctas /= 2;
  try {
    (void)scripted::run({spec});
    FAIL() << "a decision of the samples' own";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("decides again"), std::string::npos) << error.what();
  }
}

TEST_F(Samples, LaunchesOfAStreamAddUpAndShortOnesAreSimulated) {
  RunSpec spec = whole("BFS", "left_over", 3), single = spec;
  spec.launches.push_back(spec.launches.front());
  spec.launches.push_back(spec.launches.front());
  spec.launches[1].after = 0;
  spec.launches[1].kernel.grid_ctas = 16;
  spec.launches[2].after = 1;
  const std::vector<RunResult> results = scripted::run({spec, single});
  const RunResult &three = results[0], &one = results[1];
  EXPECT_EQ(three.sampled[1].ctas, 0U);
  expect_near(three.kernels[0].finish_cycle, one.cycles.value(), 0.001, "the first");
  EXPECT_GT(three.kernels[1].finish_cycle, three.kernels[0].finish_cycle);
  expect_near(three.kernels[2].finish_cycle, one.cycles.value() + three.kernels[1].finish_cycle, 0.03, "the last");
  EXPECT_GT(three.sampled[2].interval, one.sampled[0].interval);
  EXPECT_EQ(three.cycles.value(), three.kernels[2].finish_cycle);
}

TEST_F(Samples, OneThatIsTooShortKeepsAllThatRunBesideItWhole) {
  RunSpec spec = whole("BFS_MVP", "even", 3, 66);
  spec.launches[1].kernel.grid_ctas = 64;
  const RunResult result = scripted::run({spec}).front();
  ASSERT_EQ(result.sampled.size(), 2U);
  for (const Sampled& sampled : result.sampled) EXPECT_EQ(sampled.ctas, 0U);
  EXPECT_EQ(result.kernels[0].ctas_completed, spec.launches[0].kernel.grid_ctas);
}

TEST_F(Samples, AWindowCannotBeSampled) {
  RunSpec spec = whole("BFS", "left_over", 3);
  spec.window = Cycles(10000);
  EXPECT_THROW((void)scripted::run({spec}), InputError);
}

}  // namespace
}  // namespace sluice
