// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/sass_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>

#include "sw/gpu/record/walk.h"
#include "sw/gpu/record/warp.h"
#include "sw/trace/trace_writer.h"

namespace sluice::gpu {

namespace {

constexpr const char* kNoPath = "no_path";       // statements of the PTX, in place of the instructions that are missing
constexpr const char* kAddress = "address";      // accesses without addresses
constexpr const char* kPredicate = "predicate";  // switched off or not: taken as not
constexpr const char* kBranchInside = "branch_in_instruction";  // inside one PTX instruction: the shorter way taken
constexpr const char* kMerged = "merged_access";         // accesses that PTX and SASS have in other numbers: paired in order
constexpr const char* kTwoWays = "two_ways";             // by which another way that explains the path differs
constexpr const char* kReconvergence = "reconvergence";  // threads that waited in vain

constexpr std::uint64_t kSector = 32;  // bytes

bool is_global(std::string_view name) {
  return name == "LDG" || name == "STG" || name == "ATOMG" || name == "REDG" || name == "RED";
}

/// Groups of copies that a DEPBAR leaves under way: "SB0, 0x1".
std::uint32_t groups_left(const SassInstruction& s) {
  const std::size_t at = s.name() == "DEPBAR" ? s.operands.find("0x") : std::string::npos;
  return at == std::string::npos ? 0 : static_cast<std::uint32_t>(std::strtoul(s.operands.c_str() + at, nullptr, 16));
}

/// Bytes of an access, from its mnemonic.
std::uint32_t width_of(std::string_view opcode) {
  for (const auto& [part, bytes] :
       {std::pair(".128", 16U), {".64", 8U}, {".U16", 2U}, {".S16", 2U}, {".16", 2U}, {".U8", 1U}, {".S8", 1U}})
    if (opcode.find(part) != std::string_view::npos) return bytes;
  return opcode.starts_with("LDSM") ? 16 : 4;
}

class Joiner {
 public:
  Joiner(const RecordedKernel& kernel, std::uint32_t id, const std::filesystem::path& file)
      : kernel_(kernel),
        sass_(parse_listing(kernel.listing, kernel.symbol)),
        walker_(kernel.plan, sass_),
        counts_(sass_.instructions.size(), 0),
        writer_(file, header(id), "sluice gpu record", notes()) {}

  JoinResult run() {
    const std::uint32_t warps = kernel_.log.warps();
    learn();
    for (std::uint32_t cta = 0; cta < kernel_.log.ctas; ++cta) {
      writer_.begin_cta(index_of(cta));
      for (std::uint32_t w = 0; w < warps; ++w) warp(cta * warps + w, w);
      writer_.end_cta();
    }
    result_.bytes = writer_.finish();
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0) result_.opcodes[std::string(sass_.instructions[i].name())] += counts_[i];
    return result_;
  }

 private:
  [[nodiscard]] bool whole() const { return kernel_.log.ctas == kernel_.grid[0] * kernel_.grid[1] * kernel_.grid[2]; }
  /// A part of a grid is a grid of one axis: a reader expects every CTA that the header says.
  [[nodiscard]] TraceHeader header(std::uint32_t id) const {
    TraceHeader h;
    h.kernel_name = kernel_.symbol;
    h.kernel_id = id;
    h.grid = whole() ? kernel_.grid : std::array<std::uint32_t, 3>{kernel_.log.ctas, 1, 1};
    h.block = kernel_.block;
    h.shared_bytes = kernel_.shared_bytes;
    h.registers_per_thread = std::min(kernel_.registers, 255U);
    h.binary_version = kernel_.sm;
    h.shared_base = kernel_.shared_window;
    h.local_base = kernel_.local_window;
    return h;
  }
  [[nodiscard]] std::string notes() const {
    std::string out = fmt::format("-recorded on = {}\n-recorded grid = ({},{},{})\n", kernel_.origin, kernel_.grid[0],
                                  kernel_.grid[1], kernel_.grid[2]);
    for (const SassInstruction& s : sass_.instructions)
      if (s.control) out += fmt::format("-control {:04x} = {:06x}\n", s.pc, *s.control);
    return out;
  }
  [[nodiscard]] std::array<std::uint32_t, 3> index_of(std::uint32_t cta) const {
    if (!whole()) return {cta, 0, 0};
    return {cta % kernel_.grid[0], cta / kernel_.grid[0] % kernel_.grid[1], cta / kernel_.grid[0] / kernel_.grid[1]};
  }

