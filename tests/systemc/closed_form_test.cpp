// SPDX-License-Identifier: Apache-2.0
// Microbenchmarks of the Fermi machines against closed forms: what a figure follows from stands beside it. Slopes of two lengths
// are used, so start-up cancels.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sw/workload/machine_file.h"
#include "tests/systemc/scripted_kernel.h"

namespace sluice {
namespace {

using namespace scripted;

constexpr std::uint64_t kData = std::uint64_t{1} << 40;
constexpr std::uint64_t kLine = 128;

class ClosedForm : public ::testing::TestWithParam<const char*> {
 protected:
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines" / GetParam());

  /// Loads past the L1, `per_round` a warp and round; `line` of (warp, number of the load).
  Script loads(std::uint32_t ctas, std::uint32_t warps, std::uint32_t per_round, std::uint32_t rounds,
               const std::function<std::uint64_t(std::uint32_t, std::uint32_t)>& line) const {
    Script script;
    for (std::uint32_t i = 0; i < per_round; ++i) {
      script.body.push_back(op(OpClass::Load, static_cast<std::uint8_t>(i % 64)));
      script.body.back().bypass_l1 = true;
    }
    script.rounds = rounds;
    script.ctas = ctas;
    script.warps = warps;
    script.lines = [line](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
      out.push_back({kData + line(warp, n) * kLine});
    };
    return script;
  }
  [[nodiscard]] double dram_peak() const {  // bytes a core cycle
    return machine.dram.channels * machine.dram.bytes_per_cycle * machine.dram.clock_mhz / machine.core_mhz;
  }
  [[nodiscard]] double core_cycles(double dram_cycles) const { return dram_cycles * machine.core_mhz / machine.dram.clock_mhz; }
  [[nodiscard]] std::uint32_t flits(std::uint32_t payload) const {
    return (machine.interconnect.header_bytes + payload + machine.interconnect.bytes_per_cycle - 1) /
           machine.interconnect.bytes_per_cycle;
  }
  /// Lines a cycle that FIFO inputs let through from L2 to the SMs, all inputs full, at random outputs. Each of the `inputs`
  /// heads queues at one of the outputs. An output that is busy for a share u of the time has u + u^2 / 2 (1 - u) heads when it
  /// serves one after the other (M/D/1; Karol, Hluchyj and Morgan, 1987: 2 - sqrt 2 for as many inputs as outputs). Sectors take
  /// turns: then it has u / (1 - u).
  [[nodiscard]] double crossbar_lines(bool sectors) const {
    const double heads = static_cast<double>(machine.l2_slices) / machine.num_sms;  // at an output
    const double in_order = 1 + heads - std::sqrt(1 + heads * heads), in_turn = heads / (1 + heads);
    return (sectors ? in_turn : in_order) * machine.num_sms / flits(kLine);
  }
  /// Load to use of an L2 hit: LDST unit, way out of the SM, one flit, crossbar, L2, a line's flits, crossbar.
  [[nodiscard]] double l2_hit() const {
    return 1 + machine.sm.l1.miss_latency + flits(0) + 2 * machine.interconnect.latency + machine.l2.hit_latency + flits(kLine);
  }
};

TEST_P(ClosedForm, ManyWarpsIssueOneInstructionASchedulerAndCycle) {
  const Script script{times(64, op(OpClass::Alu)), 20, {}, false, 1, 32};
  EXPECT_NEAR(64 * 20 * 32 / slope(machine, script).cycles, machine.sm.schedulers, 0.01);
}

TEST_P(ClosedForm, EveryCtaInTurnPaysItsSetUp) {
  constexpr std::uint32_t kTurns = 3, kMore = 100;
  machine.sm.capacity.cta_slots = 1;
  const Script script{times(64, op(OpClass::Alu)), 5, {}, false, kTurns * machine.num_sms, 1};
  RunSpec usual = spec(machine, script), longer = usual;
  longer.machine.sm.cta_launch_latency += kMore;
  const std::vector<RunResult> results = run({usual, longer});
  EXPECT_EQ(results[1].cycles.value() - results[0].cycles.value(), kTurns * kMore);
}

TEST_P(ClosedForm, OneWarpInALoopIssuesWidthInstructionsAFetch) {
  Script script{times(4, op(OpClass::Alu)), 500, {}, true, 1, 1};
  const double a_fetch = machine.sm.fetch.latency + 1;  // the next one begins when its last instruction has issued
  EXPECT_NEAR(slope(machine, script).cycles / (4 * 500), a_fetch / machine.sm.fetch.width, 0.01);
}

TEST_P(ClosedForm, ADependentInstructionWaitsForItsProducersLatency) {
  const std::vector<std::pair<OpClass, std::uint32_t>> latencies{{OpClass::Alu, machine.sm.alu_latency},
                                                                 {OpClass::Sfu, machine.sm.sfu_latency},
                                                                 {OpClass::Dp, machine.sm.dp_latency},
                                                                 {OpClass::Tensor, machine.sm.tensor_latency},
                                                                 {OpClass::Shared, machine.sm.shared_latency + 1}};
  std::vector<Script> scripts;
  for (const auto& [what, cycles] : latencies) scripts.push_back({times(10, op(what, 1, 1)), 20, {}, false, 1, 1});
  const std::vector<Slope> found = slopes(machine, scripts);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i].cycles / 200, latencies[i].second, 0.01) << i;
}

