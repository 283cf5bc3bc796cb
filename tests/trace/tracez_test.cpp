// SPDX-License-Identifier: Apache-2.0
// Tracer version 6, as text and as .tracez.
#include <zstd.h>

#include <cstdio>
#include <sstream>

#include "sw/trace/kernel_list.h"
#include "tests/trace/decoded.h"

namespace sluice {
namespace {

using sample::decode;
using sample::refuses;
using sample::repeated;
class TracezFiles : public sample::TraceFiles {};

TEST(TraceReader, VersionSixNamesUniformRegistersAndPredicates) {
  const std::string six = sample::header(1, 32, 6);  // 16 registers
  const Instruction i = decode("0000 ffffffff 1 UR4 USEL 4 UR2 UR63 P1 UP2 0 0 0 NoVal", six).instruction;
  EXPECT_EQ(i.dst, 16 + 4);
  EXPECT_EQ(i.src[0], 16 + 2);
  EXPECT_EQ(i.src[1], kNoRegister) << "the zero register";
  EXPECT_EQ(i.src[2], 16 + 63 + 1);
  EXPECT_EQ(i.src[3], 16 + 63 + 7 + 2);
  EXPECT_EQ(decode("0000 ffffffff 1 P7 ISETP 1 R255 0 0", six).instruction.dst, kNoRegister);
  EXPECT_EQ(
      decode("0000 ffffffff 1 R2 IADD3 2 R0 R1 0 1 18446744073709551615 Val 1 2a 32 0x1" + repeated(" 2", 31) + " 1 ffffffff",
             six)
          .instruction.dst,
      2);
  for (const char* rest : {"0", "0 0", "0 0 NoVal"})
    EXPECT_EQ(decode(std::string("0000 00000001 0 UTMALDG.2D 0 0 ") + rest, six).instruction.op, OpClass::Alu) << "no addresses";
  EXPECT_EQ(decode("0000 ffffffff 1 R24 HGMMA.64x128x16.F32 2 R24 UR8 1 0 0 0 NoVal", six).instruction.interval, 64);
  for (const auto& [line, why] : {std::pair("0000 ffffffff 1 X4 USEL 0 0 0", "register X4: must be R, UR, P or UP"),
                                  {"0000 ffffffff 1 UR USEL 0 0 0", "register UR: must be"},
                                  {"0000 ffffffff 1 R1 MOV 0 0 0 0 Val 2 1 1", "number of values = 2: must be 1 or 32"},
                                  {"0000 ffffffff 1 R1 MOV 0 0 0 0 Val 1 xy", "value xy: must be hexadecimal"},
                                  {"0000 ffffffff 1 R1 MOV 0 0 0 0 Value", "text after the end of the instruction: Value"},
                                  {"0000 ffffffff 1 R1 HGMMA.64x8x16 0 2 0 0", "group flag = 2"}})
    refuses(six + sample::cta(0, {line}), why);
  refuses(sample::one_warp({"0000 ffffffff 1 UR4 UMOV 0 0 0"}), "register UR4: must be R0..R255");
}

TEST(TraceReader, VersionSixHasTheTilesThatTheEngineCopies) {
  const std::string six = sample::header(1, 32, 6);
  const auto of = [&](const std::string& line) {
    TraceReader reader(six + sample::cta(0, {line}), "k.traceg");
    TraceCta cta;
    EXPECT_TRUE(reader.next_cta(cta));
    std::vector<std::size_t> lines;
    for (const std::uint32_t r : cta[0].records) lines.push_back(r >> kTraceRecordIndexBits);
    EXPECT_EQ(reader.instructions()[cta[0].records[0] & ((1U << kTraceRecordIndexBits) - 1)].op,
              lines[0] == 0 ? OpClass::Alu : OpClass::Load);
    return std::pair(lines, cta[0].lines);
  };
  const auto [tiles, lines] = of("0000 00000001 0 UTMALDG.2D 2 UR4 UR8 16 0x400 0 256 0 4 0x7f5000000000 4 64 192 256 0 0 NoVal");
  EXPECT_EQ(tiles, (std::vector<std::size_t>{3})) << "two tiles share a line";
  EXPECT_EQ(lines, (std::vector<LineAccess>{{0x7f5000000000, 15}, {0x7f5000000100, 3}, {0x7f5000000200, 3}}));
  EXPECT_EQ(of("0000 00000001 0 UTMALDG.2D 2 UR4 UR8 16 400 1 3 64 0 3 2 0x1000 0x2000 0").first, (std::vector<std::size_t>{2}));
  EXPECT_EQ(of("0000 00000001 0 UBLKCP 0 16 0x0 0 65536 0 4 0x7f5000000000 1 0").first, (std::vector<std::size_t>{255, 255, 2}))
      << "a record has at most 255 lines";
  EXPECT_EQ(of("0000 00000000 0 UTMALDG.2D 0 16 0x0 0 0 0 4 0x0 0 0").first, (std::vector<std::size_t>{0}));
  refuses(six + sample::cta(0, {"0000 00000001 0 UTMALDG.2D 0 16 0x0 0 64 0 2 0x0 1 0"}), "address mode = 2");
  refuses(six + sample::cta(0, {"0000 00000001 0 UTMALDG.2D 0 16 0x0 0 64 0 4 0x0 99999999 0"}),
          "number of addresses = 99999999");
}

TEST(TraceReader, VersionSixSaysWhereAClusterIsAndWhereATracerShortenedALoop) {
  std::string text = sample::header(1, 32, 6) +
                     sample::cta(0, {"0000 ffffffff 0 REPLAY_START 0 0 7", "0010 ffffffff 1 R2 IADD3 2 R0 R1 0 0 0 NoVal",
                                     "0000 ffffffff 0 REPLAY_END 0 0 0", "0020 ffffffff 0 EXIT 0 0 0"});
  text.replace(text.find("\nwarp ="), 1, "cluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0\n\n");
  TraceReader reader(text, "k.traceg");
  TraceCta cta;
  ASSERT_TRUE(reader.next_cta(cta));
  EXPECT_EQ(cta[0].records.size(), 2U);
  EXPECT_TRUE(reader.unknown_opcodes().empty());
}

/// The .tracez of a text trace, with so many instructions a piece.
std::string tracez(const std::string& text, std::size_t piece, const std::string& dictionary = "") {
  const auto u32 = [](std::size_t v) { return std::string(reinterpret_cast<const char*>(&v), 4); };
  const auto u64 = [](std::size_t v) { return std::string(reinterpret_cast<const char*>(&v), 8); };
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (!dictionary.empty()) ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size());
  const std::size_t body = text.find("#BEGIN_TB");
  std::string out = text.substr(0, body) + '\0' + u32(dictionary.size()) + u32(piece) + dictionary, index, of_cta;
  std::size_t ctas = 0, warps = 0;
  std::istringstream in(text.substr(body));
  const auto end_cta = [&] {
    if (ctas > 0) index += of_cta.substr(0, 40) + u32(warps) + of_cta.substr(40);
  };
  for (std::string line; std::getline(in, line);) {
    unsigned x = 0, y = 0, z = 0, count = 0;
    if (std::sscanf(line.c_str(), "thread block = %u,%u,%u", &x, &y, &z) == 3) {
      end_cta();
      of_cta = u32(x) + u32(y) + u32(z) + std::string(28, '\0');
      ++ctas;
      warps = 0;
    }
    if (std::sscanf(line.c_str(), "insts = %u", &count) != 1) continue;
    ++warps;
    const std::size_t pieces = (count + piece - 1) / piece;
    of_cta += u32(count) + u32(pieces) + u64(out.size());
    out += u32(count) + u32(pieces);
    for (std::size_t p = 0; p < pieces; ++p) {
      const std::size_t lines = std::min(piece, count - p * piece);
      std::string joined;
      for (std::size_t i = 0; i < lines && std::getline(in, line); ++i) joined += (i == 0 ? "" : "\n") + line;
      std::string packed(ZSTD_compressBound(joined.size()), '\0');
      packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), joined.data(), joined.size()));
      out += u32(packed.size()) + packed;
      of_cta += u32(lines);
    }
  }
  end_cta();
  ZSTD_freeCCtx(context);
  return out + u32(ctas) + index + u64(out.size());
}

