// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace sluice::gpu {

/// The user's text may return from a kernel before its end (a `return` in the body of the __global__ function of that name, or in
/// a macro), so that some threads may be done while others are at a barrier. Errs on the side of yes: where no such function is
/// seen (a macro makes it), any kernel's return counts. PTX no longer shows it: the compiler has made branches of the returns.
/// @param kernel  name as in a host launch, template arguments included
[[nodiscard]] bool has_early_return(const std::string& text, const std::string& kernel);

/// Text without comments, string and character literals; line breaks stay.
[[nodiscard]] std::string code_only(const std::string& text);

}  // namespace sluice::gpu
