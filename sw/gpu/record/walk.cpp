// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/record/walk.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sw/gpu/record/decided.h"

namespace sluice::gpu {

namespace {

constexpr std::string_view kStores[] = {"STG", "STS", "STL", "ST", "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "STSM", "BAR"};
constexpr std::string_view kLoads[] = {"LDG", "LDS", "LDL", "LD", "LDSM", "LDGSTS"};
constexpr std::string_view kOthers[] = {"SHFL", "VOTE", "MATCH", "HMMA", "IMMA", "DMMA", "MUFU"};
constexpr std::string_view kMoves[] = {"MOV",  "UMOV",  "LDC",  "ULDC", "S2R",  "S2UR", "CS2R",
                                       "BSSY", "BSYNC", "EXIT", "NOP",  "R2UR", "CALL", "WARPSYNC"};
constexpr std::string_view kIntegerOps[] = {"xor", "and", "or", "not", "shl", "shr", "shf", "lop3", "setp", "min", "max"};
constexpr std::uint64_t kCallCost = 100000;  // internal routines are for the rare operands

bool is_in(const auto& names, std::string_view name) { return std::ranges::find(names, name) != std::end(names); }

enum Rank { kStore, kLoad, kOther, kFloat, kBranch, kInteger };
/// How well an instruction stands for its statement's block, the smaller the better; nothing: not at all.
std::optional<Rank> rank_of(std::string_view name, const PtxLine& line) {
  if (line.control) return name == "BRA" ? std::optional(kBranch) : std::nullopt;
  const bool memory = line.space != PtxSpace::None;
  if (is_in(kStores, name)) return memory || name == "BAR" ? std::optional(kStore) : std::nullopt;
  if (is_in(kLoads, name)) return memory ? std::optional(kLoad) : std::nullopt;
  if (memory) return {};
  if (is_in(kOthers, name)) return kOther;
  const std::string_view op = std::string_view(line.op).substr(0, line.op.find('.'));
  const bool simple = op == "fma" || op == "add" || op == "sub" || op == "mul" || op == "mad";
  if (simple && (name.starts_with('F') || name.starts_with('D'))) return kFloat;
  if (is_in(kMoves, name)) return {};
  return simple || is_in(kIntegerOps, op) ? std::optional(kInteger) : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> stack_offset(const SassInstruction& instruction) {
  const std::string& text = instruction.operands;
  const std::size_t open = text.find("[R1");
  if (open == std::string::npos) return {};
  if (text[open + 3] == ']') return 0;
  if (text.compare(open + 3, 3, "+0x") != 0) return {};
  return static_cast<std::uint32_t>(std::stoul(text.substr(open + 6), nullptr, 16));
}

bool has_addresses(std::string_view name) { return name != "BAR" && (is_in(kStores, name) || is_in(kLoads, name)); }

Walker::Walker(const RecordPlan& plan, const SassKernel& sass)
    : plan_(plan),
      sass_(sass),
      marks_(sass.blocks.size()),
      marked_(plan.words.size(), false),
      loops_(plan.words.size(), false),
      copies_(plan.words.size(), 0),
      ordinal_(sass.instructions.size(), kNone),
      decided_(decided_guards(sass)) {
  for (const SassBlock& block : sass.blocks) {
    std::uint32_t next = 0;
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const SassInstruction& s = sass.instructions[i];
      const PtxLine* line = line_of(i);
      const bool controls = i + 1 == block.end && (block.target || block.ends || !block.table.empty());
      if (has_addresses(s.name()) || (!s.guard.empty() && !controls) ||
          (line != nullptr && line->logged == LoggedKind::Predicate && !controls))
        ordinal_[i] = next++;
    }
  }
  for (const std::uint32_t b : plan.loops) loops_[b] = true;
  choose_marks();
  place_marks();
}

const PtxLine* Walker::line_of(std::uint32_t instruction) const {
  const std::uint32_t line = sass_.instructions[instruction].line;
  return line == 0 || line > plan_.lines.size() ? nullptr : &plan_.lines[line - 1];
}

void Walker::choose_marks() {
  struct Candidate {
    Rank rank = kInteger;
    std::uint32_t copies = 0;
    bool pure = true;  // all that runs beside it is of its block
  };
  std::map<Key, Candidate> candidates;
  for (const SassBlock& block : sass_.blocks) {
    std::map<std::uint32_t, std::uint32_t> owners;  // blocks of PTX that the instructions are of
    for (std::uint32_t i = block.begin; i < block.end; ++i)
      if (const PtxLine* line = line_of(i)) ++owners[line->block];
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const PtxLine* line = line_of(i);
      if (line == nullptr || decided_[i] == false) continue;
      const std::optional<Rank> rank = rank_of(sass_.instructions[i].name(), *line);
      if (!rank) continue;
      Candidate& c = candidates[{sass_.instructions[i].line, sass_.instructions[i].opcode}];
      c.rank = *rank;
      ++c.copies;
      c.pure = c.pure && owners.size() == 1;
    }
  }
  // The most copies, then the best rank: a statement that is moved out of a loop, or shared, has fewer. Computations on whole
  // numbers are moved about and made twice as well: only in loops, or where a block of SASS is nothing else, and then the usual
  // number of copies.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> usual;  // of each block and number of copies: statements
  for (const auto& [key, c] : candidates)
    if (c.rank >= kBranch) ++usual[{plan_.lines[key.first - 1].block, c.copies}];
  std::vector<std::vector<std::pair<std::tuple<bool, std::uint32_t, std::uint32_t, int>, Key>>> scored(marked_.size());
  for (const auto& [key, c] : candidates) {
    const std::uint32_t block = plan_.lines[key.first - 1].block;
    if (c.rank == kInteger && !c.pure && !loops_[block]) continue;
    const bool sure = c.rank < kBranch;
    const std::uint32_t alike = sure || !loops_[block] ? 1 : usual[{block, c.copies}];
    const std::uint32_t copies = sure || loops_[block] ? c.copies : 1;
    scored[block].emplace_back(std::tuple(sure, alike, copies, -static_cast<int>(c.rank)), key);
  }
  candidates_.resize(scored.size());
  choice_.assign(scored.size(), 0);
  for (std::size_t block = 0; block < scored.size(); ++block) {
    std::ranges::stable_sort(scored[block], [](const auto& x, const auto& y) { return x.first > y.first; });
    for (const auto& [score, key] : scored[block]) candidates_[block].push_back(key);
  }
}

void Walker::place_marks() {
  std::ranges::fill(copies_, 0);
  for (std::size_t block = 0; block < choice_.size(); ++block) marked_[block] = choice_[block] < candidates_[block].size();
  for (std::uint32_t b = 0; b < sass_.blocks.size(); ++b) {
    marks_[b].clear();
    for (std::uint32_t i = sass_.blocks[b].begin; i < sass_.blocks[b].end; ++i) {
      const SassInstruction& s = sass_.instructions[i];
      const PtxLine* line = line_of(i);
      if (line == nullptr || !marked_[line->block] || candidates_[line->block][choice_[line->block]] != Key(s.line, s.opcode))
        continue;
      if (decided_[i] == false) continue;
      marks_[b].push_back({line->block, i, !decided_[i] && !s.guard.empty() && s.guard != "PT" && !line->guarded});
      ++copies_[line->block];
    }
  }
}

/// The assembler may have moved what stands for a block to where the block is not. The blocks at which the search ends get
/// another statement, as long as that leads the search on.
void Walker::learn(const LanePath& path) {
  constexpr std::size_t kTried = 8, kMostChanges = 64;  // blocks around the end of the search; changes for one path
  const std::vector<std::size_t> before = choice_;
  SearchEnd end;
  std::vector<std::uint32_t> way = find(marked_of(path), nullptr, &end);
  for (std::size_t change = 0; way.empty() && change < kMostChanges; ++change) {
    const std::vector<std::uint32_t> marked = marked_of(path);
    std::vector<std::uint32_t> suspects;
    const auto suspect = [&](std::uint32_t block) {
      if (suspects.size() < kTried && std::ranges::find(suspects, block) == suspects.end()) suspects.push_back(block);
    };
    for (std::size_t at = std::min(end.path + 1, marked.size()); at > 0 && suspects.size() < kTried / 2; --at)
      suspect(marked[at - 1]);
    for (const std::uint32_t b : end.blocks)
      for (const Mark& m : marks_[b]) suspect(m.block);
    // A block that is left out shortens the path: what is compared is how much of the whole path is explained.
    const auto explained = [&](std::size_t marks) {
      std::size_t at = 0;
      for (; at < path.blocks.size() && marks > 0; ++at) marks -= marked_[path.blocks[at]] ? 1 : 0;
      return at;
    };
    std::size_t best = explained(end.path);
    std::vector<std::vector<std::size_t>> tries;
    for (const std::uint32_t block : suspects)
      for (std::size_t other = choice_[block] + 1; other < candidates_[block].size(); ++other) {
        tries.push_back(choice_);
        tries.back()[block] = other;
      }
    // Of several blocks of PTX, what the assembler has gathered in one block of SASS gives way together.
    for (const std::uint32_t b : end.blocks) {
      tries.push_back(choice_);
      for (const Mark& m : marks_[b])
        if (end.path >= marked.size() || m.block != marked[end.path]) ++tries.back()[m.block];
    }
    std::optional<std::size_t> better;
    for (std::size_t i = 0; i < tries.size() && way.empty(); ++i) {
      choice_ = tries[i];
      place_marks();
      SearchEnd its;
      way = find(marked_of(path), nullptr, &its);
      const std::size_t reached = way.empty() ? explained(its.path) : path.blocks.size() + 1;
      if (reached <= best) continue;
      best = reached;
      better = i;
      end = its;
    }
    if (!better) break;
    choice_ = tries[*better];
    place_marks();
  }
  if (way.empty()) {
    choice_ = before;
    place_marks();
  }
}

std::vector<std::uint32_t> Walker::marked_of(const LanePath& path) const {
  std::vector<std::uint32_t> marked;
  for (const std::uint32_t b : path.blocks)
    if (marked_[b]) marked.push_back(b);
  return marked;
}

Walker::Presence Walker::presence(const Mark& mark, std::uint32_t block, const Otherwise* otherwise) {
  if (!mark.optional) return Presence::Always;
  if (otherwise == nullptr || otherwise->block != block || otherwise->of != mark.block) return Presence::Maybe;
  return otherwise->runs ? Presence::Always : Presence::Never;
}

bool Walker::consume(std::uint32_t block, const std::vector<std::uint32_t>& path, std::size_t& at, std::vector<bool>* taken,
                     const Otherwise* otherwise) const {
  const std::vector<Mark>& marks = marks_[block];
  if (taken != nullptr) taken->assign(marks.size(), false);
  std::size_t ordered = at;
  bool in_order = true;
  for (std::size_t m = 0; m < marks.size() && in_order; ++m) {
    const Presence p = presence(marks[m], block, otherwise);
    if (p != Presence::Never && ordered < path.size() && path[ordered] == marks[m].block) {
      ++ordered;
      if (taken != nullptr) (*taken)[m] = true;
    } else {
      in_order = p != Presence::Always;
    }
  }
  if (in_order) {
    at = ordered;
    return true;
  }
  std::vector<bool> used(marks.size(), false);
  std::size_t left = 0;
  for (std::size_t m = 0; m < marks.size(); ++m) {
    const Presence p = presence(marks[m], block, otherwise);
    left += p == Presence::Always ? 1 : 0;
    used[m] = p == Presence::Never;
  }
  while (at < path.size()) {
    std::size_t found = marks.size();
    for (std::size_t m = 0; m < marks.size(); ++m)
      if (!used[m] && marks[m].block == path[at] && (found == marks.size() || (marks[found].optional && !marks[m].optional)))
        found = m;
    if (found == marks.size()) break;
    used[found] = true;
    left -= presence(marks[found], block, otherwise) == Presence::Always ? 1 : 0;
    ++at;
  }
  if (taken != nullptr) *taken = used;
  return left == 0;
}

std::vector<std::uint32_t> Walker::find(const std::vector<std::uint32_t>& path, const Otherwise* otherwise,
                                        SearchEnd* end) const {
  struct Node {
    std::uint64_t cost = 0, from = ~std::uint64_t{0};
    bool done = false;
  };
  const std::uint64_t blocks = sass_.blocks.size();
  std::unordered_map<std::uint64_t, Node> nodes;  // a block, before which so much of the path is explained
  using Entry = std::pair<std::uint64_t, std::uint64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const auto reach = [&](std::uint32_t block, std::size_t at, std::uint64_t cost, std::uint64_t from) {
    const std::uint64_t key = at * blocks + block;
    const auto [node, fresh] = nodes.try_emplace(key, Node{cost, from, false});
    if (!fresh && node->second.cost <= cost) return;
    node->second = {cost, from, false};
    open.emplace(cost, key);
  };
  reach(0, 0, 0, ~std::uint64_t{0});
  while (!open.empty()) {
    const auto [cost, key] = open.top();
    open.pop();
    Node& node = nodes[key];
    if (node.done || node.cost < cost) continue;
    node.done = true;
    const auto b = static_cast<std::uint32_t>(key % blocks);
    std::size_t at = key / blocks;
    if (end != nullptr && at > end->path) *end = {at, {}};
    if (end != nullptr && at == end->path) end->blocks.push_back(b);
    if (!consume(b, path, at, nullptr, otherwise)) continue;
    const SassBlock& block = sass_.blocks[b];
    if (block.ends && at == path.size()) {
      std::vector<std::uint32_t> way;
      for (std::uint64_t k = key; k != ~std::uint64_t{0}; k = nodes[k].from)
        way.push_back(static_cast<std::uint32_t>(k % blocks));
      std::ranges::reverse(way);
      return way;
    }
    const std::uint64_t then = cost + block.end - block.begin + (block.calls ? kCallCost : 0);
    const std::optional<bool> taken = decided_[block.end - 1];
    if (block.target && taken != false) reach(*block.target, at, then, key);
    if (block.fall && (taken != true || !block.target)) reach(*block.fall, at, then, key);
    for (const std::uint32_t t : block.table) reach(t, at, then, key);
  }
  return {};
}

std::uint64_t Walker::length(const std::vector<std::uint32_t>& way) const {
  std::uint64_t all = 0;
  for (const std::uint32_t b : way) all += sass_.blocks[b].end - sass_.blocks[b].begin;
  return all;
}

/// The instructions by which the way differs most from one on which predicated copies run that do not on this one, or the other
/// way round.
std::uint64_t Walker::other_way(const std::vector<std::uint32_t>& path, const std::vector<std::uint32_t>& way) const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> copies;  // by blocks of SASS and PTX: whether any has run
  std::size_t at = 0;
  std::vector<bool> taken;
  for (const std::uint32_t b : way) {
    (void)consume(b, path, at, &taken);
    for (std::size_t m = 0; m < marks_[b].size(); ++m)
      if (marks_[b][m].optional && copies_[marks_[b][m].block] > 1) copies[{b, marks_[b][m].block}] |= taken[m];
  }
  std::uint64_t most = 0;
  const std::uint64_t own = length(way);
  for (const auto& [where, ran] : copies) {
    const Otherwise otherwise{where.first, where.second, !ran};
    const std::vector<std::uint32_t> other = find(path, &otherwise);
    if (other.empty()) continue;
    const std::uint64_t its = length(other);
    most = std::max({most, std::uint64_t{1}, std::max(its, own) - std::min(its, own)});
  }
  return most;
}

/// Which words of the log belong to which instructions: the n-th time that a statement's instruction runs is the n-th time that
/// the path has its block.
void Walker::attach(const LanePath& path, SassPath& out) const {
  std::vector<std::uint32_t> marked;
  std::vector<std::vector<std::uint32_t>> records(plan_.words.size());  // of each block of PTX: where its records are
  for (std::size_t i = 0; i < path.blocks.size(); ++i) {
    if (marked_[path.blocks[i]]) marked.push_back(path.blocks[i]);
    records[path.blocks[i]].push_back(path.at[i]);
  }
  std::vector<std::uint32_t> times(plan_.lines.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> waiting;  // a line, and the use that gets its words
  std::size_t at = 0;
  std::vector<bool> taken;
  for (std::size_t step = 0; step < out.blocks.size(); ++step) {
    const std::uint32_t b = out.blocks[step];
    const SassBlock& block = sass_.blocks[b];
    const std::vector<Mark>& marks = marks_[b];
    (void)consume(b, marked, at, &taken);
    out.first_use.push_back(static_cast<std::uint32_t>(out.uses.size()));
    std::map<std::uint32_t, std::uint32_t> copy;  // of each line: how many instructions with a use this block had already
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const SassInstruction& s = sass_.instructions[i];
      const PtxLine* line = line_of(i);
      if (i + 1 == block.end && block.fall && block.target && (line == nullptr || !line->control)) ++out.guessed_branches;
      if (!has_use(i)) continue;
      const bool guarded = !s.guard.empty() && s.guard != "PT";
      Use use = decided_[i] == false ? kOff : kOn;
      if (guarded && !decided_[i] && (line == nullptr || !line->guarded)) {
        use = kUnknown;  // a predicate of the assembler's own
        if (line != nullptr) {
          const std::uint32_t k = copy[s.line]++;
          std::uint32_t seen = 0, same = 0, all = 0;
          for (std::uint32_t j = block.begin; j < block.end; ++j)
            all += sass_.instructions[j].line == s.line && sass_.instructions[j].guard == s.guard && has_use(j) ? 1 : 0;
          for (const Mark& m : marks) same += m.block == line->block && m.optional ? 1 : 0;
          for (std::size_t m = 0; m < marks.size() && same > 0; ++m)
            if (marks[m].block == line->block && marks[m].optional &&
                seen++ == std::min(same - 1, all > same ? k * same / all : k))
              use = taken[m] ? kOn : kOff;
        }
      }
      const bool address = has_addresses(s.name());
      if (use != kOff && line != nullptr && line->logged != LoggedKind::None && address == (line->space != PtxSpace::None) &&
          (address || line->guarded)) {
        waiting.emplace_back(s.line, out.uses.size());
        ++times[s.line - 1];
      } else if (use == kOn && address && !stack_offset(s)) {
        use = kUnknown;  // an access that no statement's log belongs to
      }
      out.uses.push_back(use);
    }
  }
  for (std::size_t l = 0; l < plan_.lines.size(); ++l)
    if (plan_.lines[l].space != PtxSpace::None && times[l] != records[plan_.lines[l].block].size())
      out.merged_accesses += std::max<std::uint64_t>(times[l], records[plan_.lines[l].block].size()) -
                             std::min<std::uint64_t>(times[l], records[plan_.lines[l].block].size());
  std::vector<std::uint32_t> next(plan_.lines.size(), 0);
  for (const auto& [line, use] : waiting) {
    const PtxLine& l = plan_.lines[line - 1];
    const std::vector<std::uint32_t>& where = records[l.block];
    const std::uint64_t n = next[line - 1]++, all = times[line - 1];
    if (where.empty()) {
      out.uses[use] = kUnknown;
      continue;
    }
    const std::uint64_t index = all == where.size() ? n : std::min<std::uint64_t>(where.size() - 1, n * where.size() / all);
    out.uses[use] = where[index] + l.word;
  }
}

SassPath Walker::walk(const LanePath& path) const {
  SassPath out;
  out.blocks = find(marked_of(path));
  out.found = !out.blocks.empty();
  if (!out.found) return out;
  out.other_way = other_way(marked_of(path), out.blocks);
  attach(path, out);
  return out;
}

}  // namespace sluice::gpu
