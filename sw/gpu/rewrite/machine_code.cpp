// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/machine_code.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace sluice::gpu {

namespace {

constexpr std::size_t kBytes = 16;  // of an instruction, since Volta

template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof out) return false;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return true;
}
std::uint64_t word(std::string_view code, std::size_t instruction) {
  std::uint64_t low = 0;
  std::memcpy(&low, code.data() + instruction * kBytes, sizeof low);
  return low;
}

/// The operation, without the three bits that say where its operands are from.
enum Operation : std::uint64_t {
  kImadWide = 0x025,
  kFmul = 0x020,
  kFadd = 0x021,
  kFfma = 0x023,
  kBranch = 0x147,
  kNanosleep = 0x15d,
  kRedg = 0x18e,
  kCctl = 0x18f,
  kMembar = 0x192,
  kAtomg = 0x1a8,
  kAtomgCas = 0x1a9,
};
Operation operation(std::uint64_t low) { return static_cast<Operation>(low & 0x1ff); }
bool is_any(Operation o, std::initializer_list<std::uint64_t> of) { return std::ranges::find(of, o) != of.end(); }
/// MOV SEL FSEL FMNMX FSETP ISETP IADD3 LEA LOP3 IABS PRMT SHF SGXT PLOP3 VIADDMNMX VIMNMX
bool is_integer(Operation o) {
  return is_any(o,
                {0x002, 0x007, 0x008, 0x009, 0x00b, 0x00c, 0x010, 0x011, 0x012, 0x013, 0x016, 0x019, 0x01a, 0x01c, 0x046, 0x048});
}
/// IMAD, IMAD.WIDE, IMAD.HI, HFMA2, VIADD. The assembler takes VIADD for one of these: it trades it for IADD3 as it does
/// IMAD.IADD.
bool is_heavy(Operation o) { return is_any(o, {0x024, 0x025, 0x027, 0x035, 0x036}); }
bool is_float(Operation o) { return is_any(o, {kFmul, kFadd, kFfma}); }

}  // namespace

