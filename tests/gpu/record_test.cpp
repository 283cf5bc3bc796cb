// SPDX-License-Identifier: Apache-2.0
// Recording without a GPU: a kernel of our own (data/sum.ptx), its disassembly by nvdisasm 12.4 (data/sum.sass), and logs written
// here.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "sw/core/errors.h"
#include "sw/gpu/record/decided.h"
#include "sw/gpu/record/raw_file.h"
#include "sw/gpu/record/sass_trace.h"
#include "sw/gpu/record/walk.h"
#include "sw/gpu/rewrite/instrument.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/io/atomic_file.h"
#include "sw/trace/trace_reader.h"

namespace sluice::gpu {
namespace {

namespace fs = std::filesystem;
std::string data(const std::string& name) { return read_file(fs::path(SLUICE_SOURCE_DIR) / "tests/gpu/data" / name); }
constexpr std::uint64_t kIn = 0x7f0000001000, kOut = 0x7f0000900000;
/// Blocks of sum.ptx: the head, the loop, what follows, threads 0 to 15, the end.
enum Block : std::uint32_t { kHead, kLoop, kDone, kHalf, kEnd };

/// One warp of `sum`, whose thread `lane` goes around the loop trips(lane) times.
RecordedKernel recorded(const std::function<unsigned(unsigned)>& trips) {
  RecordedKernel k;
  k.symbol = "sum";
  k.listing = data("sum.sass");
  k.block = {32, 1, 1};
  k.registers = 16;
  k.shared_bytes = 128;
  k.plan = instrument(normalised(data("sum.ptx")), "sum").plan;
  k.log.ctas = 1;
  k.log.threads = 32;
  std::vector<std::vector<std::uint32_t>> words(32);
  const auto wide = [](std::vector<std::uint32_t>& w, std::uint64_t a) {
    w.push_back(static_cast<std::uint32_t>(a));
    w.push_back(static_cast<std::uint32_t>(a >> 32));
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::vector<std::uint32_t>& w = words[lane];
    w.push_back(kBlockTag | kHead);
    for (unsigned t = 0; t < trips(lane); ++t) {
      w.push_back(kBlockTag | kLoop);
      wide(w, kIn + lane * 4 + t * 128);
    }
    w.push_back(kBlockTag | kDone);
    w.push_back(lane * 4);
    if (lane < 16) {
      w.push_back(kBlockTag | kHalf);
      w.push_back(lane * 4 + 64);
      wide(w, kOut + lane * 4);
    }
    w.push_back(kBlockTag | kEnd);
    k.log.counts.push_back(static_cast<std::uint32_t>(w.size()));
  }
  const std::uint32_t rows = *std::ranges::max_element(k.log.counts);
  k.log.starts = {0, rows};
  k.log.words.resize(std::size_t{rows} * 32);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (std::size_t i = 0; i < words[lane].size(); ++i) k.log.words[i * 32 + lane] = words[lane][i];
  return k;
}

struct Trace {
  JoinResult result;
  std::string text;
  [[nodiscard]] unsigned times(const std::string& pc_and_mask) const {
    unsigned n = 0;
    for (std::size_t at = text.find("\n" + pc_and_mask); at != std::string::npos; at = text.find("\n" + pc_and_mask, at + 1)) ++n;
    return n;
  }
};
Trace trace(const RecordedKernel& k) {
  const fs::path file = fs::path(testing::TempDir()) / ("record_" + std::to_string(getpid()) + ".traceg");
  Trace t;
  t.result = write_trace(k, 1, file);
  t.text = read_file(file);
  EXPECT_EQ(t.result.bytes, t.text.size());
  TraceReader reader(file);
  TraceCta cta;
  std::uint64_t instructions = 0;
  while (reader.next_cta(cta))
    for (const TraceWarp& warp : cta) instructions += warp.records.size();
  EXPECT_EQ(instructions, t.result.warp_instructions);
  EXPECT_TRUE(reader.unknown_opcodes().empty());
  fs::remove(file);
  return t;
}

/// The listing as `nvdisasm -hex` prints it, every instruction with these upper 64 bits.
std::string with_encodings(const std::string& listing, const std::string& upper) {
  std::string out;
  for (std::size_t at = 0; at < listing.size();) {
    const std::size_t end = std::min(listing.find('\n', at), listing.size());
    const std::string row = listing.substr(at, end - at);
    const std::size_t first = row.find_first_not_of(" \t");
    const bool instruction = first != std::string::npos && row.compare(first, 2, "/*") == 0;
    out += row;
    if (instruction) out += fmt::format("   /* 0x00000a00ff017b82 */\n      /* {} */", upper);
    out += "\n";
    at = end + 1;
  }
  return out;
}

TEST(Record, ControlBitsGoToTheHeaderAndChangeNothingElse) {
  RecordedKernel k = recorded([](unsigned) { return 3U; });
  const Trace without = trace(k);
  k.listing = with_encodings(k.listing, "0x140fc40000000f00");
  const Trace with = trace(k);
  EXPECT_NE(with.text.find("-control 0000 = 0a07e2\n"), std::string::npos);  // stall 2, no barriers, first and third source kept
  EXPECT_EQ(with.text.substr(with.text.find("#BEGIN_TB")), without.text.substr(without.text.find("#BEGIN_TB")));
  EXPECT_EQ(with.result.unjoined, without.result.unjoined);
}

TEST(RawRecording, ComesBackAsItWasWrittenAndIsRefusedWhenCutOrChanged) {
  const RecordedKernel k = recorded([](unsigned lane) { return lane % 3; });
  RawRecording r;
  r.ptx = data("sum.ptx");
  r.symbol = "sum";
  r.grid = {3, 2, 1};
  r.block = {32, 1, 1};
  r.registers = 17;
  r.shared_window = 0x7f00ff000000;
  r.recorded_ms = 0.125;
  r.log = k.log;
  const fs::path file = fs::path(testing::TempDir()) / ("raw_" + std::to_string(getpid()));
  write_raw(file, r);
  const RawRecording back = read_raw(file);
  EXPECT_EQ(back.ptx, r.ptx);
  EXPECT_EQ(back.grid, r.grid);
  EXPECT_EQ(back.registers, 17);
  EXPECT_EQ(back.shared_window, r.shared_window);
  EXPECT_EQ(back.recorded_ms, 0.125);
  EXPECT_EQ(back.log.words, k.log.words);
  EXPECT_EQ(back.log.counts, k.log.counts);
  const std::string whole = read_file(file);
  const auto refused = [&](const std::string& text) {
    write_file_atomically(file, text);
    try {
      (void)read_raw(file);
      return false;
    } catch (const InputError& e) {
      return std::string(e.what()) == file.string() + ": not a recording of this version, or cut off";
    }
  };
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{39}, std::size_t{200}, whole.size() - 1})
    EXPECT_TRUE(refused(whole.substr(0, bytes))) << bytes;
  std::string other = whole;
  other[0] = 'x';
  EXPECT_TRUE(refused(other));
  other = whole;
  const std::size_t starts = whole.size() - (k.log.starts.size() + k.log.counts.size() + k.log.words.size()) * 4;
  other[starts + 8] = '\x7f';  // a count beyond its warp's rows
  EXPECT_TRUE(refused(other));
  fs::remove(file);
}

