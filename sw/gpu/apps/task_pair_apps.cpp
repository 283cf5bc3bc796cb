// SPDX-License-Identifier: Apache-2.0
// Kernels that Kernelet and Slate run in pairs, beside those of other papers: of Parboil, Rodinia and the SDK, and Kernelet's own
// TEA, each with the shape of a block as there.
#include "sw/gpu/apps/app_rows.h"
#include "sw/gpu/apps/task_pair_checks.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

App sad(std::uint32_t blocks) {
  const std::uint32_t across = blocks < 256 ? 8 : 128, down = blocks / across, width = 16 * across + 32;
  return {launch("SAD", "sad.cu", "sad", {across * down, 1, 1}, {61, 1, 1},
                 {uniform(Type::U8, std::size_t{256} * across * down, 0, 256, 1),
                  uniform(Type::U8, std::size_t{width} * (16 * down + 32), 0, 256, 2),
                  out(Type::U16, std::size_t{across} * down * 16 * 33 * 33), scalar(across), scalar(width)}),
          "Sums of absolute differences", false, check_sad};
}

App mri_q(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 256;
  return {launch("MRIQ", "mri_q.cu", "mri_q", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, n, -1, 1, 2), uniform(Type::F32, n, -1, 1, 3),
                  uniform(Type::F32, 2048, -1, 1, 4), out(Type::F32, n), out(Type::F32, n)}),
          "Image reconstruction", false, check_mri_q};
}

App tea(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 512;
  return {launch("TEA", "tea.cu", "tea", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::U32, n, 0, 4.0e9F), out(Type::U32, n),
                  scalar(std::array<std::uint32_t, 4>{0x01234567, 0x89abcdef, 0xfedcba98, 0x76543210})}),
          "Tiny encryption", false, check_tea};
}

App gaussian(std::uint32_t blocks) {
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 4, height = grid.rows * 4;
  const std::size_t n = std::size_t{width} * height;
  return {launch("GS", "gaussian.cu", "gaussian", {grid.columns, grid.rows, 1}, {4, 4, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, height, -1, 1, 2), out(Type::F32, n), scalar(width),
                  scalar(1U)}),
          "Gaussian elimination", false, check_gaussian};
}

App quasirandom(std::uint32_t blocks) {
  const std::uint32_t n = blocks * 1024;
  return {launch("RG", "quasirandom.cu", "quasirandom", {blocks, 1, 1}, {128, 3, 1},
                 {out(Type::F32, std::size_t{n} * 3), scalar(1U), scalar(n)}),
          "Quasi-random numbers", false, check_quasirandom};
}

App transpose(std::uint32_t blocks) {
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 32, height = grid.rows * 32;
  const std::size_t n = std::size_t{width} * height;
  return {launch("TR", "transpose.cu", "transpose", {grid.columns, grid.rows, 1}, {32, 8, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n), scalar(width), scalar(height)}),
          "Transpose", false, check_transpose};
}

constexpr AppRow kTaskPairRows[] = {{"SAD", sad, 64, 8192},           {"MRIQ", mri_q, 40, 16384},
                                    {"TEA", tea, 200, 262144},        {"GS", gaussian, 1500, 1048576},
                                    {"RG", quasirandom, 100, 131072}, {"TR", transpose, 200, 262144}};

}  // namespace

std::span<const AppRow> task_pair_rows() { return kTaskPairRows; }

}  // namespace sluice::gpu
