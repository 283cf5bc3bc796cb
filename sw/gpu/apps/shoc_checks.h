// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "sw/gpu/apps/app_checks.h"

// CPU references of EffiSha's kernels, independent of their CUDA text.
namespace sluice::gpu {

constexpr std::uint32_t kMd5Number = 4242, kMd5Digit = 7;  ///< the key that is searched for: thread and last digit
[[nodiscard]] std::array<std::uint32_t, 4> md5_of_key(std::uint32_t number, std::uint32_t digit);

#define SLUICE_CHECK(NAME) [[nodiscard]] std::string NAME(const LaunchSpec& spec, const HostBuffers& buffers)
SLUICE_CHECK(check_fft);
SLUICE_CHECK(check_molecular_dynamics);
SLUICE_CHECK(check_md5_hash);
SLUICE_CHECK(check_reduction);
SLUICE_CHECK(check_scan);
SLUICE_CHECK(check_sort);
SLUICE_CHECK(check_spmv);
SLUICE_CHECK(check_stencil2d);
SLUICE_CHECK(check_triad);
#undef SLUICE_CHECK

}  // namespace sluice::gpu