TEST_P(ClosedForm, AHitInTheL1TakesItsLatencyAndOneCycle) {
  Script script{times(10, op(OpClass::Load, 1, 1)), 20, {}, false, 1, 1};
  script.lines = [](std::uint32_t, std::uint32_t, std::vector<LineAccess>& out) { out.push_back({kData}); };
  EXPECT_NEAR(slope(machine, script).cycles / 200, machine.sm.l1.hit_latency + 1, 0.01);
}

TEST_P(ClosedForm, AHitInTheL2TakesTheSumOfItsWay) {
  Script script = loads(1, 1, 64, 8, [](std::uint32_t, std::uint32_t n) { return n % 64; });
  for (Instruction& load : script.body) load.dst = load.src[0] = 1;
  EXPECT_NEAR(slope(machine, script).cycles / (64 * 8), l2_hit(), 0.05);
}

TEST_P(ClosedForm, AChainThroughDramAddsTheControllerAndABank) {
  const DramConfig& d = machine.dram;
  const std::uint64_t lines_a_row = static_cast<std::uint64_t>(d.row_bytes) * d.channels / kLine;
  Script script = loads(1, 1, 64, 4, [=](std::uint32_t, std::uint32_t n) { return n * lines_a_row; });  // a new row each
  for (Instruction& load : script.body) load.dst = load.src[0] = 1;
  const double data = machine.l2.sectored ? 4.0 * d.access_bytes / d.bytes_per_cycle : 1.0 * kLine / d.bytes_per_cycle;
  const double base = l2_hit() + d.controller_latency + core_cycles(d.t_rcd + d.t_cl + data);
  const double measured = slope(machine, script).cycles / (64 * 4);
  EXPECT_GE(measured, base);
  EXPECT_LE(measured, base + core_cycles(d.t_rp) + 3);  // the bank's last row closed; three times up to a whole cycle
}

TEST_P(ClosedForm, TheScratchpadTakesAPassACycle) {
  std::vector<Script> scripts;
  const std::vector<std::uint8_t> passes{1, 2, 3, 8, 32};
  for (const std::uint8_t p : passes) {
    scripts.push_back({times(16, op(OpClass::Shared)), 4, {}, false, 1, 16});
    for (Instruction& i : scripts.back().body) i.interval = p;
  }
  const std::vector<Slope> found = slopes(machine, scripts);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i].cycles / (16 * 4 * 16), passes[i], 0.02 * passes[i]);
}

TEST_P(ClosedForm, TheL1LooksUpALineACycle) {
  std::vector<Script> scripts;
  for (const std::uint32_t lines : {1U, 4U, 32U}) {
    scripts.push_back({times(16, op(OpClass::Load)), 8, {}, false, 1, 16});
    scripts.back().lines = [lines](std::uint32_t, std::uint32_t, std::vector<LineAccess>& out) {
      for (std::uint32_t i = 0; i < lines; ++i) out.push_back({kData + i * kLine});
    };
  }
  const std::vector<Slope> found = slopes(machine, scripts);
  for (const auto& [i, lines] : {std::pair{0U, 1.0}, {1U, 4.0}, {2U, 32.0}})
    EXPECT_NEAR(found[i].cycles / (16 * 8 * 16), lines, 0.02 * lines);
}

