// SPDX-License-Identifier: Apache-2.0
// The GPU model with the unit's option CHURN.
#include <gtest/gtest.h>

#include "study/run_specs.h"
#include "sw/policy/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

RunSpec mix_with_churn(const std::string& names) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  MachineConfig machine = read_machine(root / "configs/machines/fermi_table1.toml");
  machine.partitioner.churn = 14;
  const Workload workload = read_workload(root / "configs/workloads/table2.toml");
  const Mix mix = parse_mixes(workload, machine, names).front();
  const std::vector<std::uint64_t> targets(mix.kernels.size(), 2000000);
  return mix_spec(machine, mix.kernels, policy_plans("warped_slicer", machine, mix.kernels).front(), targets,
                  PartitionerKind::Twin, 1);
}

/// With CHURN the two that stay have their curves: the unit decides at once, over what the profile of the three has shown.
TEST(GpuChurn, WithChurnKernelsThatStayAreNotProfiledAgain) {
  RunSpec spec = mix_with_churn("DXT_HOT_NN");
  spec.launches[0].target_warp_instructions = 600000;
  const RunResult r = scripted::run({spec}).front();
  ASSERT_GE(r.decisions.size(), 2U);
  const Decision &three = r.decisions.front(), &two = r.decisions[1];
  ASSERT_EQ(three.kernels.size(), 3U);
  ASSERT_EQ(two.kernels.size(), 2U);
  const std::uint64_t end = r.kernels[0].finish_cycle;
  EXPECT_GT(two.decided_at.value(), end);
  EXPECT_LT(two.decided_at.value(), end + spec.machine.partitioner.profile_cycles);  // no profile has time to run
  EXPECT_EQ(two.sampled_at, three.sampled_at);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(two.profiles[i].empty());
    EXPECT_EQ(two.profiles[i], three.profiles[i + 1]);
  }
}

}  // namespace
}  // namespace sluice
