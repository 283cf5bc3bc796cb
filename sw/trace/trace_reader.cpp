// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/trace_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <bitset>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>

#include "sw/trace/sass_text.h"
#include "sw/trace/trace_fields.h"

namespace sluice {

namespace {

constexpr std::uint32_t kSectorBytes = 32, kBanks = 32;
constexpr std::uint32_t kMostRecords = 1U << kTraceRecordIndexBits;
constexpr std::size_t kKnownSlots = 1U << 14;
constexpr std::size_t kMaxKnownText = 1U << 22;
/// Local memory is interleaved so that the same word of 32 lanes is one line; this is where its lines lie, a region a warp.
constexpr std::uint64_t kLocalRegion = 1ULL << 52, kLocalBytesPerThread = 1ULL << 24;
constexpr std::uint64_t kLocalWindow = 1ULL << 24;  ///< size of the generic window, bytes

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = text.size() * 0x9e3779b97f4a7c15ULL;
  const char* p = text.data();
  std::size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, p, left);
  hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 29);
}

}  // namespace

TraceReader::TraceReader(const std::filesystem::path& path, std::uint32_t launch, std::uint32_t process)
    : lines_(path),
      instruction_slots_(1024),
      known_(kKnownSlots),
      local_memory_(kLocalRegion | static_cast<std::uint64_t>(launch % 256) << 56),
      global_memory_(static_cast<std::uint64_t>(process % 16) << 48) {
  read_header();
}
TraceReader::TraceReader(std::string_view text, std::string name)
    : lines_(text, std::move(name)), instruction_slots_(1024), known_(kKnownSlots), local_memory_(kLocalRegion) {
  read_header();
}

bool TraceReader::next_content(std::string_view& line) {
  while (lines_.next(line)) {
    line = trimmed(line);
    if (!line.empty()) return true;
  }
  return false;
}

