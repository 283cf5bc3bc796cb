// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice::gpu {

/// One instruction of PTX.
struct Statement {
  std::string_view guard;  ///< "%p1" of "@%p1" and "@!%p1"; empty: always
  std::string_view op;     ///< "ld.global.u32"
  std::string_view operands;
};

/// Instructions that run one after the other.
struct FlowBlock {
  std::vector<Statement> statements;
  std::vector<std::size_t> next;  ///< blocks that may follow; Flow::exit where the function ends
};

/// The control-flow graph of a function. Instructions that only some threads perform by a guard stay in their block, branches and
/// ends excepted. `trap` counts as an instruction that goes on: what becomes of the threads is the same for all.
struct Flow {
  std::vector<FlowBlock> blocks;            ///< the first is where the function begins
  std::size_t exit = 0;                     ///< = blocks.size()
  std::vector<std::size_t> post_dominator;  ///< of each block: the nearest block (or exit) that every way to the end passes
  std::vector<std::size_t> component;       ///< blocks of one loop (every one reachable from every other) have one number
  std::vector<bool> in_loop;                ///< of each component: it has a way around
  [[nodiscard]] std::vector<std::size_t> depends_on(std::size_t branch) const;  ///< blocks that run or not as `branch` decides
};

/// @param body  normalised text from "{" to "}"; must outlive the result
[[nodiscard]] Flow flow_of(std::string_view body);

}  // namespace sluice::gpu