TEST(Record, CountsTheSectorsOfGlobalAccesses) {
  const JoinResult r = trace(recorded([](unsigned) { return 3U; })).result;
  ASSERT_TRUE(r.sectors.contains("LDG"));
  EXPECT_EQ(r.sectors.at("LDG").sectors, 4 * r.sectors.at("LDG").requests);  // 32 words side by side
  EXPECT_EQ(r.sectors.at("STG").requests, 1U);
  EXPECT_EQ(r.sectors.at("STG").sectors, 2U);  // 16 of them
}

TEST(Instrument, LogsBlocksAndAddressesAndKeepsTheStatements) {
  const Instrumented i = instrument(normalised(data("sum.ptx")), "sum");
  EXPECT_EQ(i.plan.words, (std::vector<std::uint32_t>{1, 3, 2, 4, 1, 0}));
  EXPECT_EQ(i.plan.loops, std::vector<std::uint32_t>{kLoop});
  EXPECT_EQ(i.plan.lines.size(), 28U);
  EXPECT_EQ(i.plan.lines[10].op, "ld.global.f32");
  EXPECT_EQ(i.plan.lines[10].space, PtxSpace::Global);
  EXPECT_NE(i.with_lines.find(".loc 1 28 0"), std::string::npos);
  EXPECT_NE(i.ptx.find("sum__sluice_record("), std::string::npos);
  EXPECT_EQ(i.ptx.find(".entry sum("), std::string::npos);
}