void TraceReader::read_header_line(std::string_view line) {
  const auto equals = line.find('=');
  if (line[0] != '-' || equals == std::string_view::npos) lines_.fail("a header line must be `-key = value`");
  const std::string_view key = trimmed(line.substr(1, equals - 1)), value = trimmed(line.substr(equals + 1));
  if (!key.starts_with("control ") && !value.empty() && !given_.emplace(key).second)
    lines_.fail(fmt::format("-{}: comes twice", key));
  Fields fields{lines_, value.data(), value.data() + value.size()};
  const auto number = [&](std::uint64_t high) { return fields.number<std::uint64_t>(std::string(key).c_str(), 10, 0, high); };
  const auto dimensions = [&](std::array<std::uint32_t, 3>& out) {
    std::string plain(value);
    if (plain.size() < 2 || plain.front() != '(' || plain.back() != ')') lines_.fail(fmt::format("{}: must be (x,y,z)", key));
    plain = plain.substr(1, plain.size() - 2);
    std::ranges::replace(plain, ',', ' ');
    Fields parts{lines_, plain.data(), plain.data() + plain.size()};
    std::uint64_t product = 1;
    for (std::uint32_t& n : out) {
      n = parts.number<std::uint32_t>(std::string(key).c_str(), 10, 1, std::numeric_limits<std::int32_t>::max());
      product *= n;
      if (product > std::numeric_limits<std::int32_t>::max()) lines_.fail(fmt::format("{}: more than 2^31 in all", key));
    }
    if (!parts.done()) lines_.fail(fmt::format("{}: must be (x,y,z)", key));
  };
  if (key == "kernel name") header_.kernel_name = value;
  if (key == "kernel id") header_.kernel_id = static_cast<std::uint32_t>(number(std::numeric_limits<std::uint32_t>::max()));
  if (key == "grid dim") dimensions(header_.grid);
  if (key == "recorded grid") dimensions(header_.launched);
  if (key == "block dim") {
    dimensions(header_.block);
    if (header_.threads() > 1024) lines_.fail(fmt::format("block dim: {} threads, must be 1..1024", header_.threads()));
  }
  if (key == "shmem") header_.shared_bytes = static_cast<std::uint32_t>(number(1U << 30));
  if (key == "nregs") header_.registers_per_thread = static_cast<std::uint32_t>(number(255));
  if (key == "binary version") {
    header_.binary_version = static_cast<std::uint32_t>(number(1000));
    constexpr std::uint32_t kKnown[] = {35, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
    if (std::ranges::find(kKnown, header_.binary_version) == std::end(kKnown))
      lines_.fail(fmt::format("binary version = {}: must be one of {}", value, fmt::join(kKnown, ", ")));
  }
  if (key == "cuda stream id")  // a handle, which tracers print with a sign or without
    header_.stream = value.starts_with('-') ? static_cast<std::uint64_t>(fields.number<std::int64_t>(
                                                  "cuda stream id", 10, std::numeric_limits<std::int64_t>::min(), 0))
                                            : number(std::numeric_limits<std::uint64_t>::max());
  if (key == "shmem base_addr") header_.shared_base = fields.address();
  if (key == "local mem base_addr") header_.local_base = fields.address();
  if (key == "accelsim tracer version") {
    header_.tracer_version = static_cast<std::uint32_t>(number(1000));
    if (header_.tracer_version < 3 || header_.tracer_version > 6)
      lines_.fail(fmt::format("accelsim tracer version = {}: must be 3, 4, 5 or 6", value));
  }
  if (key.starts_with("control ")) read_control(key.substr(8), value);
  if (key.starts_with("step ")) read_step(key.substr(5), fields);
  if (key == "enable lineinfo") header_.line_info = number(1) == 1;
}

void TraceReader::read_control(std::string_view pc, std::string_view bits) {
  Fields at{lines_, pc.data(), pc.data() + pc.size()}, value{lines_, bits.data(), bits.data() + bits.size()};
  const auto address = at.number<std::uint32_t>("PC", 16, 0, ControlTable::kEnd - 1);
  control_.add(address, value.number<std::uint32_t>("control bits", 16, 0, ControlTable::kMostBits));
}

void TraceReader::read_header() {
  std::string_view line;
  for (;;) {
    if (!next_content(line)) lines_.fail("the file ends in the header");
    if (line[0] == '#') break;
    read_header_line(line);
  }
  if (!line.starts_with("#traces format")) lines_.fail("the header must end with the line `#traces format = ...`");
  for (const char* key : {"kernel name", "grid dim", "block dim", "shmem", "nregs", "binary version", "accelsim tracer version"})
    if (!given_.contains(key)) lines_.fail(fmt::format("the header has no `-{} = ...`", key));
  if (!header_.repeats()) return;
  for (std::size_t d = 0; d < 3; ++d)
    if (header_.launched[d] < header_.grid[d]) lines_.fail("with a step, the recorded grid must be as large as the grid");
}

bool TraceReader::next_cta(TraceCta& cta) {
  std::string_view line;
  if (ctas_read_ == header_.ctas()) {
    if (next_content(line)) lines_.fail(fmt::format("text after the last of {} thread blocks", header_.ctas()));
    return false;
  }
  const auto expect = [&](std::string_view what) {
    if (!next_content(line))
      lines_.fail(
          fmt::format("the file ends after {} of {} thread blocks, where {} should be", ctas_read_, header_.ctas(), what));
  };
  expect("#BEGIN_TB");
  if (line != "#BEGIN_TB") lines_.fail("#BEGIN_TB should be here");
  expect("thread block = x,y,z");
  if (!line.starts_with("thread block = ")) lines_.fail("`thread block = x,y,z` should be here");
  std::string plain(line.substr(15));
  std::ranges::replace(plain, ',', ' ');
  Fields parts{lines_, plain.data(), plain.data() + plain.size()};
  std::uint64_t block = 0, stride = 1;
  for (const std::uint32_t n : header_.grid) {
    block += stride * parts.number<std::uint32_t>("thread block", 10, 0, n - 1);
    stride *= n;
  }
  if (!parts.done()) lines_.fail("`thread block = x,y,z` should be here");
  auto seen_block = seen_[block / kBlocksOfAPage][block % kBlocksOfAPage];
  if (seen_block) lines_.fail(fmt::format("{} comes twice", line));
  seen_block = true;

  const std::uint32_t warps = header_.warps();
  cta.resize(warps);
  for (TraceWarp& warp : cta) {
    warp.records.clear();
    warp.lines.clear();
  }
  std::uint64_t seen = 0;  // at most 32 warps
  for (std::uint32_t n = 0; n < warps; ++n) {
    expect("warp = w");
    while (n == 0 && line.starts_with("cluster ")) expect("warp = w");  // id, cta and rank, of version 6
    if (line == "#END_TB") lines_.fail(fmt::format("the thread block ends with {} of {} warps", n, warps));
    if (!line.starts_with("warp = ")) lines_.fail("`warp = w` should be here");
    Fields fields{lines_, line.data() + 7, line.data() + line.size()};
    const auto w = fields.number<std::uint32_t>("warp", 10, 0, warps - 1);
    if (!fields.done()) lines_.fail("`warp = w` should be here");
    if ((seen >> w & 1) != 0) lines_.fail(fmt::format("warp = {} comes twice in this thread block", w));
    seen |= std::uint64_t{1} << w;
    read_warp(cta[w], ctas_read_ * warps + w);
  }
  expect("#END_TB");
  if (line != "#END_TB") lines_.fail(fmt::format("#END_TB should be here: the thread block has {} warps", warps));
  ++ctas_read_;
  return true;
}

void TraceReader::read_warp(TraceWarp& warp, std::uint32_t index) {
  std::string_view line;
  if (!next_content(line) || !line.starts_with("insts = ")) lines_.fail("`insts = n` should be here");
  Fields fields{lines_, line.data() + 8, line.data() + line.size()};
  const auto count = fields.number<std::uint32_t>("insts", 10, 0, std::numeric_limits<std::int32_t>::max());
  if (!fields.done()) lines_.fail("`insts = n` should be here");
  warp.records.reserve(std::min(count, 1U << 16));  // an absurd count must not allocate before its lines are there
  for (std::uint32_t i = 0; i < count; ++i) {
    do {
      if (!lines_.next(line)) lines_.fail(fmt::format("the file ends after {} of {} instructions of this warp", i, count));
    } while (trimmed(line).empty());
    const std::uint64_t hash = text_hash(line);
    Known& known = known_[hash % kKnownSlots];
    if (known.hash == hash && known.length == line.size() &&
        std::memcmp(known_text_.data() + known.text, line.data(), line.size()) == 0) {
      warp.records.push_back(known.record);
      continue;
    }
    if (line[0] == '#' || line.starts_with("warp"))
      lines_.fail(fmt::format("an instruction should be here: this warp has {} of {}", i, count));
    bool plain = false;
    const std::optional<std::uint32_t> record = parse_instruction(line, warp, index, plain);
    if (record) warp.records.push_back(*record);
    if (!plain || !record) continue;
    if (known_text_.size() + line.size() > kMaxKnownText) {
      std::ranges::fill(known_, Known{});
      known_text_.clear();
    }
    known = {hash, static_cast<std::uint32_t>(known_text_.size()), static_cast<std::uint32_t>(line.size()), *record};
    known_text_ += line;
  }
}

Opcode TraceReader::classify(std::string_view mnemonic) {
  const std::string_view name = mnemonic.substr(0, mnemonic.find('.'));
  if (const auto opcode = find_opcode(name, header_.binary_version)) return *opcode;
  count_unknown(std::string(name.substr(0, 32)));
  return {};
}

void TraceReader::count_unknown(const std::string& key) {
  ++unknown_count_;
  if (unknown_.size() < 1000 || unknown_.contains(key)) ++unknown_[key];
}

namespace {

/// Lines of a global access, in order of the lanes that touch them first.
void add_lines(const std::uint64_t* addresses, std::size_t lanes, std::uint32_t width, std::vector<LineAccess>& out) {
  const std::size_t begin = out.size();
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::uint64_t first = addresses[i] / kSectorBytes;
    const std::uint64_t last = std::max(first, (addresses[i] + width - 1) / kSectorBytes);  // no wrap at the top of memory
    for (std::uint64_t sector = first; sector <= last; ++sector) {
      const std::uint64_t line = sector / 4 * kLineBytes;
      const auto bit = static_cast<std::uint8_t>(1U << sector % 4);
      std::size_t at = out.size();
      while (at > begin && out[at - 1].address != line) --at;
      if (at > begin) {
        out[at - 1].sectors |= bit;
      } else {
        out.push_back({line, bit});
      }
    }
  }
}

/// Which sectors of a store's lines are written whole, and how many bytes of the others.
void add_written_bytes(const std::uint64_t* addresses, std::size_t lanes, std::uint32_t width, std::span<LineAccess> lines) {
  for (LineAccess& line : lines) {
    std::bitset<kLineBytes> written;
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t at = addresses[i] - line.address;  // wraps where the access begins in the line before
      if (at >= kLineBytes && at + width > width) continue;
      for (std::uint64_t b = at; b != at + width; ++b)
        if (b < kLineBytes) written.set(b);
    }
    unsigned partial = 0, bytes = 0;
    for (std::uint32_t s = 0; s < kLineBytes / kSectorBytes; ++s) {
      const auto count =
          static_cast<unsigned>((written >> std::size_t{s} * kSectorBytes & std::bitset<kLineBytes>(0xffffffff)).count());
      if (count == kSectorBytes) continue;
      line.whole &= static_cast<std::uint8_t>(~(1U << s));
      partial += count != 0 ? 1 : 0;
      bytes += count;
    }
    if (partial != 0) line.part_bytes = static_cast<std::uint8_t>(bytes / partial);
  }
}

