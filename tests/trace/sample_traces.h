// SPDX-License-Identifier: Apache-2.0
// Small SASS traces of our own, in the form that tests need.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

namespace sluice::sample {

inline std::string header(unsigned ctas, unsigned threads, unsigned version = 5, unsigned stream = 0, unsigned lineinfo = 0) {
  return fmt::format(
      "-kernel name = sample\n-kernel id = 1\n-grid dim = ({},1,1)\n-block dim = ({},1,1)\n-shmem = 0\n-nregs = 16\n"
      "-binary version = 70\n-cuda stream id = {}\n-shmem base_addr = 0x00007f0000000000\n"
      "-local mem base_addr = 0x00007f0100000000\n-nvbit version = 1\n-accelsim tracer version = {}\n-enable lineinfo = {}\n\n"
      "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
      "[mem_addresses] immediate\n",
      ctas, threads, stream, version, lineinfo);
}

inline std::string warp(unsigned index, const std::vector<std::string>& lines) {
  std::string text = fmt::format("\nwarp = {}\ninsts = {}\n", index, lines.size());
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline std::string cta(unsigned index, const std::vector<std::string>& lines, unsigned warps = 1) {
  std::string text = fmt::format("\n#BEGIN_TB\n\nthread block = {},0,0\n", index);
  for (unsigned w = 0; w < warps; ++w) text += warp(w, lines);
  return text + "\n#END_TB\n";
}

/// One CTA of one warp.
inline std::string one_warp(const std::vector<std::string>& lines) { return header(1, 32) + cta(0, lines); }

/// A kernel that computes: `length` dependent-by-four FFMAs a warp, then a store.
inline std::string compute(unsigned ctas, unsigned warps, unsigned length, unsigned stream = 0) {
  std::string text = header(ctas, warps * 32, 5, stream);
  for (unsigned c = 0; c < ctas; ++c) {
    text += fmt::format("\n#BEGIN_TB\n\nthread block = {},0,0\n", c);
    for (unsigned w = 0; w < warps; ++w) {
      std::vector<std::string> lines;
      for (unsigned i = 0; i < length; ++i)
        lines.push_back(fmt::format("{:04x} ffffffff 1 R{} FFMA 3 R{} R1 R2 0 0", 16 * (i % 16), 8 + i % 4, 8 + i % 4));
      lines.push_back(fmt::format("0100 ffffffff 0 STG.E 2 R4 R8 4 1 0x{:x} 4 0", 0x7f4000000000 + (c * warps + w) * 128));
      lines.emplace_back("0110 ffffffff 0 EXIT 0 0 0");
      text += warp(w, lines);
    }
    text += "\n#END_TB\n";
  }
  return text;
}

/// A kernel that streams: `loads` lines a warp, each read once.
inline std::string stream(unsigned ctas, unsigned warps, unsigned loads, unsigned stream_id = 0) {
  std::string text = header(ctas, warps * 32, 5, stream_id);
  for (unsigned c = 0; c < ctas; ++c) {
    text += fmt::format("\n#BEGIN_TB\n\nthread block = {},0,0\n", c);
    for (unsigned w = 0; w < warps; ++w) {
      std::vector<std::string> lines;
      for (unsigned i = 0; i < loads; ++i) {
        const auto address = 0x7f5000000000 + ((static_cast<unsigned long>(i) * ctas + c) * warps + w) * 128;
        lines.push_back(fmt::format("0000 ffffffff 1 R{} LDG.E 1 R2 4 1 0x{:x} 4 0", 4 + i % 4, address));
        lines.push_back(fmt::format("0010 ffffffff 1 R8 FADD 2 R8 R{} 0 0", 4 + i % 4));
      }
      lines.emplace_back("0020 ffffffff 0 EXIT 0 0 0");
      text += warp(w, lines);
    }
    text += "\n#END_TB\n";
  }
  return text;
}

}  // namespace sluice::sample
