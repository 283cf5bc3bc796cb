// SPDX-License-Identifier: Apache-2.0
// What the assembler makes of a transformed kernel's own loops, beside the kernel as it was. Needs the toolkit and no GPU.
#ifdef SLUICE_PTXAS
#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "sw/gpu/rewrite/transform.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {
namespace {

constexpr std::size_t kBytes = 16;  // of an instruction, since Volta

/// Lengths of a function's loops, in instructions: those of its branches backwards.
std::vector<long> loops(const std::string& code) {
  std::vector<long> out;
  for (std::size_t at = 0; at + kBytes <= code.size(); at += kBytes) {
    std::uint64_t low = 0, high = 0;
    std::memcpy(&low, &code[at], sizeof low);
    std::memcpy(&high, &code[at + sizeof low], sizeof high);
    constexpr std::uint64_t kBranch = 0x947;
    if ((low & 0xfff) != kBranch) continue;
    const auto words = static_cast<std::int32_t>((low >> 34 << 8) | (low >> 16 & 0xff));
    if (const long instructions = -static_cast<long>(words) / 4; instructions > 1) out.push_back(instructions);
  }
  return out;
}
/// Machine code of the module's functions by name.
std::map<std::string, std::string> assembled(const std::string& ptx, const std::string& name) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / ("sluice_code_" + name + ".ptx");
  const std::string cubin = file.string() + ".cubin";
  std::ofstream(file) << ptx;
  EXPECT_EQ(std::system(fmt::format("{} -arch=sm_90 {} -o {}", SLUICE_PTXAS, file.string(), cubin).c_str()), 0);
  const std::string bytes = read_file(cubin);
  std::filesystem::remove(file);
  std::filesystem::remove(cubin);
  const auto at = [&]<class T>(T what, std::size_t offset) {
    std::memcpy(&what, &bytes.at(offset), sizeof what);
    return what;
  };
  const auto header = at(Elf64_Ehdr{}, 0);
  const auto section = [&](std::size_t i) { return at(Elf64_Shdr{}, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  const std::size_t names = section(header.e_shstrndx).sh_offset;
  std::map<std::string, std::string> out;
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    const std::string title = &bytes.at(names + s.sh_name);
    if (title.starts_with(".text.")) out[title.substr(6)] = bytes.substr(s.sh_offset, s.sh_size);
  }
  return out;
}

struct Case {
  const char *file, *kernel;
  std::array<std::uint32_t, 3> block;
  int axes;
  std::uint32_t ctas, used;  ///< on an SM; registers of the untransformed kernel
};

/// The whole kernel stands in a loop more, whose values take registers. HOT's loop was 253 instructions instead of 224.
TEST(MachineCode, TheLongestLoopOfAKernelStaysAsLongAsItWas) {
  const std::string runtime = normalised(read_file(SLUICE_PTX_DIR "/runtime.ptx"));
  for (const Case& c :
       {Case{"hotspot", "hotspot", {64, 4, 1}, 2, 5, 48}, Case{"micro", "micro_l1", {128, 1, 1}, 1, 16, 32},
        Case{"micro", "micro_shared", {256, 1, 1}, 1, 8, 23}, Case{"micro", "micro_fma", {256, 1, 1}, 1, 8, 23},
        Case{"denoise", "denoise", {8, 8, 1}, 2, 32, 32}, Case{"matrix_vector", "matrix_vector", {192, 1, 1}, 1, 10, 24},
        Case{"black_scholes", "black_scholes", {128, 1, 1}, 1, 16, 30}}) {
    SCOPED_TRACE(c.kernel);
    const std::string all = normalised(read_file(fmt::format("{}/{}.ptx", SLUICE_PTX_DIR, c.file)));
    std::string symbol;
    for (const Item& item : items_of(all))
      if (item.kind == Item::Kind::Kernel && item.name.find(c.kernel) != std::string::npos) symbol = item.name;
    const std::string ptx = only_kernel(all, symbol);
    TransformSpec spec{symbol, c.block, 0, false, c.axes};
    spec.registers = registers_for(65536, c.ctas, c.block[0] * c.block[1], c.used);
    const auto code = assembled(combined(ptx, runtime, {transform(ptx, runtime, spec)}), c.kernel);
    const std::vector<long> own = loops(code.at(symbol)), now = loops(code.at(symbol + "__sluice"));
    ASSERT_FALSE(own.empty());
    const long longest = *std::ranges::max_element(own);
    long nearest = 0;
    for (const long n : now)
      if (std::abs(n - longest) < std::abs(nearest - longest)) nearest = n;
    EXPECT_NEAR(nearest, longest, 0.04 * static_cast<double>(longest));
  }
}

}  // namespace
}  // namespace sluice::gpu
#endif