/// Lines of an atomic access: a word is updated for one lane at a time, so lanes that share one make transactions of their own,
/// as GPGPU-Sim's coalescer does.
void add_atomic_lines(const std::uint64_t* addresses, std::size_t lanes, std::uint32_t width, std::vector<LineAccess>& out) {
  std::uint64_t left[kWarpSize], now[kWarpSize];
  std::copy_n(addresses, lanes, left);
  while (lanes != 0) {
    std::size_t taken = 0, kept = 0;
    for (std::size_t i = 0; i < lanes; ++i) {
      const bool conflict = std::any_of(now, now + taken, [&](std::uint64_t address) { return address / 4 == left[i] / 4; });
      (conflict ? left[kept++] : now[taken++]) = left[i];
    }
    add_lines(now, taken, width, out);
    lanes = kept;
  }
}

/// Passes that an access takes over the banks of the scratchpad, which are those of the L1 since Volta: the most different words
/// any bank is asked for (lanes that read one word share it).
std::uint32_t bank_passes(const std::uint64_t* addresses, std::size_t lanes, std::uint32_t width) {
  std::uint64_t words[kWarpSize * 4];
  std::size_t count = 0;
  for (std::size_t i = 0; i < lanes; ++i) {
    for (std::uint64_t word = addresses[i] / 4; word <= (addresses[i] + width - 1) / 4; ++word) {
      if (count < std::size(words)) words[count++] = word;
    }
  }
  std::sort(words, words + count);
  std::uint32_t passes = 1;
  std::array<std::uint32_t, kBanks> per_bank{};
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0 && words[i] == words[i - 1]) continue;
    passes = std::max(passes, ++per_bank[words[i] % kBanks]);
  }
  return passes;
}

}  // namespace

