// SPDX-License-Identifier: Apache-2.0
// Random programs of every instruction of the example GPU, with branches and jumps forward that lanes take or not, against an
// interpreter of one thread at a time, written from the RISC-V manual.
#include <gtest/gtest.h>

#include <array>

#include "tb/common/random.h"
#include "tb/example_gpu/example_gpu_world.h"

namespace sluice {
namespace {

constexpr std::uint32_t kThreads = 16, kRegisters = 16,
                        kPlain = 170;  ///< random instructions; the stores of the registers follow

std::uint32_t r_type(std::uint32_t opcode, std::uint32_t f3, std::uint32_t f7, std::uint32_t rd, std::uint32_t a,
                     std::uint32_t b) {
  return opcode | rd << 7 | f3 << 12 | a << 15 | b << 20 | f7 << 25;
}
std::uint32_t i_type(std::uint32_t opcode, std::uint32_t f3, std::uint32_t rd, std::uint32_t a, std::uint32_t imm) {
  return r_type(opcode, f3, 0, rd, a, 0) | (imm & 0xfff) << 20;
}
std::uint32_t b_type(std::uint32_t f3, std::uint32_t a, std::uint32_t b, std::uint32_t offset) {
  return r_type(0x63, f3, 0, 0, a, b) | (offset >> 11 & 1) << 7 | (offset >> 1 & 15) << 8 | (offset >> 5 & 63) << 25 |
         (offset >> 12 & 1) << 31;
}

/// One random instruction; control goes forward by at most three instructions.
std::uint32_t random_instruction(tb::Random& random, std::uint32_t index) {
  const std::uint32_t rd = random.in(0, kRegisters - 1), a = random.in(0, kRegisters - 1), b = random.in(0, kRegisters - 1);
  const std::uint32_t f3 = random.in(0, 7), skip = 4 * random.in(1, index + 3 < kPlain ? 3 : 1);
  switch (random.in(0, 9)) {
    case 0: return 0x37 | rd << 7 | (random.word() & 0xfffff000);
    case 1: return 0x17 | rd << 7 | (random.word() & 0xfffff000);
    case 2: return i_type(0x73, 2, rd, 0, 0xcc0 + random.in(0, 2));
    case 3: return b_type(f3 == 2 || f3 == 3 ? f3 + 2 : f3, a, b, skip);
    case 4:  // JAL
      return 0x6f | rd << 7 | (skip >> 1 & 0x3ff) << 21;
    case 5:  // JALR, from x0
      return i_type(0x67, 0, rd, 0, 4 * index + skip);
    case 6: return r_type(0x33, 0, 1, rd, a, b);
    case 7:
    case 8: {
      if (f3 == 1 || f3 == 5) return r_type(0x13, f3, f3 == 5 && random.chance(0.5) ? 32 : 0, rd, a, random.in(0, 31));
      return i_type(0x13, f3, rd, a, random.word());
    }
    default: return r_type(0x33, f3, (f3 == 0 || f3 == 5) && random.chance(0.5) ? 32 : 0, rd, a, b);
  }
}

/// The registers of one thread after the first kPlain instructions.
std::array<std::uint32_t, kRegisters> interpret(const std::vector<std::uint32_t>& program, std::uint32_t thread,
                                                std::uint32_t cta) {
  std::array<std::uint32_t, kRegisters> x{};
  for (std::uint32_t pc = 0; pc < 4 * kPlain;) {
    const std::uint32_t w = program[pc / 4], f3 = w >> 12 & 7, rd = w >> 7 & 31, a = x[w >> 15 & 15], b = x[w >> 20 & 15];
    const std::uint32_t imm = static_cast<std::uint32_t>(static_cast<std::int32_t>(w) >> 20), upper = w & 0xfffff000;
    const bool is_register = (w & 0x7f) == 0x33;
    const std::uint32_t second = is_register ? b : imm;
    const auto s = [](std::uint32_t v) { return static_cast<std::int32_t>(v); };
    std::uint32_t next = pc + 4, result = 0;
    bool writes = true;
    switch (w & 0x7f) {
      case 0x37: result = upper; break;
      case 0x17: result = pc + upper; break;
      case 0x73: result = std::array{thread, cta, kThreads}.at(imm & 3); break;
      case 0x6f: result = pc + 4, next = pc + (w >> 21 & 0x3ff) * 2; break;  // short and forward
      case 0x67: result = pc + 4, next = (a + imm) & ~1U; break;
      case 0x63: {
        writes = false;
        const bool taken = std::array{a == b, a != b, false, false, s(a) < s(b), s(a) >= s(b), a < b, a >= b}.at(f3);
        if (taken) next = pc + ((w >> 8 & 15) << 1 | (w >> 25 & 63) << 5);  // likewise
        break;
      }
      default:
        if (is_register && (w >> 25 & 1) != 0) {
          result = a * b;
          break;
        }
        const bool other = (w >> 30 & 1) != 0;
        switch (f3) {
          case 0: result = is_register && other ? a - b : a + second; break;
          case 1: result = a << (second & 31); break;
          case 2: result = s(a) < s(second); break;
          case 3: result = a < second; break;
          case 4: result = a ^ second; break;
          case 5: result = other ? static_cast<std::uint32_t>(s(a) >> (second & 31)) : a >> (second & 31); break;
          case 6: result = a | second; break;
          default: result = a & second;
        }
    }
    if (writes && rd != 0) x[rd] = result;
    pc = next;
  }
  return x;
}

TEST(ExampleInstructions, RandomProgramsDoWhatTheManualSays) {
  tb::ExampleGpu gpu("");
  tb::Random random(tb::seed());
  for (std::uint64_t run = 0; run < tb::campaign(40, 2000); ++run) {
    std::vector<std::uint32_t> words;  // registers begin at 0
    for (std::uint32_t r = 1; r < kRegisters; ++r) words.push_back(i_type(0x13, 0, r, 0, 0));
    while (words.size() < kPlain) words.push_back(random_instruction(random, static_cast<std::uint32_t>(words.size())));
    // x16 = 4 * thread of the grid; then each register r to word r * 32 + that.
    words.insert(words.end(), {i_type(0x73, 2, 16, 0, 0xcc1), i_type(0x13, 1, 16, 16, 4), i_type(0x73, 2, 17, 0, 0xcc0),
                               r_type(0x33, 0, 0, 16, 16, 17), i_type(0x13, 1, 16, 16, 2)});
    for (std::uint32_t r = 0; r < kRegisters; ++r) {
      const std::uint32_t offset = r * 128;
      words.push_back(r_type(0x23, 2, offset >> 5, offset & 31, 16, r));
    }
    words.push_back(0x73);
    for (std::uint32_t i = 0; i < words.size(); ++i) gpu.write_program(i, words[i]);
    tb::ExampleProgram program{"", 0, 2, 0, 2, 0};
    gpu.pins().entry_i = 0;
    gpu.pins().cta_warps_i = 2;
    gpu.launch(0, program, false);
    ASSERT_TRUE(gpu.finish(0, 100000));
    ASSERT_FALSE(gpu.illegal()) << "run " << run;
    for (std::uint32_t g = 0; g < program.threads(); ++g) {
      const auto x = interpret(words, g % kThreads, g / kThreads);
      for (std::uint32_t r = 0; r < kRegisters; ++r)
        ASSERT_EQ(gpu.read_memory(r * 32 + g), x[r]) << "run " << run << ", thread " << g << ", x" << r;
    }
  }
}

}  // namespace
}  // namespace sluice
