// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sw/gpu/apps/apps.h"

// CPU references of the sixteen kernels, independent of their CUDA text: each returns what is wrong, or nothing.
namespace sluice::gpu {

#define SLUICE_CHECK(NAME) [[nodiscard]] std::string NAME(const LaunchSpec& spec, const HostBuffers& buffers)
SLUICE_CHECK(check_black_scholes);
SLUICE_CHECK(check_bfs);
SLUICE_CHECK(check_dxt);
SLUICE_CHECK(check_hotspot);
SLUICE_CHECK(check_denoise);
SLUICE_CHECK(check_knn);
SLUICE_CHECK(check_lbm);
SLUICE_CHECK(check_matrix_multiply);
SLUICE_CHECK(check_matrix_vector);
SLUICE_CHECK(check_neural_network);
SLUICE_CHECK(check_micro_fma);
SLUICE_CHECK(check_micro_sfu);
SLUICE_CHECK(check_micro_stream);
SLUICE_CHECK(check_micro_shared);
SLUICE_CHECK(check_micro_l1);
SLUICE_CHECK(check_micro_latency);
#undef SLUICE_CHECK

}  // namespace sluice::gpu
