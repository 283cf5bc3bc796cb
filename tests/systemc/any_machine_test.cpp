// SPDX-License-Identifier: Apache-2.0
// Machines and options that no unit is linked for: the RTL is built on demand, and agrees with the twin at every port.
#include <gtest/gtest.h>

#include <toml++/toml.h>

#include <cstdlib>

#include "study/run_specs.h"
#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/mix.h"
#include "sw/workload/workload_file.h"
#include "systemc/gpu.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

RunSpec mix_on(std::uint32_t sms, const std::string& names, const std::string& policy, PartitionerKind kind,
               std::uint64_t target_per_sm = 100000) {
  const std::filesystem::path root = SLUICE_SOURCE_DIR;
  MachineConfig machine = read_machine(root / "configs/machines/fermi_table1.toml");
  machine.num_sms = sms;
  machine.partitioner.warm_up_cycles = 2000;
  machine.partitioner.profile_cycles = 2048;
  machine.partitioner.drain_cycles = 4096;
  const Mix mix = parse_mixes(read_workload(root / "configs/workloads/table2.toml"), machine, names).front();
  const PolicyPlan plan = policy_plans(policy, machine, mix.kernels).front();
  const std::vector<std::uint64_t> targets(mix.kernels.size(), target_per_sm * sms);
  RunSpec spec = mix_spec(machine, mix.kernels, plan, targets, kind, 1);
  spec.launches.back().arrival = Cycles(3000);
  return spec;
}

std::vector<RunResult> expect_ends(const std::vector<RunSpec>& specs) {
  const std::vector<RunResult> results = scripted::run(specs);
  for (std::size_t i = 0; i < specs.size(); ++i)
    for (const KernelCounters& k : results[i].kernels) EXPECT_GT(k.finish_cycle, 0U) << "run " << i;
  return results;
}

struct Shape {
  const char* name;
  std::uint32_t sms;
  const char* mix;
  bool quick = false;
  void (*set)(PartitionerConfig& options) = [](PartitionerConfig&) {};
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class AnyMachine : public ::testing::TestWithParam<Shape> {};
/// Two policies of the unit's own, so that one build serves two runs, which last until the unit has decided: on SMs that the
/// first kernel filled alone this takes some 25,000 cycles.
TEST_P(AnyMachine, RtlAndTwinAgreeAtEveryPort) {
  const Shape& shape = GetParam();
  if (!shape.quick && std::getenv("SLUICE_FULL") == nullptr) GTEST_SKIP() << "long: runs with SLUICE_FULL=1";
  std::vector<RunSpec> specs;
  for (const char* policy : {"even_mode", "warped_slicer"}) {
    specs.push_back(mix_on(shape.sms, shape.mix, policy, PartitionerKind::Both));
    shape.set(specs.back().machine.partitioner);
    for (std::size_t k = 0; k < specs.back().launches.size(); ++k)
      specs.back().launches[k].priority = static_cast<std::int32_t>(k);
  }
  check_partitioner(specs.front().machine, PartitionerKind::Both, specs.front().launches.size());
  const std::vector<RunResult> results = expect_ends(specs);
  if (shape.sms >= specs.front().launches.size()) {
    EXPECT_FALSE(results.back().decisions.empty());
  }
}
constexpr const char *kFive = "IMG_NN_DXT_HOT_MM", *kEight = "IMG_NN_DXT_HOT_MM_MVP_BFS_KNN";
INSTANTIATE_TEST_SUITE_P(
    , AnyMachine,
    ::testing::Values(Shape{"OneSm", 1, "IMG_NN"}, Shape{"SevenSms", 7, "IMG_NN", true}, Shape{"TwentySms", 20, "DXT_MVP"},
                      Shape{"FortyEightSms", 48, "HOT_BFS"}, Shape{"ManySms", 132, "IMG_NN"}, Shape{"FiveKernels", 20, kFive},
                      Shape{"EightKernels", 20, kEight},
                      Shape{"SmEnable", 7, "IMG_NN", false, [](PartitionerConfig& o) { o.sm_enable = true; }},
                      Shape{"Flush", 7, "IMG_NN", false, [](PartitionerConfig& o) { o.flush = true; }},
                      Shape{"Priority", 7, "IMG_NN_DXT", false, [](PartitionerConfig& o) { o.priority = true; }},
                      Shape{"Tail", 7, "IMG_NN_DXT", false, [](PartitionerConfig& o) { o.tail = true; }},
                      Shape{"Patience", 7, "IMG_NN_DXT", false, [](PartitionerConfig& o) { o.patience = 10; }},
                      Shape{"Churn", 7, "IMG_NN_DXT", false, [](PartitionerConfig& o) { o.churn = 10; }}),
    [](const auto& shape) { return std::string(shape.param.name); });

TEST(KernelSlots, NineKernelsTakeTurns) {
  std::vector<RunSpec> specs;
  for (const char* policy : {"even", "spatial_mode", "warped_slicer", "left_over"})
    specs.push_back(mix_on(20, std::string(kEight) + "_LBM", policy, PartitionerKind::Twin, 5000));
  static_cast<void>(expect_ends(specs));
}

/// With the option, the kernel that is launched last and has the highest priority is the first to get CTAs.
TEST(UnitOptions, PriorityOfALaunchReachesTheUnit) {
  std::vector<RunSpec> specs{mix_on(4, "IMG_NN", "left_over", PartitionerKind::Twin)};
  specs.front().launches.back().arrival = Cycles(0);
  specs.front().launches.front().priority = 9;
  specs.front().launches.back().priority = 25;
  specs.push_back(specs.front());
  specs.back().machine.partitioner.priority = true;
  const std::vector<RunResult> results = scripted::run(specs);
  EXPECT_LT(results[0].host.began.at(0), results[0].host.began.at(1));
  EXPECT_GT(results[1].host.began.at(0), results[1].host.began.at(1));
  for (std::int32_t p = 0; p < 7; ++p) {
    specs.back().launches.push_back(specs.back().launches.front());
    specs.back().launches.back().priority = p;
  }
  EXPECT_THROW(static_cast<void>(scripted::run({specs.back()})), InputError) << "nine priorities, in three bits";
}

TEST(UnitOptions, ReachTheUnitFromTheMachineFile) {
  const std::filesystem::path path = std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml";
  const regs::Parameters without = unit_parameters(read_machine(path), 2);
  EXPECT_EQ(without.sm_enable + without.flush + without.priority + without.tail + without.patience, 0U);
  toml::table file = toml::parse_file(path.string());
  toml::table& options = *file["partitioner"].as_table();
  for (const char* option : {"sm_enable", "flush", "priority", "tail"}) options.insert_or_assign(option, true);
  options.insert_or_assign("patience", 12);
  const regs::Parameters with = unit_parameters(read_machine(file, path), 2);
  EXPECT_EQ(std::vector({with.sm_enable, with.flush, with.priority, with.tail, with.patience}),
            std::vector({1U, 1U, 1U, 1U, 12U}));
  options.insert_or_assign("patience", 3);
  EXPECT_THROW(static_cast<void>(read_machine(file, path)), InputError) << "shorter than a round of the SMs";
}

}  // namespace
}  // namespace sluice
