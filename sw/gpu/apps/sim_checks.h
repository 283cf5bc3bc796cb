// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sw/gpu/apps/app_checks.h"

// CPU references of SiM's kernels, independent of their CUDA text.
namespace sluice::gpu {

#define SLUICE_CHECK(NAME) [[nodiscard]] std::string NAME(const LaunchSpec& spec, const HostBuffers& buffers)
SLUICE_CHECK(check_binomial_options);
SLUICE_CHECK(check_fdtd3d);
SLUICE_CHECK(check_lava_md);
SLUICE_CHECK(check_nbody);
SLUICE_CHECK(check_particle_filter);
SLUICE_CHECK(check_tpacf);
#undef SLUICE_CHECK

}  // namespace sluice::gpu
