// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/gpu/apps/app_checks.h"

// CPU references of Kernelet's and Slate's kernels, independent of their CUDA text.
namespace sluice::gpu {

#define SLUICE_CHECK(NAME) [[nodiscard]] std::string NAME(const LaunchSpec& spec, const HostBuffers& buffers)
SLUICE_CHECK(check_sad);
SLUICE_CHECK(check_mri_q);
SLUICE_CHECK(check_tea);
SLUICE_CHECK(check_gaussian);
SLUICE_CHECK(check_quasirandom);
SLUICE_CHECK(check_transpose);
#undef SLUICE_CHECK

}  // namespace sluice::gpu