TEST(Instrument, RefusesKernelsThatCallFunctions) {
  std::string ptx = data("sum.ptx");
  ptx.insert(ptx.find(".visible"), ".func helper() { ret; }\n");
  ptx.insert(ptx.find("\tret;\n}", ptx.find("END:")), "\tcall helper;\n");
  EXPECT_THROW((void)instrument(normalised(ptx), "sum"), InputError);
}

/// The listing's own comparisons say how often: four at a time while more than three are left, two if more than one is, and one.
TEST(Walker, GoesThroughAnUnrolledLoopAsItsComparisonsDo) {
  for (unsigned trips = 0; trips <= 40; ++trips) {
    const Trace t = trace(recorded([&](unsigned) { return trips; }));
    const unsigned fours = trips / 4, twos = trips % 4 / 2, ones = trips % 2;
    EXPECT_EQ(t.times("02b0 "), fours) << trips;
    EXPECT_EQ(t.times("0350 "), twos) << trips;
    EXPECT_EQ(t.times("0410 "), ones) << trips;
    EXPECT_TRUE(t.result.unjoined.empty()) << trips;
    EXPECT_DOUBLE_EQ(t.result.joined_pct(), 100);
  }
}

/// The assembler put a turn in front for threads that fail the loop's comparison at once. The branch before it has made that very
/// comparison, so nobody does. The turn is executed with all threads off.
TEST(Walker, ATurnThatTheBranchBeforeItRulesOutNeverRuns) {
  for (unsigned trips = 1; trips <= 9; ++trips) {
    const Trace t = trace(recorded([&](unsigned) { return trips; }));
    EXPECT_EQ(t.times("0100 00000000"), 1U) << trips;
    EXPECT_EQ(t.times("0100 ffffffff"), 0U) << trips;
  }
}

/// What the assembler puts in front of asynchronous copies: it takes no access of the statement that it carries the line of.
TEST(Walker, AnInstructionThatIsNeverExecutedTakesNoAccess) {
  RecordedKernel k = recorded([](unsigned) { return 5U; });
  const std::string add = "//## File \"kernel.ptx\", line 12\n        /*0420*/                   FADD R2, R2, R5 ;";
  const std::size_t at = k.listing.find(add);
  ASSERT_NE(at, std::string::npos);
  k.listing.replace(at, add.size(), "//## File \"kernel.ptx\", line 11\n        /*0420*/              @!PT LDS RZ, [RZ] ;");
  const Trace t = trace(k);
  EXPECT_EQ(t.times("0410 ffffffff 1 R5 LDG.E 1 R4 4 1 0x7f0000001200 4"), 1U) << t.text;
  EXPECT_EQ(t.times("0420 00000000 0 LDS 0 0 0"), 1U) << t.text;
  EXPECT_DOUBLE_EQ(t.result.joined_pct(), 100);
}

