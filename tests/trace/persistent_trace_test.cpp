// SPDX-License-Identifier: Apache-2.0
// Recorded and profiled kernels as persistent CTAs: each task is what the CTA is by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sw/trace/program_source.h"
#include "sw/trace/repeated_trace.h"
#include "sw/trace/trace_source.h"
#include "sw/workload/persistent_source.h"
#include "tests/support.h"
#include "tests/trace/sample_traces.h"

namespace sluice {
namespace {

constexpr std::uint32_t kCtas = 3;

/// The kernel's own instructions by their address, each with the lines that it touches.
using Walk = std::vector<std::pair<std::uint32_t, std::vector<std::uint64_t>>>;

struct Walked {
  Walk own;
  std::vector<Instruction> runtime;  ///< those without an address
};

/// One warp, to its end.
void walk(IInstructionSource& source, std::uint32_t cta, Walked& out) {
  WarpCursor cursor{cta, 0, 0, source.begin_cta(cta)};
  for (Instruction i = source.next(cursor); i.op != OpClass::Exit; i = source.next(cursor)) {
    ASSERT_LT(out.own.size(), 1000U) << "does not end";
    if (i.pc == Instruction::kNoPc) {
      out.runtime.push_back(i);
      continue;
    }
    std::vector<LineAccess> lines;
    if (is_global(i.op)) source.lines(cursor, cursor.position - 1, lines);
    out.own.push_back({i.pc, {}});
    for (const LineAccess& line : lines) out.own.back().second.push_back(line.address);
  }
  source.end_cta(cursor.handle);
}

class PersistentTraces : public test::Scratch {
 protected:
  static KernelDescriptor kernel() {
    KernelDescriptor kernel;
    kernel.name = "k";
    kernel.grid_ctas = kCtas;
    kernel.block_threads = kWarpSize;
    return kernel;
  }
  /// @param make  the kernel's source
  template <class Make>
  static void same(const Make& make) {
    Walked alone, persistent;
    const std::unique_ptr<IInstructionSource> source = make();
    for (std::uint32_t cta = 0; cta < kCtas; ++cta) walk(*source, cta, alone);
    ASSERT_FALSE(alone.own.empty());
    PersistentSource all(make(), kernel(), 0, {Polling::Basic, 0, 0, [] { return std::uint64_t{0}; }});
    ASSERT_EQ(all.begin_launch(1), 1U);
    walk(all, 0, persistent);
    EXPECT_EQ(persistent.own, alone.own);
    EXPECT_LE(all.num_registers(), 256U);
    for (const Instruction& i : persistent.runtime) {
      EXPECT_GE(i.dst, 250) << "the registers that the kernel has from its start are not the runtime's";
      EXPECT_TRUE(std::ranges::all_of(i.src, [](std::uint8_t src) { return src >= 250; }));
    }
  }
  std::filesystem::path trace(const std::string& notes, std::uint32_t ctas) {
    std::string text = notes + sample::header(ctas, kWarpSize);
    for (unsigned c = 0; c < ctas; ++c)
      text += sample::cta(c, {fmt::format("0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x{:x} 4 0", 0x1000 + 128 * c),
                              fmt::format("0020 ffffffff 1 R5 LDG.E 1 R2 4 1 0x{:x} 128 0", 0x20000 + 0x8000 * c)});
    return write("kernel-1.traceg", text);
  }
};

TEST_F(PersistentTraces, ATaskIsTheCtaOfTheRecording) {
  const auto file = trace("", kCtas);
  same([&] { return std::make_unique<TraceSource>(file, 0); });
}

TEST_F(PersistentTraces, ATaskIsTheCtaOfARecordedBlock) {
  const auto file = trace("-recorded grid = (3,1,1)\n-step 0010 = 256 0 0\n-step 0020 = 4096 0 0\n", 1);
  same([&] { return std::make_unique<RepeatedTrace>(file, 0); });
}

TEST_F(PersistentTraces, ATaskIsTheCtaOfAProfile) {
  KernelProgram program{"page", 0, "k", {}, 1, 1};
  const auto add = [&](const char* text, std::uint64_t warps, std::uint64_t lines = 0) {
    program.instructions.push_back({program.instructions.size() * 16 + 0x100, text, warps, warps * 32, 0, lines, lines * 4, 0});
  };
  add("LDG.E.128 R4, desc[UR4][R2.64]", kCtas, 4 * kCtas);
  add("ISETP.GT.AND P0, PT, R4, RZ, PT", kCtas);
  add("@P0 BRA 0x140", kCtas);
  add("LDG.E.128 R8, desc[UR4][R2.64]", 1, 4);
  add("EXIT", kCtas);
  KernelDescriptor counted = kernel();
  counted.program = std::make_shared<KernelProgram>(program);
  same([&] { return std::make_unique<ProgramSource>(counted, 0); });
}

}  // namespace
}  // namespace sluice
