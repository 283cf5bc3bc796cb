// SPDX-License-Identifier: Apache-2.0
// Reads of host memory against closed forms.
#include <gtest/gtest.h>

#include "sw/workload/machine_file.h"
#include "systemc/memory/host_port.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

class HostMemory : public ::testing::Test {
 protected:
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/fermi_table1.toml");

  /// Cycles of a round in which each of `warps` warps reads host memory and waits for it.
  [[nodiscard]] double round(std::uint32_t warps) const {
    scripted::Script script;
    script.body = {scripted::op(OpClass::Load, 1), scripted::op(OpClass::Alu, 2, 1)};
    script.body.front().bypass_l1 = true;
    script.rounds = 16;
    script.warps = warps;
    script.lines = [](std::uint32_t, std::uint32_t, std::vector<LineAccess>& lines) { lines.push_back({kHostMemory, 1}); };
    return scripted::slope(machine, script).cycles / 16;
  }
};

TEST_F(HostMemory, OneAfterTheOtherTakesTheLatencyEach) {
  machine.host.pcie_read_us = 2;  // 1,400 cycles
  EXPECT_EQ(host_read_cycles(machine), 1400U);
  EXPECT_NEAR(round(1), 1400 + machine.sm.l1.miss_latency + 2 * machine.interconnect.latency, 20);
}

TEST_F(HostMemory, SideBySideTheyTakeNoLonger) { EXPECT_NEAR(round(8) / round(1), 1, 0.05); }

TEST_F(HostMemory, OnlySoManyAreInFlight) {
  machine.host.pcie_read_us = 2;
  machine.host.pcie_reads = 2;
  EXPECT_NEAR(round(8), 4 * 1400, 20);
}

}  // namespace
}  // namespace sluice