std::optional<std::uint32_t> TraceReader::parse_instruction(std::string_view line, TraceWarp& warp, std::uint32_t index,
                                                            bool& plain) {
  Fields fields{lines_, line.data(), line.data() + line.size()};
  constexpr auto kMax32 = std::numeric_limits<std::uint32_t>::max();
  if (header_.line_info) fields.number<std::uint32_t>("line number", 10, 0, kMax32);
  Instruction instruction;
  instruction.pc = static_cast<std::uint32_t>(fields.number<std::uint64_t>("PC", 16, 0, kMax32 - 1));
  const auto mask = fields.number<std::uint32_t>("mask", 16, 0, kMax32);
  instruction.active_lanes = static_cast<std::uint8_t>(std::popcount(mask));
  const auto destinations = fields.number<unsigned>("number of destinations", 10, 0, 1);
  if (destinations == 1) instruction.dst = register_of(fields);
  const std::string_view mnemonic = fields.word("an opcode");
  const bool typed = header_.tracer_version >= 6;
  if (typed && mnemonic.starts_with("REPLAY_")) return std::nullopt;  // around a loop that waits, as the tracer shortened it
  const auto sources = fields.number<unsigned>("number of sources", 10, 0, 5);
  for (unsigned i = 0; i < sources; ++i) instruction.src[i] = register_of(fields);
  if (typed && mnemonic.find("GMMA") != std::string_view::npos) fields.number<unsigned>("group flag", 10, 0, 1);
  const auto width = fields.number<unsigned>("memory width", 10, 0, typed ? 1U << 20 : 1024);
  const std::uint64_t unknown = unknown_count_;
  const Opcode opcode = classify(mnemonic);
  instruction.op = opcode.op;
  instruction.pipe = opcode.pipe;
  instruction.copies = opcode.copies;
  if (opcode.op == OpClass::Tensor) instruction.interval = matrix_cycles(mnemonic);
  instruction.pairs = source_pairs(mnemonic, opcode, sources);
  control_.apply(instruction);
  std::uint32_t count = 0;
  const std::string_view name = mnemonic.substr(0, mnemonic.find('.'));
  constexpr std::size_t kNoTiles = 3;  // words behind the width that two immediates and NoVal are; tiles take more
  const bool tiles = is_bulk(name) || name == "UTMAPF" || name == "UBLKPF";
  if (typed && tiles && (width != 0 || fields.words_left() > kNoTiles)) {
    count = add_tiles(instruction, fields, mask, width, warp);
  } else {
    std::uint64_t addresses[kWarpSize] = {};
    if (width != 0) read_addresses(fields, mask, addresses);  // of any opcode: a tracer writes those of each memory operand
    if (is_memory(opcode.op) && width != 0) {
      instruction.bypass_l1 = (has_part(mnemonic, "STRONG") && has_part(mnemonic, "GPU")) || has_part(mnemonic, "BYPASS");
      if (opcode.op == OpClass::Load || opcode.op == OpClass::Shared) {
        const unsigned registers = std::min(loaded_registers(mnemonic), 255U - instruction.dst);
        instruction.dst_count = static_cast<std::uint8_t>(std::max(1U, registers));
      }
      constexpr std::uint32_t kRows =
          8;  // of a matrix: the first lanes have their addresses, those of the others count for nothing
      const std::uint32_t rows = moved_matrices(mnemonic) * kRows;
      const std::uint32_t used = rows == 0 || rows == kWarpSize ? mask : mask & ((1U << rows) - 1);
      count = add_memory(instruction, opcode.space, addresses, used, access_bytes(mnemonic), warp, index);
    } else if (is_memory(opcode.op)) {
      make_plain(instruction);  // every lane is switched off, or the tracer gave no address
    }
  }
  // No lane of it arrives anywhere.
  if (mask == 0 && (instruction.op == OpClass::Barrier || instruction.copies != CopyRole::None)) make_plain(instruction);
  std::int64_t immediate = 0;
  const auto next_immediate = [&] {
    immediate = fields.immediate();
    if (instruction.op == OpClass::Barrier && immediate >= kWarpSize && immediate < header_.threads())
      count_unknown(fmt::format("{} of {} threads", name, immediate));  // a smaller immediate is the barrier's number
  };
  if (!fields.done()) next_immediate();
  if (instruction.copies == CopyRole::Wait)
    instruction.groups_left = static_cast<std::uint8_t>(std::clamp<std::int64_t>(immediate, 0, 63));
  if (typed && !fields.done() && !fields.at_letter()) next_immediate();
  if (typed && !fields.done()) skip_values(fields, destinations + sources);
  if (!fields.done()) lines_.fail(fmt::format("text after the end of the instruction: {}", fields.word("text")));
  plain = width == 0 && unknown == unknown_count_;
  return intern(instruction) | count << kTraceRecordIndexBits;
}

