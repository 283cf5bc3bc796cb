// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace sluice::gpu {

/// Multiply-adds that never run, in a transformed kernel. The assembler (ptxas 13.0) spreads what either could do, moves and
/// additions, over the integer and the multiply-add pipe so that a function has as many instructions for one as for the other,
/// wherever they stand. The runtime has the more integer instructions by about these; without them the kernel's own additions are
/// moved to the multiply-add pipe (docs/reference/how_sharing_works.md).
constexpr unsigned kCounterweight = 100;
[[nodiscard]] std::string counterweight(unsigned multiply_adds);

/// How many to try in place of kCounterweight: fewer where the integer pipe holds a kernel's loops up, more where the
/// multiply-add pipes do. @param cubin  assembled with kCounterweight. @return nothing where neither does by more than 2 % of the
/// cycles
[[nodiscard]] std::optional<unsigned> other_counterweight(std::string_view cubin, const std::string& entry);

/// The kernel's loops take less by more than 2 %.
[[nodiscard]] bool takes_less(std::string_view cubin, std::string_view than, const std::string& entry);

}  // namespace sluice::gpu
