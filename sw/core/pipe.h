// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice {

/// Pipelines of a scheduler's own, since Volta. Fma: single precision. Imad: multiply-adds of whole numbers, on the heavy half of
/// Fma's. Int: other whole-number operations, comparisons, selections. Xu: special functions, conversions. Lane: exchange between
/// lanes. Constant: loads from constant memory. Special: special registers. None: control, and the uniform data path.
enum class Pipe : std::uint8_t { Fma, Imad, Int, Half, Xu, Dp, Tensor, Lane, Constant, Special, Memory, None };
inline constexpr std::size_t kPipes = 12;

struct PipeConfig {
  std::uint32_t interval = 1, latency = 1;  ///< cycles between two warp instructions; from an instruction to its result
};

}  // namespace sluice
