// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sw/core/program.h"
#include "sw/trace/sass_text.h"

namespace sluice {

/// The part that the next of `of` equal shares of `total` gets, so that all add up to it: share 0, 1, ... of - 1, and on.
[[nodiscard]] std::uint64_t share(std::uint64_t total, std::uint64_t of, std::uint64_t index);

/// A program as a graph of basic blocks, and ways of warps through it that meet the measured counts. How often an edge is gone
/// follows from the counts of the blocks, for most edges: what comes to a block goes from it. At a branch a warp takes the edge
/// that is furthest behind (where edges are not known: to the block that is), so trip counts and branches are met over the warps,
/// without chance. Where threads of a warp part (as often as measured), the warp goes both ways, to where they join (BSSY).
class ProgramWalk {
 public:
  struct Block {
    std::uint32_t begin = 0, end = 0;  ///< instructions, by index
    std::uint64_t warps = 0;           ///< visits in all
  };
  struct Visit {
    std::uint32_t block = 0;
    std::uint32_t nth = 0;      ///< of this warp's visits to the block, from 0
    std::uint64_t ordinal = 0;  ///< of all visits to it
  };

  explicit ProgramWalk(const KernelProgram& program);

  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<SassText>& texts() const { return texts_; }
  /// The way of the next warp of the grid; ends with the counts, whatever they are.
  std::vector<Visit> next_warp();
  void restart();  ///< the grid is launched again

 private:
  static constexpr std::uint32_t kEnd = 0xffffffff;
  enum class Leave : std::uint8_t { Fall, Branch, Exit, Call, Return, Table };
  struct Edges {
    Leave leave = Leave::Fall;
    bool conditional = false;
    std::uint32_t fall = kEnd, target = kEnd;
    std::uint32_t region = kEnd;                ///< BSSY inside: where the threads join
    std::uint32_t barrier = 0;                  ///< of BSSY and BSYNC
    bool joins = false;                         ///< begins with BSYNC
    std::uint64_t divergent = 0;                ///< of the branch
    std::uint64_t ends = 0;                     ///< warps that a conditional EXIT ends
    std::optional<std::uint64_t> falls, jumps;  ///< how often `fall` and `target` are taken, where the counts say it
  };
  struct Taken {
    std::uint64_t falls = 0, jumps = 0;
  };
  struct Pending {
    std::uint32_t side, join;
  };
  struct Warp {
    std::vector<Pending> pending;                                  ///< other sides of branches that it has to go
    std::vector<std::pair<std::uint32_t, std::uint32_t>> regions;  ///< barrier, join
    std::vector<std::uint32_t> calls;                              ///< where to return to
  };

  void make_blocks(const KernelProgram& program);
  void make_edges(const KernelProgram& program);
  void count_edges();
  [[nodiscard]] std::uint32_t choose(std::span<const std::uint32_t> blocks) const;
  [[nodiscard]] bool behind(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t next(std::uint32_t at, std::uint64_t ordinal, Warp& warp);
  std::uint32_t branch(std::uint32_t at, std::uint64_t ordinal, Warp& warp);
  [[nodiscard]] bool falls(std::uint32_t at) const;

  std::vector<SassText> texts_;
  std::vector<Block> blocks_;
  std::vector<Edges> edges_;
  std::vector<std::uint32_t> entries_;  ///< blocks that no branch names: those of tables
  std::vector<std::uint64_t> done_;     ///< visits to each block
  std::vector<Taken> taken_;            ///< edges from it that were gone
  std::vector<std::uint32_t> visits_;   ///< of the warp that walks
};

}  // namespace sluice