/// A store that the assembler has moved in front of its block, for the threads that go there as well as for the others.
TEST(Walker, AnotherStatementStandsForABlockWhenThePathsSayThatTheFirstOneWasMoved) {
  RecordedKernel k = recorded([](unsigned) { return 3U; });
  const std::uint64_t instructions = trace(k).result.warp_instructions;
  k.plan.lines[19].block = kHalf;  // as if it came from the block of threads 0 to 15, whose first statement it is then
  const Trace t = trace(k);
  EXPECT_EQ(t.result.warp_instructions, instructions);
  EXPECT_FALSE(t.result.unjoined.contains("no_path"));
}

/// The assembler has put the loads of three blocks in front of the first one's branch: none of them alone can be in its place.
TEST(Walker, LoadsThatAreGatheredInOneBlockGiveWayTogether) {
  RecordPlan plan;
  for (std::uint32_t b = 0; b < 6; ++b) {
    PtxLine line;
    line.op = b % 2 == 0 ? "ld.shared.u32" : "red.global.add.u32";
    line.block = b;
    line.space = b % 2 == 0 ? PtxSpace::Shared : PtxSpace::Global;
    line.logged = b % 2 == 0 ? LoggedKind::Address32 : LoggedKind::Address64;
    line.word = 1;
    plan.lines.push_back(line);
    plan.words.push_back(b % 2 == 0 ? 2 : 3);
  }
  std::string listing = ".section .text.k,\"ax\",@progbits\n";
  unsigned pc = 0;
  const auto add = [&](unsigned line, const std::string& text) {
    listing += fmt::format("//## File \"kernel.ptx\", line {}\n/*{:04x}*/ {} ;\n", line, pc, text);
    pc += 16;
  };
  for (const unsigned line : {1U, 3U, 5U}) add(line, fmt::format("LDS R{}, [R1]", line));
  for (const unsigned line : {2U, 4U, 6U}) {
    add(line, fmt::format("@!P{} BRA `(.L_x_{})", line / 2, line));
    add(line, "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R6");
    listing += fmt::format(".L_x_{}:\n", line);
  }
  add(6, "EXIT");
  const SassKernel sass = parse_listing(listing, "k");
  for (const std::vector<std::uint32_t>& blocks : {std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}, {0, 2, 4}, {0, 1, 2, 4, 5}}) {
    LanePath path;
    for (const std::uint32_t b : blocks) {
      path.at.push_back(path.at.empty() ? 0 : path.at.back() + plan.words[path.blocks.back()]);
      path.blocks.push_back(b);
    }
    Walker walker(plan, sass);
    walker.learn(path);
    const SassPath way = walker.walk(path);
    ASSERT_TRUE(way.found) << blocks.size();
    EXPECT_EQ(way.blocks.size(), 4 + blocks.size() - 3) << "the loads, three joins and what runs between them";
  }
}

TEST(DecidedGuards, OfOneComparisonMadeTwiceAndOfNoOther) {
  const SassKernel kernel = parse_listing(data("sum.sass"), "sum");
  const std::vector<std::optional<bool>> decided = decided_guards(kernel);
  for (std::size_t i = 0; i < decided.size(); ++i)
    EXPECT_EQ(decided[i], kernel.instructions[i].guard == "P2" ? std::optional(false) : std::nullopt)
        << kernel.instructions[i].pc;
  std::string other = data("sum.sass");
  other.replace(other.find("ISETP.GE.U32.AND P2, PT, R4, R3, PT"), 35, "ISETP.GE.U32.AND P2, PT, R2, R3, PT");
  for (const std::optional<bool>& d : decided_guards(parse_listing(other, "sum"))) EXPECT_FALSE(d.has_value());
  other = data("sum.sass");  // both with zero
  other.replace(other.find("P0, PT, R0, R3, PT"), 18, "P0, PT, R0, RZ, PT");
  other.replace(other.find("P2, PT, R4, R3, PT"), 18, "P2, PT, R4, RZ, PT");
  const std::vector<std::optional<bool>> zero = decided_guards(parse_listing(other, "sum"));
  EXPECT_NE(std::ranges::find(zero, std::optional(false)), zero.end());
  other = data("sum.sass");  // the same in another form
  other.replace(other.find("ISETP.GE.U32.AND P2, PT, R4, R3, PT"), 35, "ISETP.GT.U32.AND P2, PT, R3, R4, PT");
  const SassKernel turned = parse_listing(other, "sum");
  const std::vector<std::optional<bool>> opposite = decided_guards(turned);
  for (std::size_t i = 0; i < opposite.size(); ++i)
    EXPECT_EQ(opposite[i], turned.instructions[i].guard == "P2" ? std::optional(true) : std::nullopt);
}

