// SPDX-License-Identifier: Apache-2.0
// When a kernel is over whose stores are on their way (kernel_waits_for_stores).
#include <gtest/gtest.h>

#include "sw/workload/machine_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

using namespace scripted;

constexpr std::uint64_t kFar = 1ULL << 32;

MachineConfig h200() { return read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml"); }

/// Every warp stores `stores` lines, four an instruction, side by side with those of the others, and ends.
Script storing(std::uint32_t ctas, std::uint32_t warps, std::uint32_t stores) {
  Script script{times(stores / 4, op(OpClass::Store)), 1, {}, false, ctas, warps};
  script.lines = [=](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
    for (std::uint64_t l = 0; l < 4; ++l) out.push_back({kFar + (std::uint64_t{warp} * stores + n * 4 + l) * kLineBytes});
  };
  return script;
}

/// Cycles of a script when nothing, the kernel, and each CTA waits for stores.
struct Ends {
  std::uint64_t nothing = 0, kernel = 0, cta = 0;
};
Ends ends(MachineConfig machine, const Script& script) {
  machine.sm.kernel_waits_for_stores = false;
  RunSpec nothing = spec(machine, script), kernel = nothing, cta = nothing;
  kernel.machine.sm.kernel_waits_for_stores = true;
  cta.machine.sm.cta_waits_for_stores = true;
  const std::vector<RunResult> r = run({nothing, kernel, cta});
  return {r[0].cycles.value(), r[1].cycles.value(), r[2].cycles.value()};
}

/// One CTA alone: it is the same who waits. What is waited for is a way to the L2 and back.
TEST(KernelEnd, ComesWithTheAnswerToItsLastStore) {
  const MachineConfig machine = h200();
  const Ends one = ends(machine, storing(1, 1, 4));
  EXPECT_EQ(one.kernel, one.cta);
  EXPECT_GT(one.kernel - one.nothing, 2 * machine.interconnect.latency);
  EXPECT_LT(one.kernel - one.nothing, 2 * machine.interconnect.latency + machine.l2.hit_latency + 32);
}

/// Of CTAs that follow each other on an SM only the last ones' stores are waited for: the others' places are free before.
TEST(KernelEnd, IsLateOnceAndNotOnceACta) {
  constexpr std::uint32_t kTurns = 5;
  MachineConfig machine = h200();
  machine.sm.capacity.cta_slots = 1;
  const Ends one = ends(machine, storing(machine.num_sms, 1, 4)), turns = ends(machine, storing(kTurns * machine.num_sms, 1, 4));
  EXPECT_NEAR(static_cast<double>(turns.kernel - turns.nothing), static_cast<double>(one.kernel - one.nothing), 20);
  EXPECT_GT(turns.cta - turns.nothing, (kTurns - 1) * (one.cta - one.nothing));
}

/// `l2_store` of results/h200/hopper: the L2 takes 75 sectors a cycle of all SMs, so what is stored can't have left before.
TEST(KernelEnd, CannotOutrunTheL2) {
  const MachineConfig machine = h200();
  const Script script = storing(4 * machine.num_sms, 8, 32);
  const double least = 4.0 * 8 * 32 * 4 * machine.num_sms / 80;
  const Ends found = ends(machine, script);
  EXPECT_GT(static_cast<double>(found.kernel), least);
  EXPECT_LT(static_cast<double>(found.nothing), least) << "the case shows nothing: its stores are done when its CTAs are";
}

/// A kernel without a store ends with its last CTA.
TEST(KernelEnd, OfAKernelWithoutAStoreIsItsLastCtas) {
  const Ends found = ends(h200(), {times(64, op(OpClass::Alu, 1, 1)), 5, {}, false, 200, 4});
  EXPECT_EQ(found.kernel, found.nothing);
}

}  // namespace
}  // namespace sluice
