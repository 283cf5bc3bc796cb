// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>

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

/// Three places for CTAs, whose chains of shifts each take half of a pipeline. Where CTAs stay, the third place's block has
/// nothing until the other two have done all the rest. Otherwise its block is the oldest once the first two have ended.
TEST(WarpAge, TheBlocksOfAPlaceKeepItsAgeWhereCtasStay) {
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  machine.num_sms = machine.sm.schedulers = 1;
  machine.sm.capacity.cta_slots = 3;
  machine.sm.cta_launch_latency = 1;
  constexpr std::uint32_t kBlocks = 9;
  Instruction shift = op(OpClass::Alu, 1, 1);
  shift.pipe = Pipe::Int;
  Script script{times(2000, shift), 1, {}, false, kBlocks, 1};
  script.body.push_back(op(OpClass::Store));
  // The simulation is a process of its own.
  auto* order = static_cast<std::array<std::uint32_t, kBlocks + 1>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(order, MAP_FAILED);
  script.lines = [order](std::uint32_t warp, std::uint32_t, std::vector<LineAccess>& out) {
    order->at(warp) = order->back()++;
    out.push_back({warp * kLineBytes, 1});
  };
  const auto third_block_ends_as = [&](bool stay) {
    machine.sm.kernels_stay = stay;
    order->fill(0);
    (void)run({spec(machine, script)});
    return order->at(2) + 1;
  };
  EXPECT_EQ(third_block_ends_as(true), kBlocks);
  EXPECT_LE(third_block_ends_as(false), 4U);
  munmap(order, 4096);
}

/// Blocks of two warps, of which the first has a chain of loads from DRAM and the second one from the L1. Where the last warp of
/// a block is not full, a free warp takes the next one of the blocks, so each has half of the work. Otherwise a block waits for
/// its first.
TEST(WarpsApart, AFreeWarpTakesTheNextPieceOfTheBlocks) {
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  machine.num_sms = 1;
  machine.sm.capacity.cta_slots = 1;
  machine.sm.cta_launch_latency = 6000;
  machine.sm.cta_launch_latency_apart = 800;
  constexpr std::uint32_t kBlocks = 40, kLoads = 16;
  Script script{times(kLoads, op(OpClass::Load, 1, 1)), 1, {}, false, kBlocks, 2};
  script.lines = [](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
    out.push_back(
        {warp % 2 == 0 ? (1ULL << 32) + (std::uint64_t{warp} * kLoads + n) * 64 * kLineBytes : 1ULL << 31, std::uint8_t{0xf}});
  };
  const auto cycles_a_block = [&](std::uint32_t threads) {
    RunSpec one = spec(machine, script);
    one.launches.front().kernel.block_threads = threads;
    return static_cast<double>(run({one}).front().cycles.value()) / kBlocks;
  };
  const double together = cycles_a_block(64), apart = cycles_a_block(45);
  machine.sm.cta_launch_latency_apart = 0;
  EXPECT_DOUBLE_EQ(cycles_a_block(45), together) << "without the key every block has one end";
  const double slow = together - 6000, fast = kLoads * 34;
  EXPECT_NEAR(apart, (slow + 800 + fast + 800) / 2, 0.05 * together);
}

}  // namespace
}  // namespace sluice