/// LRU, N lines in turn, C that fit: the N - C sets with one line too many miss all of theirs, ways + 1 each.
TEST_P(ClosedForm, LinesInTurnMissAsLruDoes) {
  const std::uint32_t ways = machine.sm.l1.ways, c = machine.sm.l1.bytes / kLine;
  std::vector<Script> scripts;
  const std::vector<std::uint32_t> counts{c, c + 1, c + 4, c + c / 8, c + c / 4, 2 * c};
  for (const std::uint32_t n : counts) {
    scripts.push_back({times(n, op(OpClass::Load, 1, 1)), 3, {}, false, 1, 1});
    scripts.back().lines = [n](std::uint32_t, std::uint32_t i, std::vector<LineAccess>& out) {
      out.push_back({kData + i % n * kLine});
    };
  }
  const std::vector<Slope> found = slopes(machine, scripts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double n = counts[i];
    EXPECT_NEAR(found[i].l1_misses / found[i].l1_accesses, std::min(1.0, (n - c) * (ways + 1) / n), 0.001) << n;
  }
}

TEST_P(ClosedForm, LinesFourKilobytesApartSpreadOverTheL1) {
  Script script{times(64, op(OpClass::Load, 1, 1)), 3, {}, false, 1, 1};
  script.lines = [](std::uint32_t, std::uint32_t i, std::vector<LineAccess>& out) { out.push_back({kData + i % 64 * 4096}); };
  EXPECT_EQ(slope(machine, script).l1_misses, 0);
}

TEST_P(ClosedForm, HitsInTheL2OfAllSmsTakeWhatFifoInputsLeave) {
  const Script script = loads(machine.num_sms, 32, 16, 4, [](std::uint32_t warp, std::uint32_t n) {
    std::mt19937 random(warp * 4096 + n % 32);
    random.discard(2);
    return random() % 2048;  // 256 KB
  });
  const double lines = 16.0 * 4 * 32 * machine.num_sms / slope(machine, script).cycles;
  EXPECT_NEAR(lines / crossbar_lines(machine.l2.sectored), 1, 0.05);
}

/// A load is a flit one way and a line's flits the other, a store the reverse: both ways fill, each to what FIFO inputs leave.
TEST_P(ClosedForm, LoadsAndStoresThatHitShareTheFlitsOfBothWays) {
  std::vector<Script> scripts;
  for (const std::uint32_t loads_of_four : {0U, 2U}) {
    scripts.push_back(loads(machine.num_sms, 32, 16, 4, [](std::uint32_t warp, std::uint32_t n) {
      std::mt19937 random(warp * 4096 + n % 32);
      random.discard(2);
      return random() % 2048;
    }));
    for (std::uint32_t i = 0; i < 16; ++i)
      if (i % 4 >= loads_of_four) scripts.back().body[i] = op(OpClass::Store);
  }
  const std::vector<Slope> found = slopes(machine, scripts);
  const double accesses = 16.0 * 4 * 32 * machine.num_sms;
  const double back = crossbar_lines(machine.l2.sectored) * flits(kLine), there = crossbar_lines(false) * flits(kLine);
  EXPECT_NEAR(accesses / found[0].cycles / (there / flits(kLine)), 1, 0.05);
  EXPECT_NEAR(accesses / found[1].cycles / (2 * std::min(there, back) / (1 + flits(kLine))), 1, 0.08);
}

TEST_P(ClosedForm, StreamsTakeDramOrTheCrossbarWhicheverIsLess) {
  const std::uint32_t warps = machine.num_sms * 32;
  const Script script = loads(machine.num_sms, 32, 16, 4, [=](std::uint32_t warp, std::uint32_t n) { return n * warps + warp; });
  const Slope found = slope(machine, script);
  const double crossbar = crossbar_lines(machine.l2.sectored) * kLine;
  const double a_byte = machine.l2.sectored ? machine.dram.access_bytes / 32.0 : 1;  // of DRAM for one of the line
  const double share = found.dram_bytes / found.cycles / std::min(dram_peak(), crossbar * a_byte);
  EXPECT_GT(share, 0.9);  // whole lines: two limits 1 % apart, and each waits for the other
  EXPECT_LE(share, 1.0);
}

/// Random lines: an activate each, and one activate a tRRD.
TEST_P(ClosedForm, RandomReadsTakeALineAnActivate) {
  const Script script = loads(machine.num_sms, 32, 16, 4, [](std::uint32_t warp, std::uint32_t n) {
    std::mt19937_64 random(warp * 4096 + n);
    random.discard(2);
    return random() % (1U << 28);
  });
  const Slope found = slope(machine, script);
  const double bytes = machine.l2.sectored ? 4.0 * machine.dram.access_bytes : 1.0 * kLine;
  const double burst = bytes / machine.dram.bytes_per_cycle;
  EXPECT_NEAR(found.dram_bytes / found.cycles / dram_peak(), std::min(1.0, burst / machine.dram.t_rrd), 0.05);
}