TEST(SassTrace, HasTheAddressesOfTheLogInTheirOrder) {
  const Trace t = trace(recorded([](unsigned) { return 6U; }));
  EXPECT_NE(t.text.find("0200 ffffffff 1 R8 LDG.E 1 R6 4 1 0x7f0000001080 4 0\n"), std::string::npos) << t.text;
  EXPECT_NE(t.text.find("0490 ffffffff 0 STS 2 R7 R2 4 1 0x0 4 0\n"), std::string::npos) << t.text;
  EXPECT_NE(t.text.find("0500 0000ffff 0 STG.E 2 R2 R9 4 1 0x7f0000900000 4 0\n"), std::string::npos) << t.text;
}

TEST(SassTrace, ThreadsThatPartJoinAtTheBarrierOfTheBranch) {
  const Trace t = trace(recorded([](unsigned lane) { return lane < 8 ? 2U : 1U; }));
  EXPECT_EQ(t.times("0350 000000ff"), 1U);
  EXPECT_EQ(t.times("0410 ffffff00"), 1U);
  EXPECT_EQ(t.times("0430 "), 2U);  // they wait there one after the other
  EXPECT_EQ(t.times("0490 ffffffff"), 1U);
  EXPECT_EQ(t.times("04b0 ffff0000"), 1U);  // those who end
}

TEST(SassTrace, WhatNoWayExplainsIsCounted) {
  RecordedKernel k = recorded([](unsigned) { return 40U; });
  constexpr std::string_view kBack = "@!P1 BRA `(.L_x_4)";
  k.listing.replace(k.listing.find(kBack), kBack.size(), "NOP");  // without the way back nobody goes around 40 times
  const Trace t = trace(k);
  EXPECT_TRUE(t.result.unjoined.contains("no_path"));
  EXPECT_LT(t.result.joined_pct(), 100);
}

/// Where no branch has decided whether a predicated copy runs, two ways explain the path: the shorter one may be wrong.
TEST(SassTrace, AnotherWayWithOtherPredicatedCopiesIsCounted) {
  RecordedKernel k = recorded([](unsigned) { return 2U; });
  const std::uint64_t sure = trace(k).result.warp_instructions;
  k.listing.replace(k.listing.find("ISETP.GE.U32.AND P2, PT, R4, R3, PT"), 35, "ISETP.GE.U32.AND P2, PT, R2, R3, PT");
  const Trace t = trace(k);
  ASSERT_TRUE(t.result.unjoined.contains("two_ways"));
  EXPECT_EQ(t.result.warp_instructions + t.result.unjoined.at("two_ways"), sure);
  EXPECT_LT(t.result.joined_pct(), 100);
}

TEST(SassTrace, RefusesALogThatIsNotThePlans) {
  RecordedKernel k = recorded([](unsigned) { return 1U; });
  k.log.words[0] = 7;
  EXPECT_THROW((void)write_trace(k, 1, fs::path(testing::TempDir()) / "never.traceg"), InputError);
  EXPECT_FALSE(fs::exists(fs::path(testing::TempDir()) / "never.traceg"));
}

}  // namespace
}  // namespace sluice::gpu
