// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a module becomes: machine code, and what is known about its kernels. Needs no driver.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw/gpu/rewrite/gate.h"

namespace sluice::interpose {

[[nodiscard]] const char* runtime_text();

/// A module as the driver gets it: machine code of the kernels as they are with the transformed ones beside them.
struct Code {
  std::vector<char> cubin;  ///< empty: no kernel has a transformed form
  std::map<std::string, gpu::ModuleKernel> kernels;
  bool variables = false;  ///< it has variables: a second copy of it beside the program's would have its own
};

/// @param registers  of a thread of the program's own kernel; 0: not known
[[nodiscard]] inline Code made(const std::string& ptx, bool variables, unsigned registers, const gpu::Assemble& assemble) {
  gpu::RewrittenModule module = gpu::rewrite_module(ptx, runtime_text(), assemble, registers);
  return {std::move(module.cubin), std::move(module.kernels), variables};
}

/// As one text: in the cache, and from the compiler's process.
[[nodiscard]] std::string packed(const Code& code);
/// @return nothing when the text is no code, or a part of one
[[nodiscard]] std::optional<Code> unpacked(const std::string& text);

}  // namespace sluice::interpose