TEST_P(ClosedForm, NewRowsOfOneBankComeATrcApart) {
  const DramConfig& d = machine.dram;
  std::vector<std::uint64_t> lines;  // of slice 0 and bank 0, as the two hashes have it
  const std::uint64_t granules = kData / 256, rows = static_cast<std::uint64_t>(d.row_bytes) * d.channels;
  for (std::uint64_t g = 0; lines.size() < 512; g += rows / 256) {
    const std::uint64_t granule = granules + g, row = granule * 256 / rows;
    if ((row ^ (row >> 5) ^ (row >> 11)) % d.banks != 0) continue;
    for (std::uint64_t i = 0; i < rows / 256; ++i) {
      const std::uint64_t at = granule + i;
      if (at * 256 / rows != row || (at ^ (at >> 7) ^ (at >> 15)) % machine.l2_slices != 0) continue;
      lines.push_back((at - granules) * 2);
      break;
    }
  }
  const Script script = loads(1, 1, 64, 4, [=](std::uint32_t, std::uint32_t n) { return lines[n % lines.size()]; });
  EXPECT_NEAR(slope(machine, script).cycles / (64 * 4), core_cycles(d.t_rc), 1);
}

/// Little: MSHRs = lines a cycle x load to use, less the cycle before the lookup takes one.
TEST_P(ClosedForm, OneSmGetsAsManyLinesAsItsMshrsAllow) {
  machine.sm.l1.bytes = 1024 * 128;  // sets enough that only MSHRs are short
  machine.sm.l1.ways = 1024;
  machine.sm.l1.index = CacheIndex::Linear;
  for (const std::uint32_t mshrs : {8U, 16U, 32U}) {
    machine.sm.l1.mshrs = mshrs;
    Script script{
        times(16, op(OpClass::Load)), 8, {}, false, 1, 16};  // rounds apart in the L1, again and again the same in the L2
    script.lines = [](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
      out.push_back({kData + (static_cast<std::uint64_t>(n) * 16 + warp) % 4096 * kLine});
    };
    const std::vector<RunResult> r = run({spec(machine, script)});
    const double latency = mshrs * static_cast<double>(r[0].cycles.value()) / (16.0 * 16 * 8);
    EXPECT_GT(latency, l2_hit() + machine.dram.controller_latency) << mshrs;
    EXPECT_LT(latency, 1.15 * (l2_hit() + machine.dram.controller_latency + core_cycles(40))) << mshrs;
  }
}

TEST_P(ClosedForm, ALoopThatOverfillsTheInstructionCacheFetchesEveryLineFromTheL2) {
  const FetchConfig& fetch = machine.sm.fetch;
  const std::uint32_t fits = fetch.cache_bytes / fetch.instruction_bytes, more = fits * 5 / 4;
  std::vector<Script> scripts;
  for (const std::uint32_t warps : {32U, 1U})
    for (const std::uint32_t length : {fits, more}) scripts.push_back({times(length, op(OpClass::Alu)), 8, {}, true, 1, warps});
  const std::vector<Slope> found = slopes(machine, scripts);
  EXPECT_NEAR(fits * 8 * 32 / found[0].cycles, machine.sm.schedulers, 0.02);
  EXPECT_LT(more * 8 * 32 / found[1].cycles, 0.5 * machine.sm.schedulers);
  const std::uint32_t instructions_a_line = kLine / fetch.instruction_bytes;
  const double a_line = instructions_a_line, issue = a_line * (fetch.latency + 1.0) / fetch.width;
  EXPECT_NEAR(found[3].cycles / (more * 8 / a_line), l2_hit() + issue, 0.03 * l2_hit());
}

std::string file_name(const ::testing::TestParamInfo<const char*>& info) {
  return std::string(info.param).substr(0, std::string(info.param).find('.'));
}
/// A thread reads one sector after the other. The first one of a block comes from DRAM and brings the others along.
TEST(SectorsOfABlock, ComeTogetherAndStayInTheL2) {
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  ASSERT_TRUE(machine.dram.joins_sectors);
  constexpr std::uint32_t kReads = 64, kRounds = 4;
  const double sectors_a_block = machine.dram.access_bytes / 32.0;
  Script script{times(kReads, op(OpClass::Load, 1, 1)), kRounds, {}, false, 1, 1};
  script.lines = [](std::uint32_t, std::uint32_t n, std::vector<LineAccess>& out) {
    out.push_back({kData + std::uint64_t{n / 4} * kLine, static_cast<std::uint8_t>(1U << n % 4)});
  };
  const Slope together = slope(machine, script);
  EXPECT_DOUBLE_EQ(together.dram_bytes / (kReads * kRounds), 32);
  machine.dram.joins_sectors = false;
  const Slope apart = slope(machine, script);
  EXPECT_DOUBLE_EQ(apart.dram_bytes / (kReads * kRounds), machine.dram.access_bytes);
  const double dram = apart.cycles / (kReads * kRounds),
               hit = 1 + machine.sm.l1.miss_latency + 2.0 * machine.interconnect.latency + machine.l2.hit_latency;
  EXPECT_NEAR(together.cycles / (kReads * kRounds), (dram + (sectors_a_block - 1) * hit) / sectors_a_block, 0.05 * dram);
}

/// Loads of 1 to 32 lines that the L1 holds, whose data take so many passes over its banks: four lines are found a cycle.
TEST(L1OfASubCoreMachine, FindsFourLinesACycleAndReadsABankOnceAPass) {
  const MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  const std::vector<std::pair<std::uint32_t, std::uint8_t>> cases{{1, 1}, {4, 4}, {8, 8}, {24, 1}, {32, 1}, {32, 32}, {24, 11}};
  std::vector<Script> scripts;
  for (const auto& [lines, passes] : cases) {
    Script script{times(16, op(OpClass::Load)), 4, {}, false, 1, 16};
    for (Instruction& i : script.body) i.interval = passes;
    script.lines = [n = lines](std::uint32_t, std::uint32_t, std::vector<LineAccess>& out) {
      for (std::uint32_t l = 0; l < n; ++l) out.push_back({kData + l * kLine, 1});
    };
    scripts.push_back(std::move(script));
  }
  const std::vector<Slope> found = slopes(machine, scripts);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double cycles = std::max({machine.sm.ldst_interval, (cases[i].first + 3) / 4, std::uint32_t{cases[i].second}});
    EXPECT_NEAR(found[i].cycles / (16 * 4 * 16), cycles, 0.03 * cycles) << i;
  }
}

/// The scratchpad has the banks that a load of the L1 reads: its passes come behind the load's, not beside them.
TEST(L1OfASubCoreMachine, ScratchpadAccessesWaitForTheBanksOfALoad) {
  const MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  constexpr std::uint8_t kLoadPasses = 32, kPasses = 2, kAccesses = 8;
  Script script{times(kAccesses, op(OpClass::Shared)), 4, {}, false, 1, 16};
  for (Instruction& i : script.body) i.interval = kPasses;
  script.body.push_back(op(OpClass::Load));
  script.body.back().interval = kLoadPasses;
  script.lines = [](std::uint32_t, std::uint32_t, std::vector<LineAccess>& out) {
    for (std::uint32_t l = 0; l < 32; ++l) out.push_back({kData + l * kLine, 1});
  };
  const double cycles = kLoadPasses + kAccesses * kPasses;
  EXPECT_NEAR(slope(machine, script).cycles / (4 * 16), cycles, 0.03 * cycles);
}

/// results/h200/hopper/launch.csv: 132,000 empty CTAs.
TEST(CtasOfAnH200, BeginAtTheRateOfTheWholeGpu) {
  const auto cycles_a_cta = [](const MachineConfig& machine) {
    const std::vector<RunResult> results = run({spec(machine, {times(1, op(OpClass::Alu)), 1, {}, false, 2000, 1}),
                                                spec(machine, {times(1, op(OpClass::Alu)), 1, {}, false, 6000, 1})});
    return static_cast<double>(results[1].cycles.value() - results[0].cycles.value()) / 4000;
  };
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h200_sm90.toml");
  EXPECT_NEAR(cycles_a_cta(machine), 1.19, 0.005);
  machine.cta_interval = 0;
  EXPECT_NEAR(cycles_a_cta(machine), 1, 0.005) << "as fast as the partition unit dispatches them";
}

