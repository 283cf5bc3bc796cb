// SPDX-License-Identifier: Apache-2.0
// The papers' kernels, from the text that the GPU gets, run on the host and compared with their CPU references: what a kernel
// computes is right before a GPU has seen it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_rows.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/apps.h"
#include "tests/gpu/host_cuda.h"

namespace fft_text {
#include "sw/gpu/apps/fft.cu"  // NOLINT
}
#undef POINTS
#undef ROW
namespace molecular_dynamics_text {
#include "sw/gpu/apps/molecular_dynamics.cu"  // NOLINT
}
#undef NEIGHBOURS
namespace md5_hash_text {
#include "sw/gpu/apps/md5_hash.cu"  // NOLINT
}
#undef KEYS
#undef F
#undef G
#undef H
#undef I
#undef STEP
#undef FOUR
namespace reduction_text {
#include "sw/gpu/apps/reduction.cu"  // NOLINT
}
#undef THREADS
#undef EACH
namespace scan_text {
#include "sw/gpu/apps/scan.cu"  // NOLINT
}
#undef THREADS
#undef EACH
namespace sort_text {
#include "sw/gpu/apps/sort.cu"  // NOLINT
}
#undef THREADS
#undef EACH
#undef BITS
namespace spmv_text {
#include "sw/gpu/apps/spmv.cu"  // NOLINT
}
#undef THREADS
namespace stencil2d_text {
#include "sw/gpu/apps/stencil2d.cu"  // NOLINT
}
#undef SIDE
namespace triad_text {
#include "sw/gpu/apps/triad.cu"  // NOLINT
}
namespace binomial_options_text {
#include "sw/gpu/apps/binomial_options.cu"  // NOLINT
}
#undef THREADS
#undef STEPS
#undef EACH
namespace fdtd3d_text {
#include "sw/gpu/apps/fdtd3d.cu"  // NOLINT
}
#undef WIDTH
#undef HEIGHT
#undef RADIUS
namespace lava_md_text {
#include "sw/gpu/apps/lava_md.cu"  // NOLINT
}
#undef PARTICLES
#undef THREADS
namespace nbody_text {
#include "sw/gpu/apps/nbody.cu"  // NOLINT
}
#undef THREADS
#undef TILE
namespace particle_filter_text {
#include "sw/gpu/apps/particle_filter.cu"  // NOLINT
}
namespace tpacf_text {
#include "sw/gpu/apps/tpacf.cu"  // NOLINT
}
#undef THREADS
#undef BINS
#undef COPIES
namespace sad_text {
#include "sw/gpu/apps/sad.cu"  // NOLINT
}
#undef THREADS
#undef PLACES
#undef EACH
namespace mri_q_text {
#include "sw/gpu/apps/mri_q.cu"  // NOLINT
}
#undef SAMPLES
namespace tea_text {
#include "sw/gpu/apps/tea.cu"  // NOLINT
}
namespace gaussian_text {
#include "sw/gpu/apps/gaussian.cu"  // NOLINT
}
namespace quasirandom_text {
#include "sw/gpu/apps/quasirandom.cu"  // NOLINT
}
#undef DIMENSIONS
#undef BITS
#undef EACH
namespace transpose_text {
#include "sw/gpu/apps/transpose.cu"  // NOLINT
}
#undef TILE
#undef ROWS

namespace sluice::gpu {
namespace {

HostBuffers buffers_of(const LaunchSpec& spec) {
  HostBuffers buffers;
  for (const ArgumentSpec& a : spec.arguments) {
    std::vector<std::byte> bytes;
    const auto keep = [&](const auto& values) {
      bytes.resize(values.size() * sizeof(values[0]));
      std::memcpy(bytes.data(), values.data(), bytes.size());
    };
    if (a.is_buffer() && a.kind == ArgumentSpec::Kind::Out)
      bytes.assign(a.bytes(), std::byte{0xa5});
    else if (a.is_buffer())
      switch (a.type) {
        case ElementType::F32: keep(host_fill<float>(a)); break;
        case ElementType::F64: keep(host_fill<double>(a)); break;
        case ElementType::U32: keep(host_fill<std::uint32_t>(a)); break;
        case ElementType::U8: keep(host_fill<std::uint8_t>(a)); break;
        default: ADD_FAILURE() << "an input of a type that no kernel here has";
      }
    buffers.push_back(std::move(bytes));
  }
  return buffers;
}

/// A kernel's argument from a buffer or a scalar.
template <class T>
T argument(const LaunchSpec& spec, HostBuffers& buffers, std::size_t i) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(buffers[i].data());
  } else {
    EXPECT_EQ(spec.arguments[i].value.size(), sizeof(T)) << spec.label << ": argument " << i;
    T value;
    std::memcpy(&value, spec.arguments[i].value.data(), sizeof(T));
    return value;
  }
}

