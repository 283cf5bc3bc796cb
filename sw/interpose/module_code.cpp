// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/module_code.h"

#include <utility>

namespace sluice::interpose {

Code made(const std::string& ptx, bool variables, unsigned registers, const gpu::Assemble& assemble) {
  gpu::RewrittenModule module = gpu::rewrite_module(ptx, runtime_text(), assemble, registers);
  return {std::move(module.cubin), std::move(module.kernels), variables};
}

}  // namespace sluice::interpose
