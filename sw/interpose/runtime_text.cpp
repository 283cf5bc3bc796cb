// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/module_code.h"

// PTX of sw/gpu/runtime/quota_runtime.cuh, as nvcc made it at build time: a program under `sluice run` may have no compiler.
asm(".section .rodata\n.globl sluice_runtime_ptx\n.hidden sluice_runtime_ptx\nsluice_runtime_ptx:\n.incbin \"" SLUICE_RUNTIME_PTX
    "\"\n.byte 0\n.previous\n");
extern "C" const char sluice_runtime_ptx[];  // NOLINT(modernize-avoid-c-arrays)

namespace sluice::interpose {
const char* runtime_text() { return sluice_runtime_ptx; }
}  // namespace sluice::interpose
