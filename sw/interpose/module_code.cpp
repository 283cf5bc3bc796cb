// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/module_code.h"

#include <algorithm>

namespace sluice::interpose {

Code made(const std::string& ptx, bool variables, unsigned registers, const std::function<Assembler>& assembler) {
  Code code;
  std::string last;
  const auto assemble = [&](const std::string& text) {
    if (text == last) return;
    last.clear();
    code.cubin = assembler(text);
    last = text;
  };
  gpu::RewrittenModule module = gpu::rewrite_module(ptx, runtime_text(), assemble, registers);
  const bool any = std::ranges::any_of(module.kernels, [](const auto& k) { return !k.second.refusal; });
  if (any)
    assemble(module.text);
  else
    code.cubin.clear();
  code.kernels = std::move(module.kernels);
  code.variables = variables;
  return code;
}

}  // namespace sluice::interpose
