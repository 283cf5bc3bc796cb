// SPDX-License-Identifier: Apache-2.0
#include "sw/trace/program_walk.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace sluice {

namespace {

__extension__ using Wide = unsigned __int128;

/// The last hexadecimal number of the operands: where a branch goes.
std::optional<std::uint64_t> target_of(std::string_view operands) {
  const std::size_t at = operands.rfind("0x");
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(operands.data() + at + 2, operands.data() + operands.size(), value, 16);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

/// 3 of "B3, 0x7f00".
std::uint32_t barrier_of(const SassText& text) {
  std::uint32_t value = 0;
  if (text.operands.size() > 1) std::from_chars(text.operands.data() + 1, text.operands.data() + text.operands.size(), value);
  return value;
}

/// The instruction that an instruction names, by index: addresses are those of the GPU, or count from the kernel's begin.
std::optional<std::uint32_t> named(const KernelProgram& program, const SassText& text) {
  const std::optional<std::uint64_t> target = target_of(text.operands);
  if (!target) return std::nullopt;
  const std::vector<ProgramInstruction>& all = program.instructions;
  for (const std::uint64_t address : {*target, *target + all.front().address}) {
    const auto found = std::ranges::lower_bound(all, address, {}, &ProgramInstruction::address);
    if (found != all.end() && found->address == address) return static_cast<std::uint32_t>(found - all.begin());
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t share(std::uint64_t total, std::uint64_t of, std::uint64_t index) {
  return static_cast<std::uint64_t>((Wide{index} + 1) * total / of - Wide{index} * total / of);
}

ProgramWalk::ProgramWalk(const KernelProgram& program) {
  for (const ProgramInstruction& i : program.instructions) texts_.push_back(parse_sass(i.text));
  make_blocks(program);
  make_edges(program);
  count_edges();
  restart();
}

void ProgramWalk::restart() {
  done_.assign(blocks_.size(), 0);
  taken_.assign(blocks_.size(), {});
  visits_.assign(blocks_.size(), 0);
}

void ProgramWalk::make_blocks(const KernelProgram& program) {
  const std::vector<ProgramInstruction>& all = program.instructions;
  std::vector<bool> leads(all.size() + 1, false);
  leads[0] = true;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (ends_block(texts_[i])) leads[i + 1] = true;
    if (i > 0 && (all[i].warps != all[i - 1].warps || texts_[i].name() == "BSYNC")) leads[i] = true;
    const std::string_view name = texts_[i].name();
    if (is_branch(texts_[i]) || name == "CALL" || name == "BSSY")
      if (const auto to = named(program, texts_[i])) leads[*to] = true;
  }
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (leads[i]) blocks_.push_back({i, i, all[i].warps});
    blocks_.back().end = i + 1;
  }
}

void ProgramWalk::make_edges(const KernelProgram& program) {
  const auto block_at = [&](std::uint32_t instruction) {
    const auto after = std::ranges::upper_bound(blocks_, instruction, {}, &Block::begin);
    return static_cast<std::uint32_t>(after - blocks_.begin() - 1);
  };
  std::vector<bool> entered(blocks_.size(), false);
  entered[0] = true;
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    Edges e;
    const Block& block = blocks_[b];
    const SassText& last = texts_[block.end - 1];
    const auto to = named(program, last);
    e.conditional = is_conditional(last);
    if (is_end(last)) {
      e.leave = Leave::Exit;
    } else if (last.name() == "RET") {
      e.leave = Leave::Return;
    } else if (last.name() == "CALL" && to) {
      e.leave = Leave::Call;
    } else if (is_branch(last)) {
      e.leave =
          last.name() == "BRA" && target_of(last.operands) ? Leave::Branch : Leave::Table;  // to code that never ran: no block
    }
    if (to && (e.leave == Leave::Call || e.leave == Leave::Branch)) e.target = block_at(*to);
    const bool goes_on = e.conditional || e.leave == Leave::Fall || e.leave == Leave::Call;
    constexpr std::uint64_t kInstructionBytes = 16;
    if (goes_on && b + 1 < blocks_.size() &&
        program.instructions[block.end].address == program.instructions[block.end - 1].address + kInstructionBytes)
      e.fall = b + 1;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      if (texts_[i].name() == "BSSY") {
        if (const auto join = named(program, texts_[i])) e.region = block_at(*join);
        e.barrier = barrier_of(texts_[i]);
      }
    }
    e.joins = texts_[block.begin].name() == "BSYNC";
    if (e.joins) e.barrier = barrier_of(texts_[block.begin]);
    e.divergent = std::min(program.instructions[block.end - 1].divergent, block.warps);
    for (const std::uint32_t s : {e.fall, e.target})
      if (s != kEnd) entered[s] = true;
    if (e.leave == Leave::Exit && e.fall != kEnd) e.ends = block.warps - std::min(block.warps, blocks_[e.fall].warps);
    edges_.push_back(e);
  }
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    if (!entered[b] && blocks_[b].warps > 0) entries_.push_back(b);
}

