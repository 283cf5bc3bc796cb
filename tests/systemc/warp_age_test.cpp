// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sw/scheduler/registry.h"
#include "sw/workload/machine_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

using namespace scripted;

/// Two kernels that each could fill the issue slots, one with short and one with long CTAs. The older warps go first: those of
/// the long CTAs, unless the kernels' CTAs stay and the first launched is the older.
TEST(WarpAge, TheKernelLaunchedFirstIsTheOlderWhereKernelsStay) {
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  machine.num_sms = 2;
  const Script brief{times(16, op(OpClass::Alu)), 20, {}, false, 100000, 8};
  const Script lasting{times(16, op(OpClass::Alu)), 2000, {}, false, 1000, 8};
  const auto share_of_the_first = [&](bool stay) {
    machine.sm.kernels_stay = stay;
    RunSpec both = spec(machine, brief);
    both.launches.push_back(spec(machine, lasting).launches.front());
    both.make_scheduler = [m = machine, a = both.launches[0].kernel, b = both.launches[1].kernel] {
      return make_scheduler("static", {m, {a, b}, {CtaCount(4), CtaCount(4)}});
    };
    both.window = Cycles(60000);
    const RunResult r = run({both}).front();
    return static_cast<double>(r.kernels[0].warp_instructions) / static_cast<double>(r.total.warp_instructions);
  };
  EXPECT_LT(share_of_the_first(false), 0.5);
  EXPECT_GT(share_of_the_first(true), 0.6);
}

/// A warp's chain of shifts takes half of its scheduler's pipeline. Three of them need 6 cycles a step in turn. With one behind
/// the others two of them take 4, and the last one 4 more. An H100 has both (results/h200/hopper/h100/order.jsonl).
TEST(WarpAge, WarpsOfACtaGoInTurnAndOlderCtasFirst) {
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  machine.num_sms = 1;
  machine.sm.jump_latency = 0;  // the script has no code
  Instruction shift = op(OpClass::Alu, 1, 1);
  shift.pipe = Pipe::Int;
  const auto cycles_a_step = [&](WarpSchedulerKind kind, std::uint32_t ctas, std::uint32_t warps) {
    machine.sm.scheduler = kind;
    constexpr std::uint32_t kSteps = 5000;
    return slope(machine, {times(10, shift), kSteps / 10, {}, false, ctas, warps * machine.sm.schedulers}).cycles / kSteps;
  };
  EXPECT_NEAR(cycles_a_step(WarpSchedulerKind::OldestCta, 1, 3), 6, 0.05);
  EXPECT_NEAR(cycles_a_step(WarpSchedulerKind::OldestCta, 3, 1), 8, 0.05);
  EXPECT_NEAR(cycles_a_step(WarpSchedulerKind::Gto, 1, 3), 8, 0.05);
  EXPECT_NEAR(cycles_a_step(WarpSchedulerKind::Lrr, 3, 1), 6, 0.05);
}

}  // namespace
}  // namespace sluice
