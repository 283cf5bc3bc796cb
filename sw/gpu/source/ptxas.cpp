// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/source/ptxas.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "sw/gpu/source/program.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {

std::vector<char> cubin_by_ptxas(const std::string& ptx, unsigned sm) {
  const Scratch scratch;
  const std::filesystem::path in = scratch.path() / "in.ptx", out = scratch.path() / "out.cubin";
  std::ofstream text(in, std::ios::binary);
  text << ptx;
  text.close();
  if (!text || run_tool("ptxas", {fmt::format("-arch=sm_{}", sm), in, "-o", out}, scratch.path() / "log") != 0) return {};
  const std::string cubin = read_file(out);
  return {cubin.begin(), cubin.end()};
}

}  // namespace sluice::gpu
