// SPDX-License-Identifier: Apache-2.0
#pragma once
// A module's code as one text: in the cache, and from the compiler's process.
#include <optional>
#include <string>

#include "sw/interpose/module_code.h"

namespace sluice::interpose {

[[nodiscard]] std::string packed(const Code& code);
/// @return nothing when the text is no code, or a part of one
[[nodiscard]] std::optional<Code> unpacked(const std::string& text);

}  // namespace sluice::interpose