template <class... T, std::size_t... I>
std::function<void()> call(void (*kernel)(T...), const LaunchSpec& spec, HostBuffers& buffers,
                           std::index_sequence<I...> /*all*/) {
  EXPECT_EQ(spec.arguments.size(), sizeof...(T)) << spec.label;
  return [=, &spec, &buffers] { kernel(argument<T>(spec, buffers, I)...); };
}

template <class... T>
void expect_right(const std::string& name, std::uint32_t blocks, void (*kernel)(T...)) {
  const App app = make_app(name, AppSize{blocks, 1});
  HostBuffers buffers = buffers_of(app.launch);
  const std::function<void()> body = call(kernel, app.launch, buffers, std::index_sequence_for<T...>());
  const auto& grid = app.launch.grid;
  const auto& block = app.launch.block;
  for (blockIdx.z = 0; blockIdx.z < grid[2]; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid[1]; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid[0]; ++blockIdx.x) host_cuda::Block().run({block[0], block[1], block[2]}, body);
  EXPECT_EQ(app.check({app.launch, buffers}), "") << name;
}

#define SLUICE_RIGHT(NAME, BLOCKS, KERNEL) \
  TEST(AppsOnHost, NAME) { expect_right(#NAME, BLOCKS, KERNEL); }
SLUICE_RIGHT(FFT, 5, fft_text::fft)
SLUICE_RIGHT(MD, 3, molecular_dynamics_text::molecular_dynamics)
SLUICE_RIGHT(MD5, 12, md5_hash_text::md5_hash)
SLUICE_RIGHT(RED, 5, reduction_text::reduction)
SLUICE_RIGHT(SCAN, 4, scan_text::scan)
SLUICE_RIGHT(SORT, 5, sort_text::radix_sort)
SLUICE_RIGHT(SPMV, 20, spmv_text::spmv)
SLUICE_RIGHT(ST2D, 12, stencil2d_text::stencil2d)
SLUICE_RIGHT(TRIAD, 10, triad_text::triad)
SLUICE_RIGHT(BO, 2, binomial_options_text::binomial_options)
SLUICE_RIGHT(FD, 6, fdtd3d_text::fdtd3d)
SLUICE_RIGHT(LM, 128, lava_md_text::lava_md)
SLUICE_RIGHT(NB, 3, nbody_text::nbody)
SLUICE_RIGHT(PF, 3, particle_filter_text::particle_filter)
SLUICE_RIGHT(TP, 2, tpacf_text::tpacf)
SLUICE_RIGHT(SAD, 16, sad_text::sad)
SLUICE_RIGHT(MRIQ, 3, mri_q_text::mri_q)
SLUICE_RIGHT(TEA, 5, tea_text::tea)
SLUICE_RIGHT(GS, 50, gaussian_text::gaussian)
SLUICE_RIGHT(RG, 5, quasirandom_text::quasirandom)
SLUICE_RIGHT(TR, 10, transpose_text::transpose)

TEST(Apps, EveryKernelOfAPaperHasASizeForItsTimeAndForEqualLengths) {
  for (const char* paper : {"effisha", "sim", "kernelet", "slate"})
    for (const PaperKernel& k : paper_kernels(paper)) {
      EXPECT_GT(measured_size(k.app, kEqualLength).passes, 0U);
      if (!k.milliseconds) continue;
      EXPECT_GT(measured_size(k.app, *k.milliseconds).passes, 0U);
      // As a scenario has it: rounded to picoseconds, and back.
      EXPECT_GT(measured_size(k.app, static_cast<double>(std::llround(*k.milliseconds * 1e9)) * 1e-9).passes, 0U);
    }
  EXPECT_THROW((void)measured_size("FFT", 3), InputError);
}

TEST(Apps, PassesAreAnAxisThatTheKernelDoesNotRead) {
  EXPECT_EQ(make_app("FFT", AppSize{100, 7}).launch.grid, (std::array<std::uint32_t, 3>{100, 7, 1}));
  EXPECT_EQ(make_app("TR", AppSize{64, 7}).launch.grid, (std::array<std::uint32_t, 3>{8, 8, 7}));
  EXPECT_EQ(make_app("HOT", AppSize{0, 3}).launch.grid[2], 3U);
}

}  // namespace
}  // namespace sluice::gpu
