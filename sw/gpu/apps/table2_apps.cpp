// SPDX-License-Identifier: Apache-2.0
// The ten applications of Warped-Slicer's table II, and six micro kernels.
#include "sw/gpu/apps/app_checks.h"
#include "sw/gpu/apps/app_rows.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

App black_scholes(bool full) {
  const std::uint32_t blocks = full ? 131072 : 160;
  const std::size_t n = std::size_t{blocks} * 1024;
  return {launch("BLK", "black_scholes.cu", "black_scholes", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::F32, n, 5, 30, 1), uniform(Type::F32, n, 1, 100, 2), uniform(Type::F32, n, 0.25F, 10, 3),
                  out(Type::F32, n), out(Type::F32, n), scalar(0.02F), scalar(0.3F)}),
          "Black-Scholes", false, check_black_scholes};
}

App bfs(std::uint32_t blocks) {
  const std::size_t nodes = std::size_t{blocks} * 512 - 77, degree = 8;
  const auto bound = static_cast<float>(nodes - nodes % 256);  // a float holds it
  return {
      launch("BFS", "bfs.cu", "bfs", {blocks, 1, 1}, {512, 1, 1},
             {buffer(Kind::In, Type::U32, nodes + 1, SLUICE_FILL_IOTA, 1, static_cast<float>(degree), 0),
              uniform(Type::U32, nodes * degree, 0, bound, 2), buffer(Kind::In, Type::U8, nodes, SLUICE_FILL_CHANCE, 3, 0.25F),
              buffer(Kind::In, Type::U8, nodes, SLUICE_FILL_CHANCE, 4, 0.4F), out(Type::U32, nodes), out(Type::U8, nodes),
              scalar(6U), scalar(static_cast<std::uint32_t>(nodes))}),
      "Breadth-first search", false, check_bfs};
}

App dxt(bool full) {
  const std::uint32_t width = full ? 8192 : 256, height = full ? 4096 : 128;
  const std::uint32_t tiles = width / 4 * (height / 4);
  return {launch("DXT", "dxt.cu", "dxt", {tiles / 8, 1, 1}, {64, 1, 1},
                 {uniform(Type::U32, std::size_t{width} * height, 0, 4.0e9F, 1), out(Type::U64, tiles), scalar(width)}),
          "DXT compression", false, check_dxt};
}

App hotspot(bool full) {
  const std::uint32_t columns = full ? 12288 : 300, rows = full ? 12288 : 200;
  const std::size_t n = std::size_t{columns} * rows;
  return {launch("HOT", "hotspot.cu", "hotspot", {(columns + 55) / 56, (rows + 23) / 24, 1}, {64, 4, 1},
                 {uniform(Type::F32, n, 323, 341, 1), uniform(Type::F32, n, 0, 0.5F, 2), out(Type::F32, n),
                  scalar(static_cast<std::int32_t>(columns)), scalar(static_cast<std::int32_t>(rows)), scalar(0.1F), scalar(0.4F),
                  scalar(0.3F), scalar(0.02F), scalar(80.0F)}),
          "Hotspot", false, check_hotspot};
}

App denoise(bool full) {
  const std::uint32_t width = full ? 8192 : 128, height = full ? 2048 : 96;
  return {launch("IMG", "denoise.cu", "denoise", {width / 8, height / 16, 1}, {8, 8, 1},
                 {uniform(Type::U32, std::size_t{width + 6} * (height + 6), 0, 4.0e9F, 1),
                  out(Type::U32, std::size_t{width} * height), scalar(static_cast<std::int32_t>(width)), scalar(0.0004F),
                  scalar(0.05F)}),
          "Image denoising", false, check_denoise};
}

App knn(bool full) {
  const std::uint32_t blocks = full ? 98304 : 100;
  return {launch("KNN", "knn.cu", "knn", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{blocks} * 8192, -180, 180, 1), scalar(std::array<float, 2>{12.5F, 41.25F}),
                  out(Type::F32, std::size_t{blocks} * 4), out(Type::U32, std::size_t{blocks} * 4)}),
          "k-nearest neighbour", false, check_knn};
}

App lbm(bool full) {
  const std::uint32_t ny = full ? 512 : 16, nz = full ? 384 : 12;
  const std::size_t n = std::size_t{128} * ny * nz * 19;
  return {launch("LBM", "lbm.cu", "lbm", {ny, nz, 1}, {128, 1, 1},
                 {uniform(Type::F32, n, 0.04F, 0.06F, 1), out(Type::F32, n), scalar(1.2F)}),
          "Lattice-Boltzmann", false, check_lbm};
}

App matrix_multiply(bool full) {
  const std::uint32_t rows = full ? 8192 : 320, columns = full ? 8192 : 448, inner = full ? 256 : 64;
  return {launch("MM", "matrix_multiply.cu", "matrix_multiply<64, 16>", {columns / 64, rows / 64, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{rows} * inner, -1, 1, 1),
                  uniform(Type::F32, std::size_t{inner} * columns, -1, 1, 2), out(Type::F32, std::size_t{rows} * columns),
                  scalar(static_cast<std::int32_t>(inner)), scalar(static_cast<std::int32_t>(columns))}),
          "Matrix multiply", false, check_matrix_multiply};
}

