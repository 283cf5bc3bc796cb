// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/program_source.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "sw/trace/program_walk.h"
#include "sw/workload/ncu_import.h"
#include "sw/workload/source_page.h"
#include "tests/support.h"

namespace sluice {
namespace {

/// A kernel of 3 CTAs of 64 threads: a load, a store of half of the warps' lanes, a branch around a second load.
KernelDescriptor kernel(double l1_misses, double l2_misses) {
  KernelProgram program{"page", 0, "k", {}, l1_misses, l2_misses};
  const auto add = [&](const char* text, std::uint64_t warps, std::uint64_t threads, std::uint64_t lines = 0,
                       std::uint64_t sectors = 0, std::uint64_t passes = 0) {
    program.instructions.push_back({program.instructions.size() * 16 + 0x100, text, warps, threads, 0, lines, sectors, passes});
  };
  add("S2R R0, SR_TID.X", 6, 192);
  add("LDG.E.128 R4, desc[UR4][R2.64]", 6, 192, 24, 96);
  add("ISETP.GT.AND P0, PT, R4, RZ, PT", 6, 192);
  add("@P0 BRA 0x160", 6, 96);
  add("LDS R8, [R0]", 3, 96, 0, 0, 6);
  add("STG.E desc[UR4][R2.64], R4", 3, 48, 3, 6);
  add("EXIT", 6, 192);
  KernelDescriptor k;
  k.name = "k";
  k.grid_ctas = 3;
  k.block_threads = 64;
  k.program = std::make_shared<KernelProgram>(program);
  return k;
}

struct Walked {
  std::map<std::uint32_t, std::tuple<int, int, int, int>> counts;  ///< by pc: warps, lanes, lines, sectors
  std::map<std::uint32_t, std::multiset<std::uint64_t>> lines;     ///< by pc
};

Walked run(const KernelDescriptor& k) {
  ProgramSource source(k, 0);
  Walked out;
  for (std::uint32_t cta = 0; cta < k.grid_ctas; ++cta) {
    const std::uint32_t handle = source.begin_cta(cta);
    for (std::uint32_t w = 0; w < k.warps_per_cta(); ++w) {
      WarpCursor cursor{cta, w, 0, handle, 0, 0};
      for (Instruction i = source.next(cursor); i.op != OpClass::Exit; i = source.next(cursor)) {
        auto& [warps, lanes, lines, sectors] = out.counts[i.pc];
        ++warps;
        lanes += i.active_lanes;
        if (!is_global(i.op)) continue;
        std::vector<LineAccess> touched;
        source.lines(cursor, cursor.position - 1, touched);
        for (const LineAccess& line : touched) {
          ++lines;
          sectors += std::popcount(line.sectors);
          out.lines[i.pc].insert(line.address);
        }
      }
    }
    source.end_cta(handle);
  }
  return out;
}

TEST(ProgramSource, CountsAddUpToThoseOfThePage) {
  const KernelDescriptor k = kernel(1, 1);
  const Walked r = run(k);
  for (const ProgramInstruction& i : k.program->instructions) {
    const auto pc = static_cast<std::uint32_t>(i.address - 0x100);
    const std::tuple<int, int, int, int> counted{i.warps, i.threads, i.lines, i.sectors};
    EXPECT_EQ(r.counts.at(pc), counted) << i.text;
  }
}

TEST(ProgramSource, LoadsMissAsOftenAsMeasured) {
  const auto different = [](const std::multiset<std::uint64_t>& lines) {
    return std::set<std::uint64_t>(lines.begin(), lines.end()).size();
  };
  EXPECT_EQ(different(run(kernel(1, 1)).lines.at(16)), 24U);
  EXPECT_EQ(different(run(kernel(0.5, 1)).lines.at(16)), 12U);  // two warps share a line in the L1
  EXPECT_EQ(different(run(kernel(1, 0.5)).lines.at(16)), 12U);  // every other access comes back to one that was
}

TEST(ProgramSource, PartsOfALineFillIt) {
  KernelDescriptor k = kernel(1, 1);
  KernelProgram program = *k.program;  // nobody jumps, and each of the six warps stores a sector
  ProgramInstruction& store = program.instructions[5];
  program.instructions[4].warps = store.warps = store.lines = store.sectors = 6;
  k.program = std::make_shared<KernelProgram>(program);
  const std::multiset<std::uint64_t> stored = run(k).lines.at(80);
  ASSERT_EQ(stored.size(), 6U);
  EXPECT_EQ(stored.count(*stored.begin()), 4U);
  EXPECT_EQ(*stored.rbegin(), *stored.begin() + 128);
}

TEST(ProgramSource, RegistersPredicatesAndWidths) {
  const KernelDescriptor k = kernel(1, 1);
  ProgramSource source(k, 0);
  WarpCursor cursor{0, 0, 0, source.begin_cta(0), 0, 0};
  source.next(cursor);
  const Instruction load = source.next(cursor), compare = source.next(cursor), branch = source.next(cursor);
  EXPECT_EQ(load.dst, 4);
  EXPECT_EQ(load.dst_count, 4);
  EXPECT_NE(compare.dst, kNoRegister);
  EXPECT_EQ(branch.src[0], compare.dst);
}

// Ways of warps through programs with counts that are known: every instruction is executed as often as the page says.

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

// The profiled kernels of results/model_vs_h200/source_page: pages of a real run, joined, and walked.

class SourcePageKernels : public test::Scratch {
 protected:
  Workload read(const std::string& page) const {
    const std::filesystem::path folder = std::filesystem::path(SLUICE_SOURCE_DIR) / "results/model_vs_h200/source_page";
    for (const char* kind : {".raw.csv", ".source.csv"}) {
      const std::string command =
          "gzip -dc '" + (folder / (page + kind + ".gz")).string() + "' > '" + (folder_ / (page + kind)).string() + "'";
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
    return import_ncu(folder_ / (page + ".raw.csv"), folder_ / (page + ".source.csv"));
  }
};

TEST_F(SourcePageKernels, InstructionsAreWalkedAsOftenAsCounted) {
  unsigned exact = 0, walked = 0;
  for (const char* page : {"unseen", "seen"}) {
    for (const KernelDescriptor& kernel : read(page).kernels) {
      std::uint64_t counted = 0, off = 0;
      for (const ProgramInstruction& i : kernel.program->instructions) counted += i.warps;
      if (counted > 100'000'000) continue;  // the time it takes
      ProgramWalk walk(*kernel.program);
      std::vector<std::uint64_t> visits(walk.blocks().size(), 0);
      for (std::uint64_t w = 0; w < std::uint64_t{kernel.grid_ctas} * kernel.warps_per_cta(); ++w)
        for (const ProgramWalk::Visit& visit : walk.next_warp()) ++visits[visit.block];
      for (std::size_t b = 0; b < visits.size(); ++b) {
        const ProgramWalk::Block& block = walk.blocks()[b];
        off += (std::max(visits[b], block.warps) - std::min(visits[b], block.warps)) * (block.end - block.begin);
      }
      EXPECT_LT(static_cast<double>(off), 0.003 * static_cast<double>(counted)) << kernel.name;
      exact += off == 0 ? 1 : 0;
      ++walked;
    }
  }
  EXPECT_EQ(walked, 21U);
  EXPECT_GE(exact, 18U);
}

TEST_F(SourcePageKernels, CopiesOfTheEngineBringWhatNoOtherInstructionDoes) {
  const Workload unseen = read("unseen");
  const KernelProgram& gemm = *unseen.kernels[4].program;
  std::uint64_t loaded = 0, stored = 0;
  for (const ProgramInstruction& i : gemm.instructions) {
    if (i.text.find("UTMALDG") != std::string::npos) loaded += i.sectors;
    if (i.text.find("UTMASTG") != std::string::npos) stored += i.sectors;
  }
  EXPECT_NEAR(static_cast<double>(loaded), 2414652 + 394356, 10);  // L2 lookups of the raw page; its loads have no sector
  EXPECT_NEAR(static_cast<double>(stored), 262144, 10);
  for (const ProgramInstruction& i : unseen.kernels[0].program->instructions) {
    EXPECT_EQ(i.text.find("UTMA"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice
