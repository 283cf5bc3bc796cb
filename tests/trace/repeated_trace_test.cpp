// SPDX-License-Identifier: Apache-2.0
// Traces of a block of a grid that say how its addresses go on.
#include "sw/trace/repeated_trace.h"

#include <gtest/gtest.h>

#include "sw/trace/kernel_list.h"
#include "tests/support.h"
#include "tests/trace/sample_traces.h"

namespace sluice {
namespace {

class RepeatedTraces : public test::Scratch {
 protected:
  /// Two CTAs of a warp: a load at 0x1000 and one at 0x2000, then a line on for the second CTA.
  std::filesystem::path trace(const std::string& notes) {
    std::string text = notes + sample::header(2, 32);
    for (unsigned c = 0; c < 2; ++c)
      text += sample::cta(c, {fmt::format("0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x{:x} 4 0", 0x1000 + 128 * c),
                              fmt::format("0010 ffffffff 1 R{} LDG.E 1 R2 4 1 0x{:x} 4 0", 5 + c, 0x2000 + 128 * c)});
    return write("kernel-1.traceg", text);
  }
  /// The lines of a CTA's two loads, and the register of the second.
  static std::vector<std::uint64_t> run(IInstructionSource& source, std::uint32_t cta) {
    WarpCursor cursor{cta, 0, 0, source.begin_cta(cta), 0, 0};
    std::vector<std::uint64_t> out;
    for (Instruction i = source.next(cursor); i.op != OpClass::Exit; i = source.next(cursor)) {
      std::vector<LineAccess> lines;
      source.lines(cursor, cursor.position - 1, lines);
      for (const LineAccess& line : lines) out.push_back(line.address);
      if (cursor.position == 2) out.push_back(i.dst);
    }
    source.end_cta(cursor.handle);
    return out;
  }
};

TEST_F(RepeatedTraces, EveryCtaOfTheGridRunsAndItsAddressesAreThoseOfItsPlace) {
  const auto file = trace("-recorded grid = (4,3,1)\n-step 0000 = 256 1024 0\n-step 0010 = 0 -128 0\n");
  EXPECT_EQ(describe(TraceReader(file).header(), 64).grid_ctas, 12U);
  const auto source = trace_source(file, 0);
  EXPECT_EQ(run(*source, 0), (std::vector<std::uint64_t>{0x1000, 0x2000, 5}));
  EXPECT_EQ(run(*source, 1), (std::vector<std::uint64_t>{0x1080, 0x2080, 6}));
  EXPECT_EQ(run(*source, 3), (std::vector<std::uint64_t>{0x1180, 0x2080, 6})) << "the second block of the first row";
  EXPECT_EQ(run(*source, 10), (std::vector<std::uint64_t>{0x1000 + 256 + 2048, 0x2000 - 256, 5}));
  EXPECT_EQ(run(*source, 12), run(*source, 0)) << "launched again";
}

TEST_F(RepeatedTraces, WithoutAStepTheTraceIsOfItsOwnCtas) {
  const auto file = trace("-recorded grid = (4,3,1)\n");
  EXPECT_EQ(describe(TraceReader(file).header(), 64).grid_ctas, 2U);
  EXPECT_EQ(run(*trace_source(file, 0), 0), (std::vector<std::uint64_t>{0x1000, 0x2000, 5}));
}

TEST_F(RepeatedTraces, ProcessesShareNoMemory) {
  for (const char* step : {"", "-step 0000 = 256 0 0\n"}) {
    const auto file = trace(std::string("-recorded grid = (4,3,1)\n") + step);
    EXPECT_EQ(run(*trace_source(file, 0, 1), 0)[0], 0x1000U | 1ULL << 48);
    EXPECT_EQ(run(*trace_source(file, 1, 0), 0)[0], 0x1000U);
  }
}

TEST_F(RepeatedTraces, StepsThatCannotBeAreRefused) {
  const auto refusal = [&](const std::string& notes) { return test::refusal([&] { (void)TraceReader(trace(notes)).header(); }); };
  EXPECT_NE(refusal("-recorded grid = (4,1,1)\n-step 0000 = 32 0 0\n").find(":2: step = 32: must be a multiple of 128"),
            std::string::npos);
  EXPECT_NE(refusal("-recorded grid = (4,1,1)\n-step 0000 = 128 0 0 0\n").find("must be three numbers"), std::string::npos);
  EXPECT_NE(refusal("-step 0000 = 128 0 0\n").find("the recorded grid must be as large as the grid"), std::string::npos);
}

}  // namespace
}  // namespace sluice
