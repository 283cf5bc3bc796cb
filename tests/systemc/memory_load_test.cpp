// SPDX-License-Identifier: Apache-2.0
// DRAM of the sm_90 machines under load, beside rows of results/h200/hopper/memory.jsonl.
#include <gtest/gtest.h>

#include <algorithm>

#include "sw/workload/machine_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

using namespace scripted;

constexpr std::uint64_t kFar = 1ULL << 32, kLine = kLineBytes, kLinesATurn = 16;
constexpr std::uint32_t kAlu = 12;  ///< an instruction of address arithmetic for each of the loop's nine or so
constexpr double kPart = 11;        ///< the machine is an eleventh of an H200

MachineConfig eleventh() {
  return read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "results/model_vs_h200/shared/h200_eleventh.toml");
}

/// The loop of `dram_load`, `dram_store` and `dram_copy`: 2 KB of each warp a turn, four accesses of 512 bytes side by side, the
/// warps of all SMs side by side too.
Script streams(const MachineConfig& machine, std::uint32_t warps, bool loads, bool stores) {
  std::vector<Instruction> body;
  for (std::uint8_t i = 0; loads && i < 4; ++i) body.push_back(op(OpClass::Load, static_cast<std::uint8_t>(8 + i)));
  for (std::uint8_t i = 0; loads && i < 4; ++i) body.push_back(op(OpClass::Alu, 1, static_cast<std::uint8_t>(8 + i)));
  for (std::uint32_t i = 0; stores && i < 4; ++i) body.push_back(op(OpClass::Store));
  for (std::uint32_t i = 0; i < kAlu; ++i) body.push_back(op(OpClass::Alu, 1, 1));
  Script script{body, 512 / warps, {}, false, machine.num_sms, warps};
  const std::uint32_t all = machine.num_sms * warps, each = (loads ? 4 : 0) + (stores ? 4 : 0);
  script.lines = [=](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
    const bool store = !loads || n % each >= 4;
    const std::uint64_t chunk = std::uint64_t{n / each} * all + warp, first = chunk * kLinesATurn + std::uint64_t{n % 4} * 4;
    for (std::uint64_t l = 0; l < 4; ++l)
      out.push_back({kFar + (store && loads ? kFar : 0) + (first + l) * kLine, std::uint8_t{0xf}});
  };
  return script;
}

/// Bytes a cycle that one way moves, of a whole H200.
double bytes_a_cycle(const MachineConfig& machine, std::uint32_t warps, bool loads, bool stores) {
  const Script script = streams(machine, warps, loads, stores);
  return kPart * script.ctas * warps * script.rounds * kLinesATurn * kLine / slope(machine, script).cycles;
}

/// `dram_load`, 16 bytes a lane: warps of an SM, and bytes a cycle. Without refreshes eight warps have a quarter more.
TEST(DramUnderLoad, FillsAsSoftlyAsOnAnH200) {
  MachineConfig machine = eleventh();
  for (const auto& [warps, row] : {std::pair{4U, 1145.8}, {8U, 1836.4}, {16U, 2254.8}, {32U, 2308.4}})
    EXPECT_NEAR(bytes_a_cycle(machine, warps, true, false), row, 0.1 * row) << warps << " warps";
  machine.dram.t_refi = 0;
  EXPECT_GT(bytes_a_cycle(machine, 8, true, false), 1.15 * 1836.4);
}

/// `dram_store` and `dram_copy`: 4,264.6 GB/s, and 2,002.8 GB/s each way, at 1,980 MHz.
TEST(DramUnderLoad, TakesStoresAsAnH200Does) {
  MachineConfig machine = eleventh();
  const double rows = bytes_a_cycle(machine, 32, false, true);
  EXPECT_NEAR(rows, 2154, 0.1 * 2154);
  EXPECT_NEAR(bytes_a_cycle(machine, 32, true, true), 1012, 0.12 * 1012);
  machine.l2.writes_rows = false;
  EXPECT_GT(bytes_a_cycle(machine, 32, false, true), 1.05 * std::max(rows, 2154.0))
      << "lines that leave alone mix with what comes";
  machine.dram.queue_depth = 64;
  EXPECT_LT(bytes_a_cycle(machine, 32, false, true), 0.9 * 2154) << "fewer than 123 lines are too few for latency and bandwidth";
}

/// One bank that is read without end: the row hits of a refresh interval less the refresh and what it takes to open the row
/// again.
TEST(DramUnderLoad, ABankIsOpenWhenItIsNotRefreshed) {
  MachineConfig machine = eleventh();
  machine.num_sms = 1;
  machine.l2_slices = machine.dram.channels = machine.dram.banks = 1;
  machine.dram.row_bytes = 65536;
  machine.dram.controller_latency = 0;
  machine.dram.t_refi = 2000;
  machine.dram.t_rfc = 400;
  Script script{{}, 128, {}, false, 1, 16};
  for (std::uint8_t i = 0; i < 8; ++i) script.body.push_back(op(OpClass::Load, static_cast<std::uint8_t>(8 + i)));
  for (std::uint8_t i = 0; i < 8; ++i) script.body.push_back(op(OpClass::Alu, 1, static_cast<std::uint8_t>(8 + i)));
  script.lines = [](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
    out.push_back({kFar + (std::uint64_t{n} * 16 + warp) * kLine, std::uint8_t{0xf}});
  };
  const Slope refreshed = slope(machine, script);
  machine.dram.t_refi = 0;
  const double open = 1 - (400.0 + machine.dram.t_rcd + machine.dram.t_cl) / 2000;
  const Slope never = slope(machine, script);
  EXPECT_NEAR(never.cycles / refreshed.cycles, open, 0.1 * open);
  const double refreshes = refreshed.cycles * machine.dram.clock_mhz / machine.core_mhz / 2000;
  EXPECT_NEAR(refreshed.dram_rows_opened - never.dram_rows_opened, refreshes, 0.2 * refreshes) << "each closes the row";
}

}  // namespace
}  // namespace sluice
