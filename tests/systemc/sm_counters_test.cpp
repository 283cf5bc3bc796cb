// SPDX-License-Identifier: Apache-2.0
// What an SM counts: whose fault a stall is, what a miss is, what an atomic costs.
#include <gtest/gtest.h>

#include "study/trace_run.h"
#include "sw/workload/machine_file.h"
#include "tests/support.h"
#include "tests/systemc/scripted_kernel.h"
#include "tests/trace/sample_traces.h"

namespace sluice {
namespace {

using namespace scripted;

const std::filesystem::path kMachines = std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines";
constexpr std::uint64_t kData = std::uint64_t{1} << 40;

class SmCounts : public test::Scratch {
 protected:
  MachineConfig machine = read_machine(kMachines / "fermi_table1.toml");

  Script lines(std::uint32_t per_load, bool streams) {
    Script script{times(16, op(OpClass::Load)), 16, {}, false, machine.num_sms, 32};
    script.lines = [=](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
      const std::uint64_t first = streams ? (static_cast<std::uint64_t>(n) * 512 + warp) * per_load : 0;
      for (std::uint32_t i = 0; i < per_load; ++i) out.push_back({kData + (first + i) * 128});
    };
    return script;
  }
};

TEST_F(SmCounts, AnLdstQueueThatMemoryHoldsIsLongMemoryLatency) {
  const RunResult r = run({spec(machine, lines(2, true))}).front();
  EXPECT_GT(r.stalls.long_memory, 9 * r.stalls.execution_resource);
  EXPECT_GT(r.stalls.long_memory, r.sm_cycles / 2);
}

TEST_F(SmCounts, AnLdstQueueThatItsOwnLookupsHoldIsAnExecutionResource) {
  const RunResult r = run({spec(machine, lines(32, false))}).front();  // 32 lines an instruction, all in the L1
  EXPECT_GT(r.stalls.execution_resource, 9 * r.stalls.long_memory);
  EXPECT_GT(r.stalls.execution_resource, r.sm_cycles / 2);
}

TEST_F(SmCounts, ALoadOfALineOnItsWayIsAMergeAndNoMiss) {
  Script script{{op(OpClass::Load)}, 1, {}, false, 1, 4};
  script.lines = [](std::uint32_t, std::uint32_t, std::vector<LineAccess>& out) { out.push_back({kData}); };
  const KernelCounters count = run({spec(machine, script)}).front().total;
  EXPECT_EQ(count.l1_accesses, 4U);
  EXPECT_EQ(count.l1_misses, 1U);
  EXPECT_EQ(count.l1_merges, 3U);
  EXPECT_EQ(count.l2_accesses, 1U);
}

class Atomics : public SmCounts {
 protected:
  /// One warp that does `line` so often.
  RunResult trace(const std::string& line, unsigned count) {
    std::vector<std::string> lines(count, line);
    lines.emplace_back("0010 ffffffff 0 EXIT 0 0 0");
    write("kernel-1.traceg", sample::one_warp(lines));
    return run({trace_spec({write("kernelslist.g", "kernel-1.traceg\n")}, machine, {})}).front();
  }
  double more(const std::string& line, std::uint64_t KernelCounters::*counter) {  // of one atomic
    return static_cast<double>(trace(line, 128).total.*counter - trace(line, 64).total.*counter) / 64;
  }
  static std::string of(const std::string& opcode, const std::string& destination, unsigned stride) {
    return fmt::format("0000 ffffffff {} {} 2 R2 R6 4 1 0x7f5000000000 {} 0", destination, opcode, stride);
  }
};

TEST_F(Atomics, LanesThatShareAWordAreUpdatedOneACycle) {
  const auto cycles = [&](unsigned stride) {
    const std::string line = of("RED.E.ADD", "0", stride);
    return static_cast<double>(trace(line, 128).cycles.value() - trace(line, 64).cycles.value()) / 64;
  };
  EXPECT_NEAR(cycles(0), 32, 2);
  EXPECT_NEAR(cycles(4), 4, 0.5);  // a word each, in one line: 136 bytes are four flits of the SM's port
}

TEST_F(Atomics, OperandsTravelToTheL2AndResultsBackOnlyWhereThereAreAny) {
  constexpr unsigned kHeader = 8, kLine = 128;
  EXPECT_EQ(more(of("RED.E.ADD", "0", 4), &KernelCounters::noc_bytes), kHeader + kLine + kHeader);
  EXPECT_EQ(more(of("ATOMG.E.ADD", "1 R8", 4), &KernelCounters::noc_bytes), 2 * (kHeader + kLine));
}

}  // namespace
}  // namespace sluice