/// results/h200/hopper/h100/atomics.jsonl: reductions to 1 KB take two units, and four where it begins 512 bytes behind a
/// kilobyte: 1.96 and 4.09 lanes a cycle.
TEST(ReductionsOfAnH100, ToAKilobyteTakeTheUnitsWhereItLies) {
  const MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h100_sm90.toml");
  const auto sectors_a_cycle = [&](std::uint64_t offset) {
    Script script{times(4, op(OpClass::Atomic)), 4, {}, false, 132, 8};
    script.lines = [offset](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
      const std::uint64_t at = offset + std::mt19937(warp * 1000 + n)() % 32 * 32;
      out.push_back({kData + at / kLine * kLine, static_cast<std::uint8_t>(1U << at % kLine / 32)});
    };
    return 132 * 8 * 4 * 4 / slope(machine, script).cycles;
  };
  const double unit = 1 / machine.l2.atomic_interval;
  EXPECT_NEAR(sectors_a_cycle(0), 2 * unit, 0.1 * unit);
  EXPECT_NEAR(sectors_a_cycle(512), 4 * unit, 0.2 * unit);
}

/// Stores of 32 lanes that go apart, words or whole sectors, to random lines of `lines`.
Script scattered_stores(std::uint32_t ctas, std::uint32_t warps, std::uint64_t lines, bool words) {
  Script script{times(4, op(OpClass::Store)), 1, {}, false, ctas, warps};
  script.lines = [=](std::uint32_t warp, std::uint32_t n, std::vector<LineAccess>& out) {
    std::mt19937 random(warp * 1000 + n);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t line = random() % lines;
      const auto sector = static_cast<std::uint8_t>(1U << random() % 4);
      out.push_back({kData + line * kLine, sector, words ? std::uint8_t{0} : std::uint8_t{0xf}, std::uint8_t{4}});
    }
  };
  return script;
}

/// results/h200/hopper/h100/scatter.jsonl: sectors a cycle of one SM and of all, in L2 and far beyond it.
TEST(ScatteredStores, TakeAsLongAsOnAnH100) {
  MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h100_sm90.toml");
  constexpr std::uint64_t kInL2 = (4 << 20) / kLine, kFar = (1ULL << 32) / kLine;
  const auto stores = [](const Script& s) { return static_cast<double>(s.ctas) * s.warps * s.rounds * 4 * 32; };
  const Script one = scattered_stores(1, 32, kInL2, true), all = scattered_stores(132, 8, kInL2, true),
               far = scattered_stores(132, 8, kFar, true), whole = scattered_stores(132, 8, kFar, false);
  const Slope alone = slope(machine, one);
  machine.sm.store_credits = 128;  // so that it is not they that take the stores
  const Slope together = slope(machine, all);
  machine.l2.bytes = 128 * kLine;  // soon full
  const std::vector<Slope> beyond = slopes(machine, {far, whole});
  EXPECT_NEAR(stores(one) / alone.cycles, 0.501, 0.01);
  EXPECT_NEAR(stores(all) / together.cycles, 33.1, 0.1 * 33.1);
  EXPECT_NEAR(stores(far) / beyond[0].cycles, 6.77, 0.15 * 6.77);
  // A word's sector is read from DRAM before it leaves.
  EXPECT_NEAR(beyond[0].dram_bytes / beyond[1].dram_bytes, 2, 0.2);
}

/// A sector that words fill one by one needs nothing from DRAM, one that they fill in part is fetched when it is read.
TEST(SectorsWrittenInPart, AreFetchedOnlyWhereBytesAreMissing) {
  const MachineConfig machine = read_machine(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/machines/h100_sm90.toml");
  const auto then_read = [&](std::uint32_t words) {
    Script script{times(words, op(OpClass::Store)), 32, {}, false, 1, 1};
    script.body.push_back(op(OpClass::Load, 1, 1));
    script.body.back().bypass_l1 = true;
    script.lines = [=](std::uint32_t, std::uint32_t n, std::vector<LineAccess>& out) {
      out.push_back({kData + n / (words + 1) * kLine, 1, 0, 4});
    };
    return slope(machine, script).dram_bytes / 32;
  };
  EXPECT_DOUBLE_EQ(then_read(8), 0);
  EXPECT_DOUBLE_EQ(then_read(7), machine.dram.access_bytes);
}

INSTANTIATE_TEST_SUITE_P(Fermi, ClosedForm, ::testing::Values("fermi_table1.toml", "fermi_accelsim.toml"), file_name);

}  // namespace
}  // namespace sluice
