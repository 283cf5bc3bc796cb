// SPDX-License-Identifier: Apache-2.0
// Ways of warps through programs with counts that are known: every instruction is executed as often as the page says.
#include "sw/trace/program_walk.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Row {
  std::string text;
  std::uint64_t warps, divergent = 0;
};

KernelProgram program_of(const std::vector<Row>& rows) {
  KernelProgram program;
  for (const Row& row : rows) {
    ProgramInstruction i;
    i.address = 0x7f0000001000 + 16 * program.instructions.size();
    i.text = row.text;
    i.warps = row.warps;
    i.threads = row.warps * 32;
    i.divergent = row.divergent;
    program.instructions.push_back(i);
  }
  return program;
}

/// Executions of each instruction by that many warps.
std::vector<std::uint64_t> counts(const KernelProgram& program, unsigned warps) {
  ProgramWalk walk(program);
  std::vector<std::uint64_t> seen(program.instructions.size(), 0);
  for (unsigned w = 0; w < warps; ++w)
    for (const ProgramWalk::Visit& visit : walk.next_warp())
      for (std::uint32_t i = walk.blocks()[visit.block].begin; i < walk.blocks()[visit.block].end; ++i) ++seen[i];
  return seen;
}

void expect_counts(const KernelProgram& program, unsigned warps) {
  const std::vector<std::uint64_t> seen = counts(program, warps);
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], program.instructions[i].warps) << i << ": " << program.instructions[i].text;
}

TEST(ProgramWalk, LoopsGoRoundAsOftenAsMeasured) {
  const KernelProgram program = program_of({{"MOV R1, RZ", 40},
                                            {"LDG.E R2, [R4.64]", 4000},
                                            {"IADD3 R1, R1, 0x1, RZ", 4000},
                                            {"@P0 BRA 0x7f0000001010", 4000},
                                            {"EXIT", 40}});
  expect_counts(program, 40);
  ProgramWalk walk(program);
  EXPECT_EQ(walk.next_warp().size(), 102u);  // the first warp alone goes round 100 times
}

TEST(ProgramWalk, NestedLoopsAndFractionsAreMetOverTheWarps) {
  expect_counts(program_of({{"MOV R1, RZ", 64},
                            {"MOV R2, RZ", 6 * 64},
                            {"FFMA R3, R3, R3, R3", 1000},
                            {"@P0 BRA 0x20", 1000},  // addresses may count from the kernel's begin
                            {"@P1 BRA 0x10", 6 * 64},
                            {"EXIT", 64}}),
                64);
}

TEST(ProgramWalk, BranchesAreTakenAsOftenAsMeasured) {
  expect_counts(program_of({{"ISETP.NE.AND P0, PT, R1, RZ, PT", 100},
                            {"@P0 BRA 0x7f0000001040", 100},
                            {"FADD R2, R2, R3", 30},
                            {"BRA 0x7f0000001050", 30},
                            {"FMUL R2, R2, R3", 70},
                            {"STG.E [R4.64], R2", 100},
                            {"EXIT", 100}}),
                100);
}

TEST(ProgramWalk, WarpsThatEndEarlyDoNotGoOn) {
  expect_counts(program_of({{"ISETP.GE.AND P0, PT, R1, R2, PT", 32}, {"@P0 EXIT", 32}, {"STG.E [R4.64], R2", 25}, {"EXIT", 25}}),
                32);
}

TEST(ProgramWalk, WarpsWhoseThreadsPartGoBothWays) {
  expect_counts(program_of({{"BSSY B0, 0x7f0000001060", 50},
                            {"@P0 BRA 0x7f0000001040", 50, 20},
                            {"FADD R2, R2, R3", 40},
                            {"BRA 0x7f0000001060", 40},
                            {"FMUL R2, R2, R3", 30},
                            {"MUFU.RCP R2, R2", 30},
                            {"BSYNC B0", 50},
                            {"EXIT", 50}}),
                50);
}

TEST(ProgramWalk, CallsReturnBehindTheCall) {
  expect_counts(program_of({{"CALL.REL.NOINC 0x7f0000001040", 8},
                            {"FADD R1, R1, R1", 8},
                            {"CALL.REL.NOINC 0x7f0000001040", 8},
                            {"EXIT", 8},
                            {"MUFU.RCP R2, R2", 16},
                            {"RET.REL.NODEC R4 0x0", 16}}),
                8);
}

TEST(ProgramWalk, CountsThatContradictOneAnotherMakeNoWayWithoutAnEnd) {
  const std::vector<std::uint64_t> seen =
      counts(program_of({{"MOV R1, RZ", 4}, {"FADD R1, R1, R1", 10}, {"BRA 0x7f0000001010", 10}, {"EXIT", 0}}), 4);
  EXPECT_LE(seen[1], 14u);
}

TEST(ProgramWalk, EachWarpOfAnIndexedBranchGoesToOneEntry) {
  expect_counts(program_of({{"BRX R2 -0x10", 9}, {"FADD R1, R1, R1", 3}, {"EXIT", 3}, {"FMUL R1, R1, R1", 6}, {"EXIT", 6}}), 9);
}

TEST(ProgramWalk, EdgesFollowFromCountsWhereABlockIsCountedTwice) {
  // The threads of the last 20 warps end one by one: 20 warps reach EXIT twice, and it looks behind its count all the way.
  expect_counts(program_of({{"ISETP.NE.AND P0, PT, R1, RZ, PT", 100},
                            {"BRA.U UP1, 0x7f0000001060", 100},
                            {"FADD R2, R2, R3", 100},
                            {"@P1 BRA 0x7f0000001060", 100, 20},
                            {"FADD R4, R2, R3", 100},
                            {"BRA 0x7f0000001060", 100},
                            {"EXIT", 120}}),
                100);
}

TEST(ProgramWalk, ABranchToCodeThatNeverRanIsNotTaken) {
  expect_counts(program_of({{"MOV R1, RZ", 10}, {"@P0 BRA 0x7f0000009000", 10}, {"FADD R2, R2, R3", 10}, {"EXIT", 10}}), 10);
}

TEST(Share, PartsAddUpToTheTotal) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 7; ++i) sum += share(23, 7, i);
  EXPECT_EQ(sum, 23u);
}

}  // namespace
}  // namespace sluice
