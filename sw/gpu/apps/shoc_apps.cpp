// SPDX-License-Identifier: Apache-2.0
// EffiSha's kernels: nine of SHOC's, each with the shape of a block as there.
#include "sw/gpu/apps/app_rows.h"
#include "sw/gpu/apps/shoc_checks.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

App fft(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 1024;
  return {launch("FFT", "fft.cu", "fft", {blocks, 1, 1}, {64, 1, 1}, {uniform(Type::F32, n, -1, 1), out(Type::F32, n)}),
          "Fourier transform", false, check_fft};
}

App molecular_dynamics(std::uint32_t blocks) {
  const std::uint32_t atoms = blocks * 256;
  constexpr std::size_t kNeighbours = 128;
  return {launch("MD", "molecular_dynamics.cu", "molecular_dynamics", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{atoms} * 4, 0, 10, 1),
                  uniform(Type::U32, atoms * kNeighbours, 0, static_cast<float>(atoms), 2),
                  out(Type::F32, std::size_t{atoms} * 4), scalar(atoms), scalar(16.0F), scalar(1.5F), scalar(2.0F)}),
          "Molecular dynamics", false, check_molecular_dynamics};
}

App md5_hash(std::uint32_t blocks) {
  return {launch("MD5", "md5_hash.cu", "md5_hash", {blocks, 1, 1}, {384, 1, 1},
                 {scalar(md5_of_key(kMd5Number, kMd5Digit)), out(Type::U32, 2), out(Type::U32, std::size_t{blocks} * 384)}),
          "MD5 search", false, check_md5_hash};
}

App reduction(std::uint32_t blocks) {
  return {launch("RED", "reduction.cu", "reduction", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{blocks} * 4096, 0, 1), out(Type::F32, blocks)}),
          "Reduction", false, check_reduction};
}

App scan(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 2048;
  return {launch("SCAN", "scan.cu", "scan", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, 0, 1, 1), uniform(Type::F32, blocks, 0, 1000, 2), out(Type::F32, n)}),
          "Prefix sums", false, check_scan};
}

App sort(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 512;
  return {launch("SORT", "sort.cu", "radix_sort", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::U32, n, 0, 4.0e9F), buffer(Kind::In, Type::U32, n, SLUICE_FILL_IOTA, 1, 1, 0), out(Type::U32, n),
                  out(Type::U32, n), scalar(8U)}),
          "Radix sort", false, check_sort};
}

App spmv(std::uint32_t blocks) {
  const std::size_t rows = std::size_t{blocks} * 4, degree = 64;
  return {launch("SPMV", "spmv.cu", "spmv", {blocks, 1, 1}, {128, 1, 1},
                 {buffer(Kind::In, Type::U32, rows + 1, SLUICE_FILL_IOTA, 1, static_cast<float>(degree), 0),
                  uniform(Type::U32, rows * degree, 0, static_cast<float>(rows), 2), uniform(Type::F32, rows * degree, -1, 1, 3),
                  uniform(Type::F32, rows, -1, 1, 4), out(Type::F32, rows)}),
          "Sparse matrix times vector", false, check_spmv};
}

App stencil2d(std::uint32_t blocks) {
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 16 + 2;
  const std::size_t n = std::size_t{width} * (grid.rows * 16 + 2);
  return {launch("ST2D", "stencil2d.cu", "stencil2d", {grid.columns, grid.rows, 1}, {16, 16, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n), scalar(width), scalar(0.5F), scalar(0.1F), scalar(0.025F)}),
          "Nine-point stencil", false, check_stencil2d};
}

App triad(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 128;
  return {launch("TRIAD", "triad.cu", "triad", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, n, -1, 1, 2), out(Type::F32, n), scalar(1.75F)}),
          "Triad", false, check_triad};
}

constexpr AppRow kShocRows[] = {
    {"FFT", fft, 150, 262144},       {"MD", molecular_dynamics, 40, 8192}, {"MD5", md5_hash, 100, 25432},
    {"RED", reduction, 200, 262144}, {"SCAN", scan, 100, 131072},          {"SORT", sort, 200, 262144},
    {"SPMV", spmv, 200, 131072},     {"ST2D", stencil2d, 200, 524288},     {"TRIAD", triad, 300, 1572864}};

}  // namespace

std::span<const AppRow> shoc_rows() { return kShocRows; }

}  // namespace sluice::gpu
