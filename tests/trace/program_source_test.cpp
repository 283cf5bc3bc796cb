// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/program_source.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "sw/workload/source_page.h"

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

}  // namespace
}  // namespace sluice
