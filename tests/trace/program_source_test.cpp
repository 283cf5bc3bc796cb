// SPDX-License-Identifier: Apache-2.0
// Warps of a program with counts: what they execute and touch over a grid is what the page says.
#include "sw/trace/program_source.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

namespace sluice {
namespace {

constexpr std::uint32_t kCtas = 16, kWarps = 2, kAll = kCtas * kWarps;

/// A loop of three turns: a load of two lines, an addition, a comparison that a branch waits for; then a store, of 5/8 of the
/// warps.
KernelDescriptor looping(double reuse, double footprint) {
  const std::vector<std::pair<std::string, std::uint64_t>> rows{{"S2R R0, SR_TID.X", kAll},
                                                                {"LDG.E R4, desc[UR4][R2.64]", 3 * kAll},
                                                                {"IADD3 R5, R4, R5, RZ", 3 * kAll},
                                                                {"ISETP.GE.AND P0, PT, R5, R6, PT", 3 * kAll},
                                                                {"@!P0 BRA 0x10", 3 * kAll},
                                                                {"@P1 EXIT", kAll},
                                                                {"STG.E desc[UR4][R2.64], R5", kAll * 5 / 8},
                                                                {"EXIT", kAll * 5 / 8}};
  auto program = std::make_shared<KernelProgram>();
  for (const auto& [text, warps] : rows) {
    ProgramInstruction i;
    i.address = 16 * program->instructions.size();
    i.text = text;
    i.warps = warps;
    i.threads = 24 * warps;
    if (text.find("G.E") != std::string::npos) {
      i.lines = 2 * warps;
      i.sectors = 5 * warps;
    }
    program->instructions.push_back(i);
  }
  KernelDescriptor kernel;
  kernel.grid_ctas = kCtas;
  kernel.block_threads = kWarps * kWarpSize;
  kernel.behaviour.reuse_fraction = reuse;
  kernel.behaviour.footprint_fraction = footprint;
  kernel.program = program;
  return kernel;
}

struct Totals {
  std::map<std::uint32_t, std::uint64_t> executed, lines, sectors;  ///< by byte address of the instruction
  std::map<std::uint32_t, std::set<std::uint64_t>> places;
  std::map<std::uint32_t, Instruction> instructions;
};

Totals run(ProgramSource& source, std::uint32_t first_cta = 0) {
  Totals totals;
  for (std::uint32_t cta = first_cta; cta < first_cta + kCtas; ++cta) {
    const std::uint32_t handle = source.begin_cta(cta);
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      WarpCursor cursor;
      cursor.cta = cta;
      cursor.warp = w;
      cursor.handle = handle;
      for (Instruction i = source.next(cursor); i.op != OpClass::Exit; i = source.next(cursor)) {
        ++totals.executed[i.pc];
        totals.instructions[i.pc] = i;
        if (!is_global(i.op)) continue;
        std::vector<LineAccess> lines;
        source.lines(cursor, cursor.position - 1, lines);
        totals.lines[i.pc] += lines.size();
        for (const LineAccess& line : lines) {
          totals.sectors[i.pc] += static_cast<std::uint64_t>(std::popcount(line.sectors));
          totals.places[i.pc].insert(line.address);
        }
      }
    }
    source.end_cta(handle);
  }
  return totals;
}

TEST(ProgramSource, ExecutesAndTouchesWhatThePageCounts) {
  const KernelDescriptor kernel = looping(0, 0);
  ProgramSource source(kernel, 0);
  for (const std::uint32_t launch : {0U, 1U}) {  // the grid again: the same
    Totals totals = run(source, launch * kCtas);
    for (const ProgramInstruction& i : kernel.program->instructions) {
      const auto pc = static_cast<std::uint32_t>(i.address);
      EXPECT_EQ(totals.executed[pc], i.warps) << i.text;
      EXPECT_EQ(totals.lines[pc], i.lines) << i.text;
      EXPECT_EQ(totals.sectors[pc], i.sectors) << i.text;
      EXPECT_EQ(totals.places[pc].size(), i.lines) << i.text;  // neither cache is said to hit
    }
  }
}

TEST(ProgramSource, NewLinesAreTheShareThatNoCacheHits) {
  const KernelDescriptor kernel = looping(0.25, 0.5);
  ProgramSource source(kernel, 0);
  Totals totals = run(source);
  EXPECT_EQ(totals.lines[16], 6 * kAll);
  EXPECT_NEAR(static_cast<double>(totals.places[16].size()), 0.25 * 6 * kAll, 1);
  EXPECT_EQ(totals.places[96].size(), totals.lines[96]);  // stores
}

TEST(ProgramSource, PredicatesAreRegistersBehindTheLast) {
  const KernelDescriptor kernel = looping(0, 0);
  ProgramSource source(kernel, 0);
  Totals totals = run(source);
  const Instruction &compares = totals.instructions[48], &branches = totals.instructions[64];
  EXPECT_GT(compares.dst, 6);
  EXPECT_LT(compares.dst, kNoRegister);
  EXPECT_EQ(branches.src[0], compares.dst);
  EXPECT_EQ(totals.instructions[16].dst, 4);
  EXPECT_EQ(totals.instructions[16].active_lanes, 24);
}

TEST(ProgramSource, CountsOpcodesThatItDoesNotKnow) {
  KernelDescriptor kernel = looping(0, 0);
  auto program = std::make_shared<KernelProgram>(*kernel.program);
  program->instructions[2].text = "FROB R5, R4, R5";
  kernel.program = program;
  EXPECT_EQ(ProgramSource(kernel, 0).unknown_opcodes(), (std::map<std::string, std::uint64_t>{{"FROB", 3 * kAll}}));
}

}  // namespace
}  // namespace sluice