/// An edge is known when it is the only unknown one of a block: of those to it, which add up to its count, or of those from it,
/// which do as well, but for the warps that part. Warps that came apart are one again behind a BSYNC.
void ProgramWalk::count_edges() {
  std::vector<std::vector<std::optional<std::uint64_t>*>> into(blocks_.size());
  std::vector<bool> whole(blocks_.size(), true);  ///< every way into the block is an edge
  whole[0] = false;
  for (const std::uint32_t b : entries_) whole[b] = false;
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    Edges& e = edges_[b];
    if (e.joins) whole[b] = false;
    if (e.region != kEnd) whole[e.region] = false;
    if (e.leave == Leave::Call) {
      for (const std::uint32_t s : {e.fall, e.target})
        if (s != kEnd) whole[s] = false;
      continue;
    }
    const auto to = [&](std::uint32_t s, std::optional<std::uint64_t>& edge) {
      if (s == kEnd || blocks_[s].warps == 0) edge = 0;
      if (s != kEnd) into[s].push_back(&edge);
    };
    to(e.fall, e.falls);
    to(e.target, e.jumps);
  }
  for (bool found = true; found;) {
    found = false;
    const auto solve = [&](std::span<std::optional<std::uint64_t>* const> edges, std::uint64_t sum) {
      std::optional<std::uint64_t>* unknown = nullptr;
      for (std::optional<std::uint64_t>* edge : edges) {
        if (*edge) {
          sum -= std::min(sum, **edge);
        } else if (unknown != nullptr) {
          return;
        } else {
          unknown = edge;
        }
      }
      if (unknown == nullptr) return;
      *unknown = sum;
      found = true;
    };
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (whole[b]) solve(into[b], blocks_[b].warps);
      Edges& e = edges_[b];
      if (e.leave == Leave::Fall || e.leave == Leave::Branch)
        if (!e.joins) solve(std::array{&e.falls, &e.jumps}, blocks_[b].warps + e.divergent);
    }
  }
}

/// Is the edge behind the block, more than the other one, where it goes next? At a tie the block that comes first in the code
/// leads to the other one in most programs.
bool ProgramWalk::falls(std::uint32_t at) const {
  const Edges& e = edges_[at];
  if (!e.falls || !e.jumps || (*e.falls == 0 && *e.jumps == 0)) return choose(std::array{e.fall, e.target}) == e.fall;
  const Wide fall = (Wide{taken_[at].falls} + 1) * *e.jumps, jump = (Wide{taken_[at].jumps} + 1) * *e.falls;
  return fall != jump ? fall < jump : e.fall < e.target;
}

/// Is `a` further behind its count than `b`, were it visited once more? At a tie the first one leads to the other in most
/// programs.
bool ProgramWalk::behind(std::uint32_t a, std::uint32_t b) const {
  const Wide left = (Wide{done_[a]} + 1) * blocks_[b].warps, right = (Wide{done_[b]} + 1) * blocks_[a].warps;
  return left != right ? left < right : a < b;
}

std::uint32_t ProgramWalk::choose(std::span<const std::uint32_t> blocks) const {
  std::uint32_t best = kEnd;
  for (const std::uint32_t b : blocks)
    if (b != kEnd && blocks_[b].warps > 0 && (best == kEnd || behind(b, best))) best = b;
  return best;
}

std::uint32_t ProgramWalk::branch(std::uint32_t at, std::uint64_t ordinal, Warp& warp) {
  const Edges& e = edges_[at];
  const bool one_way = e.fall == kEnd || e.target == kEnd;
  if (one_way) return choose(std::array{e.fall, e.target});
  if (share(e.divergent, blocks_[at].warps, ordinal) != 0) {
    const std::uint32_t join = warp.regions.empty() ? kEnd : warp.regions.back().second;
    const bool swapped = std::min(e.fall, e.target) == join;
    const std::uint32_t first = swapped ? std::max(e.fall, e.target) : std::min(e.fall, e.target),
                        second = first == e.fall ? e.target : e.fall;
    if (done_[first] < blocks_[first].warps && (second == join || done_[second] < blocks_[second].warps)) {
      warp.pending.push_back({second, join});
      ++taken_[at].falls;
      ++taken_[at].jumps;
      return first;
    }
  }
  const bool fall = falls(at);
  ++(fall ? taken_[at].falls : taken_[at].jumps);
  return fall ? e.fall : e.target;
}

std::uint32_t ProgramWalk::next(std::uint32_t at, std::uint64_t ordinal, Warp& warp) {
  const Edges& e = edges_[at];
  const auto leaves_region = [&](const auto& region) { return region.first == e.barrier; };
  if (e.joins || e.region != kEnd) std::erase_if(warp.regions, leaves_region);
  if (e.region != kEnd) warp.regions.emplace_back(e.barrier, e.region);
  switch (e.leave) {
    case Leave::Exit:
      if (e.fall == kEnd || blocks_[e.fall].warps == 0) return kEnd;
      return e.ends != 0 && share(e.ends, blocks_[at].warps, ordinal) != 0 ? kEnd : e.fall;
    case Leave::Call: warp.calls.push_back(e.fall); return e.target;
    case Leave::Return: {
      if (warp.calls.empty()) return kEnd;
      const std::uint32_t back = warp.calls.back();
      warp.calls.pop_back();
      return back;
    }
    case Leave::Table: return choose(entries_);
    case Leave::Branch: return branch(at, ordinal, warp);
    case Leave::Fall: break;
  }
  return choose(std::array{e.fall});
}

std::vector<ProgramWalk::Visit> ProgramWalk::next_warp() {
  std::vector<Visit> way;
  Warp warp;
  std::uint32_t at = 0;
  while (at != kEnd || !warp.pending.empty()) {
    if (!warp.pending.empty() && (at == kEnd || at == warp.pending.back().join)) {
      at = warp.pending.back().side;
      warp.pending.pop_back();
      continue;
    }
    // Counts that contradict one another must not make a way without an end.
    if (done_[at] >= blocks_[at].warps + blocks_[0].warps) {
      at = kEnd;
      continue;
    }
    const std::uint64_t ordinal = done_[at]++;
    way.push_back({at, visits_[at]++, ordinal});
    at = next(at, ordinal, warp);
  }
  for (const Visit& visit : way) visits_[visit.block] = 0;
  return way;
}

}  // namespace sluice