  /// Shows the walker the different paths that threads took, as many as decide what stands for what.
  void learn() {
    constexpr std::size_t kPaths = 4096;
    std::set<std::vector<std::uint32_t>> seen;
    const std::uint32_t warps = kernel_.log.warps();
    for (std::uint32_t w = 0; w < kernel_.log.ctas * warps && seen.size() < kPaths; ++w)
      for (std::uint32_t lane = 0; lane < std::min(32U, kernel_.log.threads - w % warps * 32); ++lane) {
        LanePath path = lane_path(kernel_.log, kernel_.plan, w, lane);
        if (seen.contains(path.blocks)) continue;
        walker_.learn(path);
        seen.insert(std::move(path.blocks));
      }
  }

  struct Known {
    std::vector<std::uint32_t> blocks;
    SassPath path;
  };
  /// Most threads go where another went.
  const SassPath& path_of(LanePath& lane) {
    std::size_t hash = lane.blocks.size();
    for (const std::uint32_t b : lane.blocks) hash = (hash ^ b) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
    std::vector<std::unique_ptr<Known>>& same = known_[hash];
    for (const auto& k : same)
      if (k->blocks == lane.blocks) return k->path;
    SassPath path = walker_.walk(lane);
    kept_ += path.uses.size() + path.blocks.size() + lane.blocks.size();
    same.push_back(std::make_unique<Known>(Known{std::move(lane.blocks), std::move(path)}));
    return same.back()->path;
  }

  void warp(std::uint32_t number, std::uint32_t in_cta) {
    constexpr std::size_t kMost = 1UL << 26;  // numbers that are kept
    if (kept_ > kMost) {
      known_.clear();
      kept_ = 0;
    }
    const std::uint32_t threads = std::min(32U, kernel_.log.threads - in_cta * 32);
    std::array<const SassPath*, 32> paths{};
    std::uint64_t missing = 0, guessed = 0, merged = 0, other = 0;
    for (std::uint32_t lane = 0; lane < threads; ++lane) {
      LanePath path = lane_path(kernel_.log, kernel_.plan, number, lane);
      std::uint64_t statements = 0;
      for (const std::uint32_t b : path.blocks) statements += statements_[b];
      const SassPath& sass = path_of(path);
      if (!sass.found) {
        missing = std::max(missing, statements);
        continue;
      }
      paths[lane] = &sass;
      guessed = std::max(guessed, sass.guessed_branches);
      merged = std::max(merged, sass.merged_accesses);
      other = std::max(other, sass.other_way);
    }
    add(kNoPath, missing);
    add(kBranchInside, guessed);
    add(kMerged, merged);
    add(kTwoWays, other);
    add(kReconvergence, run_warp(walker_, sass_, paths, [&](const WarpStep& step) { emit(number, step); }));
    writer_.end_warp(in_cta);
  }

  void add(const char* reason, std::uint64_t count) {
    if (count > 0) result_.unjoined[reason] += count;
  }

