// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/behaviour.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "sw/gpu/rewrite/flow.h"

namespace sluice::gpu {

namespace {

using Names = std::set<std::string_view>;

bool has(std::string_view op, std::string_view part) { return op.find(part) != std::string_view::npos; }
bool is_op(std::string_view op, std::string_view name) {
  return op.starts_with(name) && (op.size() == name.size() || op[name.size()] == '.');
}

/// Destinations and sources of an instruction. What a store writes is no register; a call's results are its destinations.
struct Operands {
  std::vector<std::string_view> to, from;
};
Operands operands_of(const Statement& s) {
  Operands o;
  std::size_t cut = 0;
  int depth = 0;
  for (; cut < s.operands.size() && (depth > 0 || s.operands[cut] != ','); ++cut) {
    const char c = s.operands[cut];
    depth += c == '{' || c == '(' || c == '[' ? 1 : c == '}' || c == ')' || c == ']' ? -1 : 0;
  }
  const bool writes_memory =
      (is_op(s.op, "st") && !has(s.op, ".param")) || is_op(s.op, "red") || is_op(s.op, "bra") || is_op(s.op, "brx");
  const bool call = is_op(s.op, "call");
  if (writes_memory || (call && !s.operands.starts_with('('))) {
    o.from = words_of(s.operands);
  } else {
    o.to = words_of(s.operands.substr(0, cut));
    o.from = words_of(s.operands.substr(cut));
  }
  if (!s.guard.empty()) o.from.push_back(s.guard);
  return o;
}

/// Special registers that may differ from thread to thread of a block.
bool differs(std::string_view word) {
  for (const std::string_view name : {"%tid", "%laneid", "%warpid", "%lanemask_", "%clock", "%globaltimer", "%smid", "%pm"})
    if (word.starts_with(name)) return true;
  return false;
}

/// What an instruction gives may differ from thread to thread although its sources do not.
bool makes_difference(std::string_view op) {
  if (is_op(op, "ld") || is_op(op, "ldu")) return !has(op, ".param") && !has(op, ".const") && !has(op, ".nc");
  for (const std::string_view name : {"atom", "shfl", "vote", "match", "activemask", "redux", "elect", "call", "tex", "suld",
                                      "sust", "tld4", "alloca", "stacksave", "mbarrier", "ldmatrix", "wgmma", "mma", "wmma"})
    if (is_op(op, name)) return true;
  return false;
}

bool is_barrier(std::string_view op) {
  return (is_op(op, "bar") || is_op(op, "barrier")) && !has(op, ".warp") && !has(op, ".cluster");
}
/// Waits for all threads of the block: no count of its own.
bool of_all_threads(const Statement& s) {
  if (!is_barrier(s.op) || has(s.op, ".arrive")) return false;
  const auto commas = std::ranges::count(s.operands, ',');
  return has(s.op, ".red") ? commas < 3 : commas < 1;
}

bool is_global(std::string_view op) {
  return !has(op, ".shared") && !has(op, ".local") && !has(op, ".param") && !has(op, ".const");
}
/// Reads global memory anew each time, whatever the compiler knows.
bool rereads(std::string_view op) {
  if (is_op(op, "atom") || is_op(op, "multimem")) return is_global(op);
  if (!is_op(op, "ld") || !is_global(op)) return false;
  return has(op, ".volatile") || has(op, ".relaxed") || has(op, ".acquire") || has(op, ".mmio") || has(op, ".cv") ||
         has(op, ".cg");
}
bool is_fence(std::string_view op) { return is_op(op, "fence") || is_op(op, "membar") || is_barrier(op); }

/// Blocks that some threads of a block may run and others not, and registers that differ.
struct Divergence {
  Divergence(const Flow& flow, Names differing) : registers(std::move(differing)), reached(flow.blocks.size(), false) {
    std::vector<bool> spread(flow.blocks.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
        for (const Statement& s : flow.blocks[b].statements) {
          const Operands o = operands_of(s);
          if (o.to.empty() || is_op(s.op, "bra") || std::ranges::all_of(o.to, [&](auto w) { return registers.contains(w); }))
            continue;
          const bool differ =
              reached[b] || makes_difference(s.op) ||
              (!is_barrier(s.op) && std::ranges::any_of(o.from, [&](auto w) { return differs(w) || registers.contains(w); }));
          if (differ) {
            registers.insert(o.to.begin(), o.to.end());
            changed = true;
          }
        }
        if (spread[b] || flow.blocks[b].next.size() < 2) continue;
        const Statement& last = flow.blocks[b].statements.back();
        const bool splits = reached[b] ||
                            std::ranges::any_of(words_of(last.operands), [&](auto w) { return registers.contains(w); }) ||
                            registers.contains(last.guard);
        if (!splits) continue;
        spread[b] = changed = true;
        for (const std::size_t to : flow.depends_on(b)) reached[to] = true;
      }
    }
  }
  Names registers;
  std::vector<bool> reached;
};

/// Blocks of a loop: those of a component, or the way around that one branch closes.
using LoopBlocks = std::vector<bool>;

/// All loops, those inside others as well: of one header there may be several, which share blocks.
std::vector<LoopBlocks> loops_in(const Flow& flow) {
  const std::size_t n = flow.blocks.size();
  std::vector<LoopBlocks> loops;
  for (std::size_t c = 0; c < flow.in_loop.size(); ++c)
    if (flow.in_loop[c]) {
      loops.emplace_back(n);
      for (std::size_t b = 0; b < n; ++b) loops.back()[b] = flow.component[b] == c;
    }
  std::vector<std::vector<std::size_t>> from(n);
  for (std::size_t b = 0; b < n; ++b)
    for (const std::size_t to : flow.blocks[b].next)
      if (to != flow.exit) from[to].push_back(b);
  std::vector<char> state(n, 0);  // 1: on the path, 2: done
  for (std::size_t root = 0; root < n; ++root) {
    if (state[root] != 0) continue;
    std::vector<std::pair<std::size_t, std::size_t>> path = {{root, 0}};
    state[root] = 1;
    while (!path.empty()) {
      auto& [b, at] = path.back();
      if (at == flow.blocks[b].next.size()) {
        state[b] = 2;
        path.pop_back();
        continue;
      }
      const std::size_t to = flow.blocks[b].next[at++];
      if (to == flow.exit) continue;
      if (state[to] == 1) {  // closes a loop with the header `to`: all that reaches b without it
        LoopBlocks loop(n, false);
        loop[to] = true;
        for (std::vector<std::size_t> open = {b}; !open.empty();) {
          const std::size_t inside = open.back();
          open.pop_back();
          if (loop[inside]) continue;
          loop[inside] = true;
          for (const std::size_t before : from[inside])
            if (flow.component[before] == flow.component[to]) open.push_back(before);
        }
        loops.push_back(std::move(loop));
      } else if (state[to] == 0) {
        state[to] = 1;
        path.emplace_back(to, 0);
      }
    }
  }
  return loops;
}

/// A loop leaves, or goes on, by what it reads in global memory.
bool loop_waits(const Flow& flow, const LoopBlocks& loop, bool calls_reread) {
  bool rereading = false, fenced = false, reads = false;
  Names memory;  // registers that hold what was read in the loop, or follow from it
  const auto each = [&](const auto& what) {
    for (std::size_t b = 0; b < flow.blocks.size(); ++b)
      if (loop[b])
        for (const Statement& s : flow.blocks[b].statements) what(s);
  };
  each([&](const Statement& s) {
    const bool call = is_op(s.op, "call") && calls_reread;
    rereading = rereading || rereads(s.op) || call || is_op(s.op, "nanosleep");
    fenced = fenced || is_fence(s.op) || call;
    reads = reads || (is_op(s.op, "ld") && is_global(s.op) && !has(s.op, ".nc"));
  });
  if (!rereading && !(fenced && reads)) return false;
  for (std::size_t before = ~std::size_t{0}; before != memory.size();) {
    before = memory.size();
    each([&](const Statement& s) {
      const Operands o = operands_of(s);
      const bool loaded = makes_difference(s.op) || is_barrier(s.op);  // a vote or a barrier passes on what one thread read
      if (loaded || std::ranges::any_of(o.from, [&](auto w) { return memory.contains(w); }))
        memory.insert(o.to.begin(), o.to.end());
    });
  }
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    if (!loop[b] || flow.blocks[b].next.size() < 2) continue;
    const bool leaves = std::ranges::any_of(flow.blocks[b].next, [&](std::size_t to) { return to == flow.exit || !loop[to]; });
    const Statement& last = flow.blocks[b].statements.back();
    if (leaves &&
        (memory.contains(last.guard) || std::ranges::any_of(words_of(last.operands), [&](auto w) { return memory.contains(w); })))
      return true;
  }
  return false;
}

}  // namespace