void TraceReader::read_addresses(Fields& fields, std::uint32_t mask, std::uint64_t* addresses) {
  const auto lanes = static_cast<std::size_t>(std::popcount(mask));
  const auto mode = fields.number<unsigned>("address mode", 10, 0, 2);
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min(), kHigh = std::numeric_limits<std::int64_t>::max();
  if (mode == 0) {
    for (std::size_t i = 0; i < lanes; ++i) addresses[i] = fields.address();
  } else {
    std::uint64_t at = fields.address();
    if (mode == 1) {
      const auto stride = static_cast<std::uint64_t>(fields.number<std::int64_t>("stride", 10, kLow, kHigh));
      const std::uint32_t run = mask >> (mask == 0 ? 0 : std::countr_zero(mask));
      if ((run & (run + 1)) != 0) lines_.fail("a stride needs the set lanes to be contiguous");
      for (std::size_t i = 0; i < lanes; ++i, at += stride) addresses[i] = at;
    } else {
      for (std::size_t i = 0; i < lanes; ++i) {
        if (i != 0) at += static_cast<std::uint64_t>(fields.number<std::int64_t>("address difference", 10, kLow, kHigh));
        addresses[i] = at;
      }
    }
  }
}

std::uint32_t TraceReader::add_memory(Instruction& instruction, MemorySpace space, std::uint64_t* addresses, std::uint32_t mask,
                                      std::uint32_t width, TraceWarp& warp, std::uint32_t index) {
  const auto lanes = static_cast<std::size_t>(std::popcount(mask));
  if (lanes == 0) {
    make_plain(instruction);
    return 0;
  }
  if (space == MemorySpace::Generic) {
    if (header_.shared_base == 0 || header_.local_base == 0 ||
        (addresses[0] >= header_.shared_base && addresses[0] < header_.local_base)) {
      space = MemorySpace::Shared;
      instruction.op = OpClass::Shared;
    } else {
      space = addresses[0] >= header_.local_base && addresses[0] - header_.local_base < kLocalWindow ? MemorySpace::Local
                                                                                                     : MemorySpace::Global;
    }
  }
  if (space == MemorySpace::Shared) {
    instruction.interval = static_cast<std::uint8_t>(std::min(bank_passes(addresses, lanes, width), 255U));
    return 0;
  }
  if (space == MemorySpace::Global)
    for (std::size_t i = 0; i < lanes; ++i) addresses[i] ^= global_memory_;
  if (space == MemorySpace::Local) {
    std::uint32_t rest = mask;
    for (std::size_t i = 0; i < lanes; ++i, rest &= rest - 1) {
      const auto lane = static_cast<std::uint64_t>(std::countr_zero(rest));
      const std::uint64_t offset = (addresses[i] - header_.local_base) % kLocalBytesPerThread;
      addresses[i] = local_memory_ + index * kLocalBytesPerThread * kWarpSize + offset / 4 * 128 + lane * 4 + offset % 4;
    }
    width = std::min(width, 4U);  // the other words of a vector lie in other lines, 128 bytes on: one access stands for them
  }
  if (instruction.op == OpClass::Load) instruction.interval = static_cast<std::uint8_t>(bank_passes(addresses, lanes, width));
  const std::size_t begin = warp.lines.size();
  (instruction.op == OpClass::Atomic ? add_atomic_lines : add_lines)(addresses, lanes, width, warp.lines);
  if (instruction.op == OpClass::Store) add_written_bytes(addresses, lanes, width, std::span(warp.lines).subspan(begin));
  return static_cast<std::uint32_t>(warp.lines.size() - begin);
}

