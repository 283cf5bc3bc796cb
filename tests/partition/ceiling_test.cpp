// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/ceiling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sw/workload/machine_file.h"
#include "tests/support.h"

namespace sluice {
namespace {

MachineConfig machine_of(const char* name) {
  return read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines" / (std::string(name) + ".toml"));
}

TEST(Ceiling, IsTheLesserOfCrossbarAndDram) {
  MachineConfig m = machine_of("fermi_table1");
  const double dram = 6 * 32 * 924.0 / 700 / 128, crossbar = (16 + 12 - 20.0) / 4;  // 136 bytes are four flits of 40
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), std::min(dram, crossbar));
  m.dram.channels = 12;
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), crossbar);
}

TEST(Ceiling, FifoInputsOfASquareCrossbarFillTwoMinusRootTwo) {
  MachineConfig m = machine_of("fermi_table1");
  m.dram.channels = 100;
  m.l2_slices = m.num_sms = 16;
  EXPECT_NEAR(lines_per_cycle(m) * 4 / 16, 2 - std::sqrt(2.0), 1e-12);
  m.interconnect.input_queued = false;
  EXPECT_DOUBLE_EQ(lines_per_cycle(m) * 4 / 16, 1);
}

TEST(Ceiling, ASectorOfThirtyTwoBytesCostsAWholeBurst) {
  MachineConfig m = machine_of("fermi_accelsim");
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), 6 * 32 * 924.0 / 700 / 256) << "a line is four sectors at 64 bytes each";
}

TEST(Ceiling, SectorsThatDramJoinsCostTheirBlocks) {
  MachineConfig m = machine_of("h200_sm90");
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), 96 * 16 * 2977.0 / 1980 / 128) << "a line is two blocks of 64 bytes";
  m.dram.joins_sectors = false;
  EXPECT_DOUBLE_EQ(lines_per_cycle(m), 96 * 16 * 2977.0 / 1980 / 256);
}

TEST(Ceiling, NarrowPortsOfTheSlicesBindBeforeThoseOfTheSms) {
  MachineConfig m = machine_of("h200_sm90");
  EXPECT_DOUBLE_EQ(crossbar_lines_per_cycle(m), 96 / 2) << "64 bytes a cycle and slice";
  m.interconnect.slice_bytes_per_cycle = 0;
  EXPECT_DOUBLE_EQ(crossbar_lines_per_cycle(m), 96) << "as wide as the SMs' ports";
}

TEST(Ceiling, ShareIsOfOneSmAndOneWindow) {
  MachineConfig m = machine_of("fermi_table1");
  EXPECT_EQ(request_share(m), std::lround(lines_per_cycle(m) * 5120 / 16));
  m.partitioner.lines_per_cycle = 0.001;
  EXPECT_EQ(request_share(m), 1U);
  m.partitioner.lines_per_cycle = 0;
  EXPECT_EQ(request_share(m), 0U);
}

TEST(Ceiling, AWindowThatTheRegisterCannotHoldIsRefused) {
  MachineConfig m = machine_of("fermi_table1");
  m.partitioner.lines_per_cycle = 4;
  m.partitioner.profile_cycles = 65535;
  const std::string said = test::refusal([&] { (void)request_share(m); });  // a share of 16,384 lines
  EXPECT_NE(said.find("partitioner.profile_cycles = 65535"), std::string::npos) << said;
  EXPECT_NE(said.find("must be at most 32764"), std::string::npos) << said;
}

}  // namespace
}  // namespace sluice