namespace {

constexpr std::string_view kText = ".text.";  // and a function's name

/// Calls `take(name, section, contents)` for each section. @return all could be read
template <class Take>
bool each_section(std::string_view cubin, const Take& take) {
  Elf64_Ehdr header;
  if (!read_at(cubin, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  const auto section = [&](std::size_t i, Elf64_Shdr& s) { return read_at(cubin, header.e_shoff + i * sizeof s, s); };
  Elf64_Shdr names, s;
  if (!section(header.e_shstrndx, names) || names.sh_offset > cubin.size()) return false;
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    if (!section(i, s)) return false;
    const std::string_view rest = cubin.substr(names.sh_offset);
    if (s.sh_name >= rest.size()) return false;
    if (s.sh_type == SHT_NOBITS) continue;
    if (s.sh_offset > cubin.size() || cubin.size() - s.sh_offset < s.sh_size) return false;
    take(rest.substr(s.sh_name, rest.find('\0', s.sh_name) - s.sh_name), s, cubin.substr(s.sh_offset, s.sh_size));
  }
  return true;
}

}  // namespace

std::map<std::string, std::string_view> functions_of(std::string_view cubin) {
  std::map<std::string, std::string_view> out;
  Elf64_Ehdr header;
  constexpr unsigned kHopper = 90, kByte = 0xff;  // where the flags say it depends on the toolkit
  if (!read_at(cubin, 0, header) || ((header.e_flags & kByte) != kHopper && (header.e_flags >> 8 & kByte) != kHopper)) return {};
  const bool whole = each_section(cubin, [&](std::string_view title, const Elf64_Shdr&, std::string_view code) {
    if (title.starts_with(kText)) out[std::string(title.substr(kText.size()))] = code;
  });
  return whole ? out : std::map<std::string, std::string_view>{};
}

unsigned registers_of(std::string_view cubin, const std::string& function) {
  constexpr std::uint32_t kSymbols = 0xffffff;  // of the section's info; older toolkits have something else above
  struct Attribute {                            // of .nv.info: others are a word, or of the size that the word says
    std::uint8_t form, which;
    std::uint16_t bytes;
  };
  constexpr std::uint8_t kSized = 4, kRegisters = 0x2f;
  std::string_view attributes;
  std::uint32_t symbol = 0;
  const bool whole = each_section(cubin, [&](std::string_view title, const Elf64_Shdr& s, std::string_view contents) {
    if (title == ".nv.info") attributes = contents;
    if (title.starts_with(kText) && title.substr(kText.size()) == function) symbol = s.sh_info & kSymbols;
  });
  Attribute a{};
  for (std::size_t at = 0; whole && symbol != 0 && read_at(attributes, at, a);
       at += sizeof a + (a.form == kSized ? a.bytes : 0)) {
    std::array<std::uint32_t, 2> of{};  // a symbol, and how many its function takes
    if (a.form == kSized && a.which == kRegisters && read_at(attributes, at + sizeof a, of) && of[0] == symbol) return of[1];
  }
  return 0;
}

std::size_t number_sms_of_gpu(std::vector<char>& cubin) {
  constexpr std::uint64_t kS2r = 0x919, kS2ur = 0x9c3, kOpcode = 0xfff;
  constexpr std::size_t kRegister = 9;  // the byte that names the special register
  constexpr char kVirtualSmid = 0x43, kVirtId = 0x03;
  std::vector<std::size_t> reads;
  for (const auto& [name, code] : functions_of({cubin.data(), cubin.size()}))
    for (std::size_t i = 0; i < code.size() / kBytes; ++i) {
      const std::uint64_t opcode = word(code, i) & kOpcode;
      if ((opcode != kS2r && opcode != kS2ur) || code[i * kBytes + kRegister] != kVirtualSmid) continue;
      if (opcode != kS2r) return 0;
      reads.push_back(static_cast<std::size_t>(code.data() - cubin.data()) + i * kBytes + kRegister);
    }
  for (const std::size_t at : reads) cubin[at] = kVirtId;
  return reads.size();
}

std::vector<Loop> loops_of(std::string_view code) {
  std::vector<Loop> out;
  for (std::size_t i = 0; i < code.size() / kBytes; ++i) {
    const std::uint64_t low = word(code, i);
    if (operation(low) != kBranch) continue;
    const auto words = static_cast<std::int32_t>((low >> 34 << 8) | (low >> 16 & 0xff));
    const std::int64_t begin = static_cast<std::int64_t>(i) + 1 + words / 4;  // from behind the branch
    if (words < 0 && begin >= 0 && begin < static_cast<std::int64_t>(i)) out.push_back({static_cast<std::size_t>(begin), i});
  }
  return out;
}

PipeLoad pipe_load(std::string_view code) {
  const std::size_t instructions = code.size() / kBytes;
  std::vector<Loop> loops = loops_of(code);
  std::ranges::sort(loops, std::ranges::greater{}, &Loop::instructions);
  struct Place {
    std::size_t loop = 0;   ///< the innermost, from 1; 0: in none
    std::size_t depth = 0;  ///< 1: in the loop around the kernel alone
  };
  std::vector<Place> places(instructions);
  for (std::size_t l = 0; l < loops.size(); ++l)
    for (std::size_t i = loops[l].begin; i <= loops[l].end; ++i) {
      Place& p = places[i];
      if (p.loop == 0 || loops[p.loop - 1].begin != loops[l].begin) ++p.depth;  // one loop may have several branches back
      p.loop = l + 1;
    }
  struct Counts {
    double all = 0, integer = 0, heavy = 0, light = 0;
    bool of_the_runtime = false;
  };
  std::map<std::pair<std::size_t, std::size_t>, Counts> regions;  // by depth and loop
  for (std::size_t i = 0; i < instructions; ++i) {
    const Place& p = places[i];
    if (p.depth == 0) continue;
    Counts& c = regions[{p.depth, p.loop}];
    const Operation o = operation(word(code, i));
    ++c.all;
    if (is_integer(o)) ++c.integer;
    if (is_heavy(o)) c.heavy += o == kImadWide ? 2 : 1;
    if (is_float(o)) ++c.light;
    if (p.depth > 1 && is_any(o, {kNanosleep, kRedg, kCctl, kMembar, kAtomg, kAtomgCas})) c.of_the_runtime = true;
  }
  PipeLoad load;
  for (const auto& [where, c] : regions) {
    if (c.of_the_runtime) continue;
    constexpr std::size_t kDeepest = 5;
    double weight = 1;
    for (std::size_t d = 1; d < std::min(where.first, kDeepest); ++d) weight *= 10;
    const double integer = 2 * c.integer, multiply = std::max(2 * c.heavy, c.heavy + c.light);
    load.cycles += weight * std::max({c.all, integer, multiply});
    load.integer += weight * std::max(0.0, integer - std::max(c.all, multiply));
    load.multiply += weight * std::max(0.0, multiply - std::max(c.all, integer));
  }
  return load;
}

}  // namespace sluice::gpu