Behaviour behaviour_of(const std::string& ptx, const Reach& reach) {
  struct Function {
    const Item* item;
    Flow flow;
    bool barrier = false, rereads_memory = false;  // itself, or what it calls
  };
  std::vector<Function> functions;
  for (const Item* item : reach.functions) {
    Function f{item, flow_of(std::string_view(ptx).substr(item->body, item->end - item->body))};
    for (const FlowBlock& block : f.flow.blocks)
      for (const Statement& s : block.statements) {
        f.barrier = f.barrier || of_all_threads(s);
        f.rereads_memory = f.rereads_memory || rereads(s.op) || (is_op(s.op, "ld") && is_global(s.op) && !has(s.op, ".nc"));
      }
    functions.push_back(std::move(f));
  }
  const auto called = [&](const Statement& s, bool Function::*what) {
    const std::vector<std::string_view> words = words_of(s.operands);
    const bool known = std::ranges::any_of(words, [&](auto w) { return reach.names.contains(std::string(w)); });
    return std::ranges::any_of(functions, [&](const Function& f) {
      return f.*what && f.item->kind == Item::Kind::Function && (!known || std::ranges::find(words, f.item->name) != words.end());
    });
  };
  for (bool changed = true; changed;) {  // through calls
    changed = false;
    for (Function& f : functions)
      for (bool Function::*what : {&Function::barrier, &Function::rereads_memory})
        for (const FlowBlock& block : f.flow.blocks)
          for (const Statement& s : block.statements)
            if (!(f.*what) && is_op(s.op, "call") && called(s, what)) f.*what = changed = true;
  }
  Behaviour b;
  for (const Function& f : functions) {
    Names differing;
    const std::string_view head = std::string_view(ptx).substr(f.item->begin, f.item->body - f.item->begin);
    if (f.item->kind == Item::Kind::Function)  // whatever the callers hand over
      for (const std::string_view word : words_of(head)) differing.insert(word);
    const Divergence divergence(f.flow, std::move(differing));
    for (std::size_t i = 0; i < f.flow.blocks.size(); ++i)
      for (const Statement& s : f.flow.blocks[i].statements) {
        const bool barrier = of_all_threads(s) || (is_op(s.op, "call") && called(s, &Function::barrier));
        b.bypassed_barrier = b.bypassed_barrier || (barrier && (divergence.reached[i] || divergence.registers.contains(s.guard)));
      }
    for (const LoopBlocks& loop : loops_in(f.flow)) {
      bool calls_reread = false;
      for (std::size_t i = 0; i < f.flow.blocks.size(); ++i)
        if (loop[i])
          for (const Statement& s : f.flow.blocks[i].statements)
            calls_reread = calls_reread || (is_op(s.op, "call") && called(s, &Function::rereads_memory));
      b.waits = b.waits || loop_waits(f.flow, loop, calls_reread);
    }
  }
  return b;
}

}  // namespace sluice::gpu