App matrix_vector(bool full) {
  const std::uint32_t blocks = full ? 43690 : 100, columns = 64;
  const std::size_t rows = std::size_t{blocks} * 192;
  return {launch("MVP", "matrix_vector.cu", "matrix_vector", {blocks, 1, 1}, {192, 1, 1},
                 {uniform(Type::F32, rows * columns, -1, 1, 1), uniform(Type::F32, columns, -1, 1, 2), out(Type::F32, rows),
                  scalar(static_cast<std::int32_t>(columns))}),
          "Matrix-vector product", false, check_matrix_vector};
}

App neural_network(std::uint32_t pictures) {
  constexpr std::uint32_t kMaps = 8;
  return {launch("NN", "neural_network.cu", "neural_network", {pictures, 1, 1}, {13, 13, 1},
                 {uniform(Type::F32, std::size_t{pictures} * 841, -1, 1, 1),
                  uniform(Type::F32, std::size_t{kMaps} * 26, -0.3F, 0.3F, 2),
                  out(Type::F32, std::size_t{pictures} * kMaps * 169), scalar(static_cast<std::int32_t>(kMaps))}),
          "Neural network layer", false, check_neural_network};
}

App micro_fma(bool full) {
  const std::uint32_t blocks = full ? 131072 : 50;
  return {launch("FMA", "micro.cu", "micro_fma", {blocks, 1, 1}, {256, 1, 1},
                 {out(Type::F32, std::size_t{blocks} * 256), scalar(0.999F), scalar(0.25F)}),
          "FMA pipe", true, check_micro_fma};
}
App micro_sfu(bool full) {
  const std::uint32_t blocks = full ? 131072 : 50;
  return {launch("SFU", "micro.cu", "micro_sfu", {blocks, 1, 1}, {256, 1, 1}, {out(Type::F32, std::size_t{blocks} * 256)}),
          "Special functions", true, check_micro_sfu};
}
App micro_stream(bool full) {
  const std::uint32_t blocks = full ? 131072 : 50;
  const std::size_t n = std::size_t{blocks} * 4096;
  return {launch("STREAM", "micro.cu", "micro_stream", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n)}),
          "Memory stream", true, check_micro_stream};
}
App micro_shared(bool full) {
  const std::uint32_t blocks = full ? 163840 : 50;
  return {launch("SHM", "micro.cu", "micro_shared", {blocks, 1, 1}, {256, 1, 1},
                 {out(Type::U32, std::size_t{blocks} * 256), scalar(std::int32_t{16})}, 8192),
          "Shared memory", true, check_micro_shared};
}
App micro_l1(bool full) {
  const std::uint32_t blocks = full ? 40960 : 50;
  return {launch("L1", "micro.cu", "micro_l1", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::U32, std::size_t{blocks} * 6144, 0, 4.0e9F, 1), out(Type::U32, std::size_t{blocks} * 128)}),
          "L1 cache", true, check_micro_l1};
}
App micro_latency(bool full) {
  const std::uint32_t blocks = full ? 131072 : 200, words = full ? 1U << 26 : 1U << 16;
  return {launch("LAT", "micro.cu", "micro_latency", {blocks, 1, 1}, {64, 1, 1},
                 {buffer(Kind::In, Type::U32, words, SLUICE_FILL_CHASE), out(Type::U32, std::size_t{blocks} * 64),
                  scalar(words - 1)}),
          "Memory latency", true, check_micro_latency};
}

/// A maker that has two sizes.
template <App (*Make)(bool full)>
App either(std::uint32_t full) {
  return Make(full != 0);
}
constexpr AppRow kTable2Rows[] = {{"BLK", either<black_scholes>, 0, 1},
                                  {"BFS", bfs, 200, 65536},
                                  {"DXT", either<dxt>, 0, 1},
                                  {"HOT", either<hotspot>, 0, 1},
                                  {"IMG", either<denoise>, 0, 1},
                                  {"KNN", either<knn>, 0, 1},
                                  {"LBM", either<lbm>, 0, 1},
                                  {"MM", either<matrix_multiply>, 0, 1},
                                  {"MVP", either<matrix_vector>, 0, 1},
                                  {"NN", neural_network, 150, 131072},
                                  {"FMA", either<micro_fma>, 0, 1},
                                  {"SFU", either<micro_sfu>, 0, 1},
                                  {"STREAM", either<micro_stream>, 0, 1},
                                  {"SHM", either<micro_shared>, 0, 1},
                                  {"L1", either<micro_l1>, 0, 1},
                                  {"LAT", either<micro_latency>, 0, 1}};

}  // namespace

std::span<const AppRow> table2_rows() { return kTable2Rows; }

}  // namespace sluice::gpu