std::uint32_t TraceReader::intern(const Instruction& instruction) {
  static_assert(sizeof(Instruction) == 28 && std::is_trivially_copyable_v<Instruction>);
  char bytes[sizeof instruction];
  std::memcpy(bytes, &instruction, sizeof instruction);
  std::uint64_t slot = text_hash({bytes, sizeof bytes});
  for (;; ++slot) {
    std::uint32_t& entry = instruction_slots_[slot % instruction_slots_.size()];
    if (entry == 0) {
      if (instructions_.size() + 1 >= kMostRecords) lines_.fail("more than 16 million different instructions");
      instructions_.push_back(instruction);
      entry = static_cast<std::uint32_t>(instructions_.size());
      break;
    }
    if (instructions_[entry - 1] == instruction) return entry - 1;
  }
  const auto id = static_cast<std::uint32_t>(instructions_.size() - 1);
  if (instructions_.size() * 2 > instruction_slots_.size()) {
    instruction_slots_.assign(instruction_slots_.size() * 2, 0);
    for (std::uint32_t i = 0; i < instructions_.size(); ++i) {
      std::memcpy(bytes, &instructions_[i], sizeof bytes);
      slot = text_hash({bytes, sizeof bytes});
      while (instruction_slots_[slot % instruction_slots_.size()] != 0) ++slot;
      instruction_slots_[slot % instruction_slots_.size()] = i + 1;
    }
  }
  return id;
}

KernelDescriptor describe(const TraceHeader& header, std::uint32_t register_unit) {
  KernelDescriptor kernel;
  kernel.name = header.kernel_name;
  kernel.full_name = header.kernel_name;
  kernel.grid_ctas = header.grid_ctas();
  kernel.block_threads = header.threads();
  const std::uint32_t per_warp = (header.registers_per_thread * kWarpSize + register_unit - 1) / register_unit * register_unit;
  kernel.registers_per_cta = header.warps() * per_warp;
  kernel.shared_bytes_per_cta = header.shared_bytes;
  return kernel;
}

}  // namespace sluice