  void emit(std::uint32_t warp, const WarpStep& step) {
    const SassInstruction& s = sass_.instructions[step.instruction];
    ++result_.warp_instructions;
    ++counts_[step.instruction];
    std::uint32_t mask = step.mask;
    std::uint64_t addresses[32];
    std::size_t count = 0;
    const bool guarded = !s.guard.empty() && s.guard != "PT";
    const bool memory = has_addresses(s.name());
    bool unknown = false;
    const std::uint32_t width = width_of(s.opcode);
    if (walker_.has_use(step.instruction)) {
      const PtxLine* line = walker_.line_of(step.instruction);
      const std::optional<std::uint32_t> stack = memory ? stack_offset(s) : std::nullopt;
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const Use use = step.uses[lane];
        bool off = use == kOff;
        if (use < kUnknown) {
          std::uint64_t value = lane_word(kernel_.log, warp, lane, use);
          if (line->logged == LoggedKind::Address64) value |= std::uint64_t{lane_word(kernel_.log, warp, lane, use + 1)} << 32;
          off = line->logged == LoggedKind::Predicate
                    ? value == 0
                    : line->guarded && value == (line->logged == LoggedKind::Address64 ? ~0ULL : 0xffffffffULL);
          if (!off && memory)
            addresses[count++] = value & ~(std::uint64_t{width} - 1);  // as accesses are; that of a part, if merged
        } else if (!off && stack) {
          addresses[count++] = kernel_.local_window + *stack;
        } else if (!off && (memory || use == kUnknown)) {
          unknown = true;
        }
        if (off) mask &= ~(1U << lane);
      }
    } else if (guarded) {
      mask = step.leaving;
    }
    if (unknown) {
      add(memory ? kAddress : kPredicate, 1);
      count = 0;
    }
    if (count > 0 && is_global(s.name())) count_sectors(s.name(), {addresses, count}, width);
    writer_.instruction(s.pc, mask, s.destination, s.opcode, s.sources, width, {addresses, count}, groups_left(s));
  }

  void count_sectors(std::string_view name, std::span<const std::uint64_t> addresses, std::uint32_t width) {
    std::vector<std::uint64_t>& all = sectors_;
    all.clear();
    for (const std::uint64_t a : addresses)
      for (std::uint64_t sector = a / kSector; sector <= (a + width - 1) / kSector; ++sector) all.push_back(sector);
    std::ranges::sort(all);
    SectorCount& of = result_.sectors[std::string(name)];
    ++of.requests;
    of.sectors += static_cast<std::uint64_t>(std::unique(all.begin(), all.end()) - all.begin());
  }

  [[nodiscard]] std::vector<std::uint64_t> statements() const {
    std::vector<std::uint64_t> all(kernel_.plan.words.size(), 0);
    for (const PtxLine& line : kernel_.plan.lines) ++all[line.block];
    return all;
  }

  const RecordedKernel& kernel_;
  SassKernel sass_;
  Walker walker_;
  std::vector<std::uint64_t> counts_;   // of each instruction
  std::vector<std::uint64_t> sectors_;  // of one access
  TraceWriter writer_;
  std::vector<std::uint64_t> statements_ = statements();
  std::unordered_map<std::size_t, std::vector<std::unique_ptr<Known>>> known_;
  std::size_t kept_ = 0;
  JoinResult result_;
};

}  // namespace

double JoinResult::missing_pct() const {
  const auto found = unjoined.find(kNoPath);
  const std::uint64_t missing = found == unjoined.end() ? 0 : found->second;
  return missing + warp_instructions == 0 ? 100
                                          : 100 * static_cast<double>(missing) / static_cast<double>(missing + warp_instructions);
}

double JoinResult::joined_pct() const {
  std::uint64_t open = 0, all = warp_instructions;
  for (const auto& [reason, count] : unjoined) {
    open += count;
    if (reason == kNoPath) all += count;
  }
  return all == 0 ? 0 : 100.0 * (1.0 - static_cast<double>(std::min(open, all)) / static_cast<double>(all));
}

JoinResult write_trace(const RecordedKernel& kernel, std::uint32_t id, const std::filesystem::path& file) {
  return Joiner(kernel, id, file).run();
}

}  // namespace sluice::gpu