TEST_F(TracezFiles, TracezGivesTheSameInstructions) {
  const std::string text = sample::compute(3, 2, 40), dictionary = text.substr(text.find("ffffffff 1 R"), 200);
  write("kernel-1.traceg", text);
  for (const std::string& with : {std::string(), dictionary}) {
    write("kernel-1.tracez", tracez(text, 7, with));
    sample::expect_same(TraceReader(folder_ / "kernel-1.traceg"), TraceReader(folder_ / "kernel-1.tracez"));
  }
  write("kernelslist.g", "kernel-1.tracez\n");
  EXPECT_EQ(read_kernel_list(folder_ / "kernelslist.g").size(), 1U);
}

TEST_F(TracezFiles, ATracezFileThatIsCutOrChangedIsRefusedWithOneLine) {
  const std::string whole = tracez(sample::compute(2, 2, 30), 8);
  const auto reads = [&](const std::string& bytes) {
    write("k.tracez", bytes);
    const std::string what = test::refusal([&] { sample::read_to_end(TraceReader(folder_ / "k.tracez")); });
    EXPECT_TRUE(what == "accepted" || what.starts_with((folder_ / "k.tracez:").string())) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  };
  EXPECT_EQ(reads(whole), "accepted");
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 13) EXPECT_NE(reads(whole.substr(0, bytes)), "accepted") << bytes;
  const std::size_t body = whole.find('\0') + 9;  // the first warp: instructions, pieces, bytes, frame
  std::string other = whole;
  other[body + 4] ^= 1;
  EXPECT_NE(reads(other).find("warp 0: the index says something else than the warp"), std::string::npos);
  other = whole;
  other[body + 16] ^= 0x55;
  EXPECT_NE(reads(other).find("the compressed data are damaged"), std::string::npos) << reads(other);
  other = whole;
  other[body + 11] = '\x7f';
  EXPECT_NE(reads(other).find("bytes: is the file cut off?"), std::string::npos) << reads(other);
  other = whole;
  other[whole.size() - 1] = '\x7f';
  EXPECT_NE(reads(other).find("the index is outside the file"), std::string::npos) << reads(other);
}

}  // namespace
}  // namespace sluice
