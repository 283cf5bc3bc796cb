// SPDX-License-Identifier: Apache-2.0
// SiM's kernels: six of the SDK, Rodinia and Parboil, each with the shape of a block as there. The seventh is EffiSha's MD5Hash.
#include "sw/gpu/apps/app_rows.h"
#include "sw/gpu/apps/sim_checks.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

App binomial_options(std::uint32_t blocks) {
  return {launch("BO", "binomial_options.cu", "binomial_options", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::F32, blocks, 5, 30, 1), uniform(Type::F32, blocks, 1, 100, 2),
                  uniform(Type::F32, blocks, 0.25F, 10, 3), out(Type::F32, blocks), scalar(0.02F), scalar(0.3F)}),
          "Binomial options", false, check_binomial_options};
}

App fdtd3d(std::uint32_t blocks) {
  const std::uint32_t planes = blocks < 64 ? 8 : 376;
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 32 + 8, rows = grid.rows * 16 + 8;
  const std::size_t n = std::size_t{width} * rows * (planes + 8);
  return {launch("FD", "fdtd3d.cu", "fdtd3d", {grid.columns, grid.rows, 1}, {32, 16, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n), scalar(width), scalar(rows), scalar(planes), scalar(0.4F),
                  scalar(0.1F), scalar(-0.05F), scalar(0.02F), scalar(-0.01F)}),
          "Finite differences", false, check_fdtd3d};
}

App lava_md(std::uint32_t blocks) {
  const std::uint32_t layers = std::max(blocks / 64, 1U), boxes = layers * 64;
  const std::size_t n = std::size_t{boxes} * 100;
  return {launch("LM", "lava_md.cu", "lava_md", {boxes, 1, 1}, {128, 1, 1},
                 {uniform(Type::F64, n * 4, 0.1F, 1, 1), uniform(Type::F64, n, 0.1F, 1, 2), out(Type::F64, n * 4), scalar(layers),
                  scalar(0.5)}),
          "Particles in boxes", false, check_lava_md};
}

App nbody(std::uint32_t blocks) {
  const std::uint32_t sources = blocks < 64 ? 2048 : 32768;
  const std::size_t n = std::size_t{blocks} * 256 * 4;
  return {launch("NB", "nbody.cu", "nbody", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, std::size_t{sources} * 4, -1, 1, 2), out(Type::F32, n),
                  scalar(sources), scalar(0.01F)}),
          "Gravitation", false, check_nbody};
}

App particle_filter(std::uint32_t blocks) {
  const std::uint32_t weights = blocks < 64 ? 1024 : 65536;
  const std::size_t n = std::size_t{blocks} * 128;
  const float weight = 1.0F / static_cast<float>(weights);
  return {launch("PF", "particle_filter.cu", "particle_filter", {blocks, 1, 1}, {128, 1, 1},
                 {buffer(Kind::In, Type::F32, weights, SLUICE_FILL_IOTA, 1, weight, weight), uniform(Type::F32, n, 0, 1, 2),
                  uniform(Type::F32, weights, -100, 100, 3), uniform(Type::F32, weights, -100, 100, 4), out(Type::F32, n),
                  out(Type::F32, n), scalar(weights)}),
          "Particle filter", false, check_particle_filter};
}

App tpacf(std::uint32_t blocks) {
  const std::uint32_t points = blocks < 64 ? 512 : 1024;
  return {launch("TP", "tpacf.cu", "tpacf", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{blocks} * 3 * points, -1, 1, 1),
                  uniform(Type::F32, std::size_t{3} * points, -1, 1, 2),
                  buffer(Kind::In, Type::F32, 20, SLUICE_FILL_IOTA, 1, 0.1F, -1), out(Type::U32, std::size_t{blocks} * 20),
                  scalar(points)}),
          "Two-point correlation", false, check_tpacf};
}

constexpr AppRow kSimRows[] = {{"BO", binomial_options, 40, 8192}, {"FD", fdtd3d, 12, 512},
                               {"LM", lava_md, 128, 8192},         {"NB", nbody, 40, 528},
                               {"PF", particle_filter, 40, 8192},  {"TP", tpacf, 20, 1056}};

}  // namespace

std::span<const AppRow> sim_rows() { return kSimRows; }

}  // namespace sluice::gpu
