// SPDX-License-Identifier: Apache-2.0
// The reader of SASS traces: what it makes of every form of instruction, and that it refuses every broken file with a place and a
// reason.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sw/trace/kernel_list.h"
#include "sw/trace/trace_reader.h"
#include "sw/trace/trace_source.h"
#include "tests/trace/decoded.h"

namespace sluice {
namespace {

using sample::decode;
using sample::Decoded;
using sample::refuses;
class TraceFiles : public sample::TraceFiles {};

TEST(TraceReader, ControlBitsOfTheHeaderGoToTheInstructionOfTheirPc) {
  // Stall 5, no yield, result at barrier 2, sources at barrier 0, waits for barriers 1 and 3.
  const std::string bits = fmt::format("-control 0010 = {:06x}\n", 5U | 1U << 4 | 2U << 5 | 0U << 8 | 0b1010U << 11);
  const Instruction with = decode("0010 ffffffff 1 R2 MUFU.EX2 1 R3 0 0", bits + sample::header(1, 32)).instruction;
  EXPECT_TRUE(with.timed);
  EXPECT_EQ(with.stall, 5);
  EXPECT_EQ(with.write_barrier, 2);
  EXPECT_EQ(with.read_barrier, 0);
  EXPECT_EQ(with.waits, 0b1010);
  EXPECT_FALSE(decode("0020 ffffffff 1 R2 MUFU.EX2 1 R3 0 0", bits + sample::header(1, 32)).instruction.timed);
}

/// Of "0010 ..." with these reuse bits and the yield bit.
Instruction with_reuse(const std::string& instruction, unsigned reuse, bool yields = false) {
  const unsigned bits = 1U | (yields ? 0U : 1U << 4) | 7U << 5 | 7U << 8 | reuse << 17;
  return decode("0010 ffffffff " + instruction, fmt::format("-control 0010 = {:06x}\n", bits) + sample::header(1, 32))
      .instruction;
}

TEST(TraceReader, ReuseBitsGoToTheSourcesInTheirOrder) {
  EXPECT_EQ(with_reuse("1 R1 FFMA 3 R2 R3 R4 0 0", 0b001).kept, 0b001);
  EXPECT_EQ(with_reuse("1 R1 FFMA 3 R2 R3 R4 0 0", 0b010).kept, 0b010);
  EXPECT_EQ(with_reuse("1 R1 FFMA 3 R2 R3 R4 0 0", 0b110).kept, 0b110);
  EXPECT_EQ(with_reuse("1 R1 FADD 2 R2 R4 0 0", 0b100).kept, 0b10) << "the third place is the last register";
  EXPECT_EQ(with_reuse("1 R1 IMAD 2 R3 R4 0 0", 0b110).kept, 0b11) << "the first place has no register";
  EXPECT_EQ(with_reuse("1 R1 MOV 1 R2 0 0", 0b010).kept, 0b1);
  EXPECT_EQ(with_reuse("1 R1 MOV 0 0 0", 0b111).kept, 0);
  EXPECT_EQ(with_reuse("1 R1 FFMA 3 R2 R3 R4 0 0", 0b1000).kept, 0) << "no place";
}

TEST(TraceReader, SourcesOfKnownLatencyAreReadFromTheBanks) {
  EXPECT_EQ(with_reuse("1 R1 FFMA 3 R2 R3 R255 0 0", 0).banked, 0b011) << "RZ has none";
  EXPECT_EQ(with_reuse("1 R2 DFMA 3 R2 R4 R6 0 0", 0).banked, 0b111);
  EXPECT_EQ(with_reuse("1 R2 DFMA 3 R2 R4 R6 0 0", 0).pairs, 0b111);
  EXPECT_EQ(with_reuse("1 R2 IMAD.WIDE 3 R4 R5 R6 0 0", 0).pairs, 0b100);
  EXPECT_EQ(with_reuse("1 R2 IMAD.WIDE.U32 2 R4 R6 0 0", 0).pairs, 0b10);
  EXPECT_EQ(with_reuse("1 R2 IMAD.WIDE.U32 1 R4 0 0", 0).pairs, 0);
  for (const char* other : {"1 R1 MUFU.EX2 1 R2 0 0", "1 R1 SHFL.BFLY 1 R2 0 0", "0 BRX 1 R2 0 0",
                            "1 R8 HMMA.16816.F32 3 R2 R4 R8 0 0", "1 R1 LDG.E 1 R2 4 1 0x7f5000000000 4 0"})
    EXPECT_EQ(with_reuse(other, 1).banked, 0) << other;
  const Instruction untimed = decode("0010 ffffffff 1 R1 FFMA 3 R2 R3 R4 0 0").instruction;
  EXPECT_EQ(untimed.banked, 0) << "nothing says what is kept";
  EXPECT_TRUE(untimed.yields);
}

TEST(TraceReader, TheYieldBitIsOff) {
  EXPECT_TRUE(with_reuse("1 R1 FFMA 3 R2 R3 R4 0 0", 0, true).yields);
  EXPECT_FALSE(with_reuse("1 R1 FFMA 3 R2 R3 R4 0 0", 0, false).yields);
}

TEST(TraceReader, CopiesIntoTheScratchpadAreWaitedFor) {
  EXPECT_EQ(decode("0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 0x7f5000000000 16 0").instruction.copies, CopyRole::Copy);
  EXPECT_TRUE(decode("0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 0x7f5000000000 16 0").instruction.bypass_l1);
  EXPECT_EQ(decode("0020 ffffffff 0 LDGDEPBAR 0 0 0").instruction.copies, CopyRole::Commit);
  const Instruction wait = decode("0030 ffffffff 0 DEPBAR.LE 0 0 2").instruction;
  EXPECT_EQ(wait.copies, CopyRole::Wait);
  EXPECT_EQ(wait.groups_left, 2);
}

TEST(TraceReader, RefusesControlBitsThatNoEncodingHas) {
  const auto with = [](const std::string& line) { return line + "\n" + sample::header(1, 32); };
  refuses(with("-control 0010 = 200000"), "control bits = 200000");
  refuses(with("-control zz = 10"), "PC = zz");
  refuses(with("-control 1000000 = 10"), "PC = 1000000");
}

TEST(TraceReader, ReadsTheHeader) {
  const std::string text = sample::header(6, 48, 4, 7, 1);
  const TraceReader reader(text, "text");
  const TraceHeader& h = reader.header();
  EXPECT_EQ(h.kernel_name, "sample");
  EXPECT_EQ(h.ctas(), 6U);
  EXPECT_EQ(h.threads(), 48U);
  EXPECT_EQ(h.warps(), 2U);
  EXPECT_EQ(h.stream, 7U);
  EXPECT_EQ(h.tracer_version, 4U);
  EXPECT_TRUE(h.line_info);
  EXPECT_EQ(h.local_base, 0x7f0100000000U);
}

TEST(TraceReader, ReadsRegistersMaskAndPc) {
  const Instruction i = decode("01f0 0000000f 1 R2 FFMA 3 R4 R255 R6 0 0").instruction;
  EXPECT_EQ(i.op, OpClass::Alu);
  EXPECT_EQ(i.pc, 0x1f0U);
  EXPECT_EQ(i.active_lanes, 4);
  EXPECT_EQ(i.dst, 2);
  EXPECT_EQ(i.src[0], 4);
  EXPECT_EQ(i.src[1], kNoRegister);  // R255 is the zero register
  EXPECT_EQ(i.src[2], 6);
}

TEST(TraceReader, ReadsTheThreeAddressForms) {
  const Decoded stride = decode("0000 ffffffff 1 R2 LDG.E 1 R0 4 1 0x7f5000000000 4 0");
  ASSERT_EQ(stride.lines.size(), 1U);
  EXPECT_EQ(stride.lines[0].address, 0x7f5000000000U);
  EXPECT_EQ(stride.lines[0].sectors, 0xf);

  const Decoded list = decode("0000 00000005 1 R2 LDG.E 1 R0 4 0 0x00007f5000002000 0x00007f5000003060 0");
  ASSERT_EQ(list.lines.size(), 2U);
  EXPECT_EQ(list.lines[0].sectors, 0b0001);
  EXPECT_EQ(list.lines[1].address, 0x7f5000003000U);
  EXPECT_EQ(list.lines[1].sectors, 0b1000);

  const Decoded delta = decode("0000 0000000f 1 R2 LDG.E.64 1 R0 8 2 0x7f5000001000 8 120 -64 0");
  ASSERT_EQ(delta.lines.size(), 2U);  // +0, +8, +128, +64
  EXPECT_EQ(delta.lines[0].sectors, 0b0101);
  EXPECT_EQ(delta.lines[1].sectors, 0b0001);
  EXPECT_EQ(delta.instruction.dst_count, 2);
}

TEST(TraceReader, KnowsWhichSectorsAStoreWritesWhole) {
  const Decoded words = decode("0000 ffffffff 0 STG.E 2 R4 R8 4 1 0x1010 4 0");  // 128 bytes from the middle of a sector on
  ASSERT_EQ(words.lines.size(), 2U);
  EXPECT_EQ(words.lines[0].sectors, 0b1111);
  EXPECT_EQ(words.lines[0].whole, 0b1110);
  EXPECT_EQ(words.lines[0].part_bytes, 16);
  EXPECT_EQ(words.lines[1].sectors, 0b0001);
  EXPECT_EQ(words.lines[1].whole, 0);
  EXPECT_EQ(words.lines[1].part_bytes, 16);
  const Decoded same = decode("0000 00000003 0 STG.E.U8 2 R4 R8 1 0 0x1021 0x1021 0");
  EXPECT_EQ(same.lines[0].part_bytes, 1);
  EXPECT_EQ(decode("0000 ffffffff 0 STG.E.128 2 R4 R8 16 1 0x1000 16 0").lines[3].whole, 0b1111);
  const Decoded over = decode("0000 00000001 0 STG.E.64 2 R4 R8 8 0 0x107c 0");  // four bytes on either side of a line's end
  ASSERT_EQ(over.lines.size(), 2U);
  EXPECT_EQ(over.lines[0].part_bytes, 4);
  EXPECT_EQ(over.lines[1].part_bytes, 4);
}

TEST(TraceReader, TakesTheWidthFromTheOpcode) {
  EXPECT_EQ(decode("0000 ffffffff 1 R4 LDG.E.128 1 R0 16 1 0x1000 16 0").lines.size(), 4U);
  EXPECT_EQ(decode("0000 ffffffff 1 R4 LDG.E.U8 1 R0 1 1 0x1000 1 0").lines[0].sectors, 0b0001);
  EXPECT_EQ(decode("0000 ffffffff 1 R4 LDG.E 1 R0 4 1 0x107e 4 0").lines.size(), 2U);  // not aligned: runs into the next line
}

TEST(TraceReader, AcceptsVersionsThreeToFive) {
  EXPECT_EQ(decode("0000 ffffffff 1 R2 IADD3 2 R0 R1 0", sample::header(1, 32, 3)).instruction.dst, 2);
  EXPECT_EQ(decode("17 0010 ffffffff 1 R2 IADD3 2 R0 R1 0", sample::header(1, 32, 4, 0, 1)).instruction.pc, 16U);
  EXPECT_EQ(decode("0000 ffffffff 0 DEPBAR 0 0 3").instruction.op, OpClass::Alu);
  refuses(sample::header(1, 32, 2), "accelsim tracer version = 2: must be 3, 4, 5 or 6");
  refuses(sample::header(1, 32, 7), "must be 3, 4, 5 or 6");
}

TEST(TraceReader, ClassifiesMemorySpaces) {
  EXPECT_EQ(decode("0000 ffffffff 1 R2 LDS 1 R0 4 1 0x0 4 0").instruction.op, OpClass::Shared);
  EXPECT_EQ(decode("0000 ffffffff 1 R2 ATOMG.ADD 1 R0 4 1 0x1000 0 0").instruction.op, OpClass::Atomic);
  EXPECT_EQ(decode("0000 ffffffff 1 R2 LD.E 1 R0 4 1 0x7f0000000040 4 0").instruction.op, OpClass::Shared);
  EXPECT_EQ(decode("0000 ffffffff 1 R2 LD.E 1 R0 4 1 0x7f5000000040 4 0").instruction.op, OpClass::Load);
  EXPECT_TRUE(decode("0000 ffffffff 1 R2 LDG.E.STRONG.GPU 1 R0 4 1 0x1000 4 0").instruction.bypass_l1);
  EXPECT_FALSE(decode("0000 ffffffff 1 R2 LDG.E.STRONG.SYS 1 R0 4 1 0x1000 4 0").instruction.bypass_l1);
  // The same local word of 32 lanes is one line, another warp's is another.
  EXPECT_EQ(decode("0000 ffffffff 1 R2 LDL 1 R0 4 1 0x7f0100fffc00 0 0").lines.size(), 1U);
  EXPECT_EQ(decode("0000 00000000 1 R2 LDG.E 1 R0 4 1 0x0 99 0").instruction.op, OpClass::Alu);  // every lane switched off
}

TEST(TraceReader, CountsBankConflicts) {
  const auto passes = [](const std::string& line) { return decode(line).instruction.interval; };
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDS 1 R0 4 1 0x0 4 0"), 1);
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDS 1 R0 4 1 0x0 8 0"), 2);
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDS 1 R0 4 1 0x0 128 0"), 32);
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDS 1 R0 4 1 0x40 0 0"), 1);  // one word for all
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDS.64 1 R0 8 1 0x0 8 0"), 2);
  // The L1 has the same banks: 32 lines are one pass if their words lie in different ones.
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000000000 128 0"), 32);
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f0000000000 132 0"), 1);
  EXPECT_EQ(passes("0000 ffffffff 1 R2 LDG.E.128 1 R4 16 1 0x7f0000000000 16 0"), 4);
  EXPECT_EQ(passes("0000 ffffffff 0 STG.E 2 R2 R4 4 1 0x7f0000000000 128 0"), 1);
}

TEST(TraceReader, NamesUnknownOpcodesAndCountsThem) {
  const std::string text =
      sample::one_warp({"0000 ffffffff 0 FROB.X 0 0 0", "0010 ffffffff 0 FROB.X 0 0 0", "0020 ffffffff 0 EXIT 0 0 0"});
  TraceReader reader(text, "text");
  TraceCta cta;
  ASSERT_TRUE(reader.next_cta(cta));
  EXPECT_EQ(reader.unknown_opcodes(), (std::map<std::string, std::uint64_t>{{"FROB", 2}}));
}

/// A tracer writes the addresses of each memory operand, whatever the opcode; only loads, stores and atomics use them.
TEST(TraceReader, AddressesStandBehindAnyOpcode) {
  const std::string lanes = sample::repeated("0x7f0000000400 ", 32);
  for (const auto& [line, version] :
       {std::pair{"0 ARRIVES.LDGSTSBAR.64 1 R255 8 1 0x7f0000000400 0 0", 5U},
        {"0 CCTL.E.PF2 1 R4 4 1 0x7f5000000000 4 0", 5U},
        {"1 R2 FROB.E 1 R4 4 2 0x7f5000000000 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 0", 4U},
        {"0 BRA 0 4 1 0x0 4 0", 3U}}) {
    const Decoded read = decode(std::string("0010 ffffffff ") + line, sample::header(1, 32, version));
    EXPECT_EQ(read.instruction.op, OpClass::Alu) << line;
    EXPECT_TRUE(read.lines.empty()) << line;
  }
  EXPECT_EQ(
      decode("0000 ffffffff 0 ARRIVES.LDGSTSBAR.64.ARVCNT 1 UR8 8 0 " + lanes + "0 0", sample::header(1, 32, 6)).instruction.op,
      OpClass::Alu);
  EXPECT_EQ(decode("0000 ffffffff 0 SYNCS.ARRIVE.TRANS64 2 R2 UR4 8 0 " + lanes + "0 0", sample::header(1, 32, 6)).instruction.op,
            OpClass::Shared);
  refuses(sample::one_warp({"0000 ffffffff 0 CCTL 1 R4 4 0 0x0 0"}), "the line ends where address should be");
}

TEST(TraceReader, ABarrierThatNoLaneExecutesHoldsNobody) {
  EXPECT_EQ(decode("0000 00000001 0 BAR.SYNC.DEFER_BLOCKING 0 0 0").instruction.op, OpClass::Barrier);
  EXPECT_EQ(decode("0000 00000000 0 BAR.SYNC.DEFER_BLOCKING 0 0 0").instruction.op, OpClass::Alu);
  for (const char* opcode : {"LDGDEPBAR", "DEPBAR.LE"})
    EXPECT_EQ(decode(std::string("0000 00000000 0 ") + opcode + " 0 0 0").instruction.copies, CopyRole::None) << opcode;
}

TEST(TraceReader, ABarrierOfFewerThreadsIsCounted) {
  using Counts = std::map<std::string, std::uint64_t>;
  for (const auto& [line, version, counts] : {std::tuple{"0000 ffffffff 0 BAR.SYNC 0 0 64", 5U, Counts{{"BAR of 64 threads", 2}}},
                                              {"0000 ffffffff 0 BAR.SYNC 0 0 1 64", 6U, Counts{{"BAR of 64 threads", 2}}},
                                              {"0000 ffffffff 0 BAR.SYNC 0 0 1", 5U, Counts{}},
                                              {"0000 ffffffff 0 BAR.SYNC 0 0 96", 5U, Counts{}},
                                              {"0000 00000000 0 BAR.SYNC 0 0 64", 5U, Counts{}}}) {
    const std::string text = sample::header(1, 96, version) + sample::cta(0, {line, line}, 1) + "";
    const std::string whole = test::edited(text, "\n#END_TB", sample::warp(1, {}) + sample::warp(2, {}) + "\n#END_TB");
    TraceReader reader(whole, "text");
    TraceCta cta;
    ASSERT_TRUE(reader.next_cta(cta));
    EXPECT_EQ(reader.unknown_opcodes(), counts) << line;
  }
}

/// LDSM.x1 has 8 rows of 16 bytes, whose addresses are those of the first 8 lanes, and one register.
TEST(TraceReader, MatrixLoadsGoByTheirSuffix) {
  for (const auto& [opcode, registers, passes] :
       {std::tuple{"LDSM.16.M88", 1, 1}, {"LDSM.16.M88.2", 2, 2}, {"LDSM.16.MT88.4", 4, 4}, {"STSM.16.M88.4", 4, 4}}) {
    const Instruction i = decode(fmt::format("0000 ffffffff 1 R4 {} 1 R0 16 1 0x0 16 0", opcode)).instruction;
    EXPECT_EQ(i.dst_count, registers) << opcode;
    EXPECT_EQ(i.interval, passes) << opcode;
  }
}

TEST(TraceReader, StreamsAreHandlesWithASignOrWithout) {
  const auto stream = [](const std::string& id) {
    return TraceReader(test::edited(sample::header(1, 32), "stream id = 0", "stream id = " + id), "text").header().stream;
  };
  EXPECT_EQ(stream("-1"), stream("18446744073709551615"));
  EXPECT_EQ(stream("-9223372036854775808"), 1ULL << 63);
  refuses(test::edited(sample::header(1, 32), "stream id = 0", "stream id = -x"),
          "cuda stream id = -x: must be a decimal number");
}

TEST(TraceReader, KnowsHoppersOpcodes) {
  for (const char* name : {"HGMMA",  "QGMMA",  "LDSM",      "STSM", "UTMALDG",   "UTMASTG", "UBLKCP",    "SYNCS",
                           "VIADD",  "VIMNMX", "VIADDMNMX", "REDG", "LDGDEPBAR", "ELECT",   "WARPGROUP", "USETMAXREG",
                           "UIADD3", "ULDC",   "R2UR",      "S2UR", "ARRIVES",   "ULEPC",   "FMUL32I"})
    EXPECT_TRUE(find_opcode(name, 90)) << name;
  EXPECT_EQ(find_opcode("HGMMA", 90)->op, OpClass::Tensor);
  EXPECT_EQ(find_opcode("REDG", 90)->op, OpClass::Atomic);
  // A copy by the tensor engine has no addresses in a trace.
  EXPECT_EQ(decode("0000 ffffffff 0 UTMALDG.2D 0 0 0").instruction.op, OpClass::Alu);
}

TEST(TraceReader,
     MatrixInstructionsHoldTheirUnitAsMeasured) {  // results/h200/hopper, matrix.jsonl: 20.2, 24.2, 32.2, 64.2, 128.2
  EXPECT_EQ(matrix_cycles("HGMMA.64x16x16.F32.BF16"), 20);
  EXPECT_EQ(matrix_cycles("HGMMA.64x32x16.F32.BF16"), 24);
  EXPECT_EQ(matrix_cycles("HGMMA.64x64x16.F32"), 32);
  EXPECT_EQ(matrix_cycles("QGMMA.64x128x32.F32.E4M3.E4M3"), 64);
  EXPECT_EQ(matrix_cycles("HGMMA.64x256x16.F32.BF16"), 128);
  EXPECT_EQ(matrix_cycles("HMMA.16816.F32"), 1);
}

TEST(TraceReader, KnowsTheOpcodesOfItsArchitectures) {
  for (const char* name : {"FFMA", "HFMA2", "IMAD", "LOP3", "SHFL", "BSSY", "WARPSYNC", "LDSM", "UIADD3", "LDGSTS", "LDGDEPBAR",
                           "SUST", "REDUX", "VOTEU", "XMAD", "NANOSLEEP", "CCTL", "MEMBAR", "S2UR"})
    EXPECT_TRUE(find_opcode(name, 80)) << name;
  EXPECT_FALSE(find_opcode("FROB", 80));
  EXPECT_EQ(find_opcode("LD", 35)->space, MemorySpace::Global);
  EXPECT_EQ(find_opcode("LD", 70)->space, MemorySpace::Generic);
}

TEST(TraceReader, RefusesWrongCountsWithTheirPlace) {
  const std::string alu = "0000 ffffffff 0 BRA 0 0 0";
  const std::string head = sample::header(2, 64);
  refuses(head + sample::cta(0, {alu}, 2), "the file ends after 1 of 2 thread blocks");
  refuses(head + sample::cta(0, {alu}, 1), "the thread block ends with 1 of 2 warps");
  refuses(sample::header(1, 32) + sample::cta(0, {alu}) + sample::cta(1, {alu}), "text after the last of 1 thread blocks");
  refuses(head + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n" + alu + "\nwarp = 0\ninsts = 0\n#END_TB\n",
          "warp = 0 comes twice");
  refuses(head + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 2\n", "warp = 2: must be a decimal number, 0..1");
  refuses(head + "#BEGIN_TB\nthread block = 2,0,0\n", "thread block = 2: must be a decimal number, 0..1");
  refuses(head + sample::cta(0, {alu}, 2) + sample::cta(0, {alu}, 2), ":33: thread block = 0,0,0 comes twice");
  refuses(head + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 3\n" + alu + "\nwarp = 1\n", "this warp has 1 of 3");
  refuses(head + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2000000000\n" + alu + "\n",
          "the file ends after 1 of 2000000000 instructions");
  refuses(head + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 99999999999\n", "insts = 99999999999: must be");
}

TEST(TraceReader, RefusesBadFields) {
  const auto line = [](const std::string& text) { return sample::one_warp({text}); };
  refuses(line("zz ffffffff 0 BRA 0 0 0"), "k.traceg:23: PC = zz: must be a hexadecimal number");
  refuses(line("0000 1ffffffff 0 BRA 0 0 0"), "mask = 1ffffffff");
  refuses(line("0000 ffffffff 2 R1 R2 BRA 0 0 0"), "number of destinations = 2");
  refuses(line("0000 ffffffff 1 R256 MOV 0 0 0"), "register R256: must be R0..R255");
  refuses(line("0000 ffffffff 1 R1 MOV 6 R1 R1 R1 R1 R1 R1 0 0"), "number of sources = 6");
  refuses(line("0000 ffffffff 1 R1 LDG.E 1 R0 4 3 0x0 0"), "address mode = 3");
  refuses(line("0000 0000ffff 1 R1 LDG.E 1 R0 4 0 0x0 0x4"), "the line ends where address should be");
  refuses(line("0000 00000005 1 R1 LDG.E 1 R0 4 1 0x0 4 0"), "set lanes to be contiguous");
  refuses(line("0000 ffffffff 0 BRA 0 0 0 7"), "text after the end of the instruction");
  refuses(line("0000 ffffffff 0 BRA 0 " + std::string(9000, '0')), "line longer than");
  refuses("-kernel name = x\n", "the file ends in the header");
  refuses("nonsense\n", "a header line must be");
  for (const auto& [from, to, why] : {std::tuple("(1,1,1)", "(99999999999,1,1)", "grid dim = 99999999999: must be"),
                                      {"(32,1,1)", "(32,33,1)", "block dim: 1056 threads, must be 1..1024"},
                                      {"version = 70", "version = 71", "binary version = 71: must be one of 35"},
                                      {"-nregs = 16\n", "", "has no `-nregs = ...`"},
                                      {"-shmem = 0\n", "", "has no `-shmem = ...`"},
                                      {"-nregs = 16\n", "-nregs = 16\n-nregs = 8\n", "-nregs: comes twice"}})
    refuses(test::edited(sample::header(1, 32), from, to), why);
  EXPECT_EQ(test::refusal([] { (void)TraceReader(test::edited(sample::header(1, 32), "n = 70", "n = 89"), "k.traceg"); }),
            "accepted");
}

RC_GTEST_PROP(TraceReader, RefusesAFileCutAnywhere, ()) {
  static const std::string whole = sample::compute(2, 2, 12);
  // Cutting blanks or the last line's end off leaves a whole file.
  const std::size_t meaningful = whole.find_last_not_of(" \n") + 1;
  const auto cut = *rc::gen::inRange<std::size_t>(0, meaningful);
  const auto read = [&] { sample::read_to_end(TraceReader(std::string_view(whole).substr(0, cut), "k.traceg")); };
  RC_ASSERT(test::refusal(read).starts_with("k.traceg:"));
}

TEST_F(TraceFiles, XzGivesTheSameInstructions) {
  write("kernel-1.traceg", sample::compute(3, 2, 40));
  ASSERT_EQ(std::system(("xz -k '" + (folder_ / "kernel-1.traceg").string() + "'").c_str()), 0);
  sample::expect_same(TraceReader(folder_ / "kernel-1.traceg"), TraceReader(folder_ / "kernel-1.traceg.xz"));
}

TEST_F(TraceFiles, ACutOrForeignXzFileIsRefused) {
  write("a.xz", "not xz at all, but long enough to hold a header");
  EXPECT_THROW(TraceReader(folder_ / "a.xz"), InputError);
  write("b.traceg", sample::compute(20, 4, 200));
  const std::string b = (folder_ / "b.traceg").string();
  ASSERT_EQ(std::system(("xz -c '" + b + "' | head -c 600 > '" + b + ".xz'").c_str()), 0);
  const std::string what = test::refusal([&] { sample::read_to_end(TraceReader(b + ".xz")); });
  EXPECT_NE(what.find("cut off"), std::string::npos) << what;
}

/// A line of a list is a kernel, a copy, a comment or blank: two kernels run, or the line is refused.
TEST_F(TraceFiles, ListsAreReadAsPeopleWriteThem) {
  const std::string first = write("kernel-1.traceg", sample::compute(1, 1, 4)).string();
  write("sub folder/kernel-2.traceg", sample::compute(1, 1, 4));
  const std::string second = "sub folder/kernel-2.traceg\n";
  for (const std::string& line :
       {std::string("./kernel-1.traceg\n"), std::string("  kernel-1.traceg \t\n"), std::string("\tkernel-1.traceg\r\n"),
        std::string("\xef\xbb\xbfkernel-1.traceg\n"), "MemcpyDtoH,0x7f5000000000,4096\n# a comment\n\n" + first + "\n",
        std::string("sub folder/../kernel-1.traceg\n")})
    EXPECT_EQ(read_kernel_list(write("kernelslist.g", line + second)).size(), 2U) << line;
  for (const auto& [text, what] :
       {std::pair{second + "kernal-1.traceg\n", ":2: kernal-1.traceg: no such file, seen from the list's folder"},
        {second + "kernel-1.trace\n",
         ":2: \"kernel-1.trace\": must be a kernel (a file that ends in .traceg, .xz or .tracez), a copy"},
        {second + "Kernel 1\n", ":2: \"Kernel 1\": must be a kernel"},
        {second + "sub folder\n", ":2: \"sub folder\": must be a kernel"},
        {std::string("\xff\xfek\0e\0", 6), ":1: is UTF-16: save it as UTF-8"},
        {sample::compute(1, 1, 4), ":1: is a kernel's trace, not a list"},
        {std::string("# nothing\n"), ": names no kernel"}}) {
    const std::string list = write("kernelslist.g", text).string();
    const std::string said = test::refusal([&] { (void)read_kernel_list(list); });
    EXPECT_TRUE(said.starts_with(list + what)) << said;
  }
  ASSERT_EQ(std::system(("xz -k '" + first + "'").c_str()), 0);
  EXPECT_NE(test::refusal([&] { (void)read_kernel_list(first + ".xz"); }).find(":1: is a kernel's trace"), std::string::npos);
}

TEST_F(TraceFiles, KernelListKeepsStreamsInOrder) {
  write("kernel-1.traceg", sample::compute(1, 1, 4, 0));
  write("kernel-2.traceg", sample::compute(1, 1, 4, 5));
  write("kernel-3.traceg", sample::compute(1, 1, 4, 0));
  write("kernelslist.g", "MemcpyHtoD,0x7f5000000000,4096\nkernel-1.traceg\n\nkernel-2.traceg\nkernel-3.traceg\n");
  const auto kernels = read_kernel_list(folder_ / "kernelslist.g");
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_FALSE(kernels[1].after);
  EXPECT_EQ(kernels[2].after, 0U);
  write("empty.g", "MemcpyHtoD,0x0,1\n");
  EXPECT_THROW((void)read_kernel_list(folder_ / "empty.g"), InputError);
  write("missing.g", "kernel-9.traceg\n");
  EXPECT_THROW((void)read_kernel_list(folder_ / "missing.g"), InputError);
}

TEST_F(TraceFiles, SourceHandsOutEveryInstructionOnceAndItsLines) {
  write("kernel-1.traceg", sample::stream(4, 2, 5));
  TraceSource source(folder_ / "kernel-1.traceg", 0);
  std::vector<LineAccess> lines;
  for (std::uint32_t c = 0; c < 4; ++c) {
    const std::uint32_t handle = source.begin_cta(c);
    for (std::uint32_t w = 0; w < 2; ++w) {
      WarpCursor cursor{c, w, 0, handle, 0, 0};
      unsigned count = 0;
      while (true) {
        const Instruction i = source.next(cursor);
        if (i.op == OpClass::Exit) break;
        ++count;
        if (i.op != OpClass::Load) continue;
        lines.clear();
        source.lines(cursor, cursor.position - 1, lines);
        ASSERT_EQ(lines.size(), 1U);
        EXPECT_EQ(lines[0].address, 0x7f5000000000U + (((cursor.position - 1) / 2 * 4 + c) * 2 + w) * 128);
      }
      EXPECT_EQ(count, 11U);
    }
    source.end_cta(handle);
  }
}

}  // namespace
}  // namespace sluice
