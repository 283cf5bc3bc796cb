// SPDX-License-Identifier: Apache-2.0
// EffiSha's kernels: nine of SHOC's, each with the shape of a block as there.
#include <complex>
#include <cstring>
#include <numbers>
#include <numeric>

#include "sw/gpu/apps/app_rows.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

constexpr std::uint32_t kMd5Number = 4242, kMd5Digit = 7;  ///< the key that is searched for: thread and last digit

std::array<std::uint32_t, 4> md5_of_key(std::uint32_t number, std::uint32_t digit) {
  std::array<std::uint8_t, 64> message{};
  for (std::size_t i = 0; i < 7; ++i, number /= 10) message[i] = static_cast<std::uint8_t>('0' + number % 10);
  message[7] = static_cast<std::uint8_t>('0' + digit);
  message[8] = 0x80;
  message[56] = 64;  // bits
  constexpr std::array<std::array<int, 4>, 4> kTurns{{{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};
  const std::array<std::uint32_t, 4> start{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  auto [a, b, c, d] = start;
  for (unsigned i = 0; i < 64; ++i) {
    std::uint32_t mix = 0;
    unsigned word = i;
    switch (i / 16) {
      case 0: mix = (b & c) | (~b & d); break;
      case 1: mix = (d & b) | (~d & c), word = 5 * i + 1; break;
      case 2: mix = b ^ c ^ d, word = 3 * i + 5; break;
      default: mix = c ^ (b | ~d), word = 7 * i; break;
    }
    word = word % 16 * 4;
    const std::uint32_t m =
        message[word] | message[word + 1] << 8 | message[word + 2] << 16 | std::uint32_t{message[word + 3]} << 24;
    mix += a + m + static_cast<std::uint32_t>(std::floor(std::abs(std::sin(i + 1.0)) * 4294967296.0));
    a = d;
    d = c;
    c = b;
    b += std::rotl(mix, kTurns[i / 16][i % 4]);
  }
  return {a + start[0], b + start[1], c + start[2], d + start[3]};
}

std::string check_fft(const CheckedRun& run) {
  constexpr std::size_t kPoints = 512;
  const auto in = run.in<float>(0), got = run.out<float>(1);
  std::vector<std::complex<double>> root(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i)
    root[i] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(kPoints));
  std::vector<double> want(got.size());
  for (std::size_t first = 0; first < got.size() / 2; first += kPoints)
    for (std::size_t k = 0; k < kPoints; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < kPoints; ++i)
        sum += std::complex<double>(in[2 * (first + i)], in[2 * (first + i) + 1]) * root[i * k % kPoints];
      want[2 * (first + k)] = sum.real();
      want[2 * (first + k) + 1] = sum.imag();
    }
  return near("point", got, 1e-4, 1e-4, [&](std::size_t i) { return want[i]; });
}
App fft(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 1024;
  return {launch("FFT", "fft.cu", "fft", {blocks, 1, 1}, {64, 1, 1}, {uniform(Type::F32, n, -1, 1), out(Type::F32, n)}),
          "Fourier transform", check_fft};
}

std::string check_molecular_dynamics(const CheckedRun& run) {
  const auto position = run.in<float>(0);
  const auto neighbour = run.in<std::uint32_t>(1);
  const auto atoms = run.value<std::uint32_t>(3);
  const double cutoff = run.value<float>(4), a = run.value<float>(5), b = run.value<float>(6);
  const auto got = run.out<float>(2);
  for (std::size_t atom = 0; atom < atoms; ++atom) {
    std::array<double, 3> force{}, size{};
    for (std::size_t n = atom; n < neighbour.size(); n += atoms) {
      std::array<double, 3> apart{};
      double square = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        apart[c] = position[4 * atom + c] - position[std::size_t{4} * neighbour[n] + c];
        square += apart[c] * apart[c];
      }
      if (square >= cutoff * (1 - 1e-6) && square < cutoff * (1 + 1e-6)) size[0] += 1;  // rounding decides: anything is right
      if (square >= cutoff) continue;
      const double r6 = std::pow(square + 1, -3), strength = r6 / (square + 1) * (a * r6 - b);
      for (std::size_t c = 0; c < 3; ++c) {
        force[c] += apart[c] * strength;
        size[c] += std::abs(apart[c] * strength);
      }
    }
    const double limit = 1e-5 * (size[0] + size[1] + size[2]) + 1e-7 + (size[0] >= 1 ? 1e-2 : 0);
    for (std::size_t c = 0; c < 3; ++c)
      if (!(std::abs(got[4 * atom + c] - force[c]) <= limit))
        return fmt::format("force[{}].{} = {}, CPU {}", atom, c, got[4 * atom + c], force[c]);
  }
  return "";
}
App molecular_dynamics(std::uint32_t blocks) {
  const std::uint32_t atoms = blocks * 256;
  constexpr std::size_t kNeighbours = 128;
  return {launch("MD", "molecular_dynamics.cu", "molecular_dynamics", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{atoms} * 4, 0, 10, 1),
                  uniform(Type::U32, atoms * kNeighbours, 0, static_cast<float>(atoms), 2),
                  out(Type::F32, std::size_t{atoms} * 4), scalar(atoms), scalar(16.0F), scalar(1.5F), scalar(2.0F)}),
          "Molecular dynamics", check_molecular_dynamics};
}

std::string check_md5_hash(const CheckedRun& run) {
  const auto found = run.out<std::uint32_t>(1);
  std::array<std::uint8_t, 8> key{};
  std::memcpy(key.data(), found.data(), 8);
  std::uint32_t number = 0, unit = 1;
  for (std::size_t i = 0; i < 7; ++i, unit *= 10) number += (key[i] - std::uint32_t{'0'}) * unit;
  if (number != kMd5Number || key[7] != '0' + kMd5Digit)
    return fmt::format("found key {:08x} {:08x}, CPU {} {}", found[0], found[1], kMd5Number, kMd5Digit);
  return same("trace", run.out<std::uint32_t>(2), [](std::size_t i) {
    std::uint32_t seen = 0;
    for (std::uint32_t digit = 0; digit < 10; ++digit) seen ^= md5_of_key(static_cast<std::uint32_t>(i), digit)[0];
    return seen;
  });
}
App md5_hash(std::uint32_t blocks) {
  return {launch("MD5", "md5_hash.cu", "md5_hash", {blocks, 1, 1}, {384, 1, 1},
                 {scalar(md5_of_key(kMd5Number, kMd5Digit)), out(Type::U32, 2), out(Type::U32, std::size_t{blocks} * 384)}),
          "MD5 search", check_md5_hash};
}

std::string check_reduction(const CheckedRun& run) {
  const auto in = run.in<float>(0);
  return near("sum", run.out<float>(1), 1e-5, 0, [&](std::size_t i) {
    const auto first = in.begin() + static_cast<std::ptrdiff_t>(i) * 4096;
    return std::accumulate(first, first + 4096, 0.0);
  });
}
App reduction(std::uint32_t blocks) {
  return {launch("RED", "reduction.cu", "reduction", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{blocks} * 4096, 0, 1), out(Type::F32, blocks)}),
          "Reduction", check_reduction};
}

std::string check_scan(const CheckedRun& run) {
  constexpr std::size_t kTile = 2048;
  const auto in = run.in<float>(0), before = run.in<float>(1);
  std::vector<double> want(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) want[i] = (i % kTile == 0 ? before[i / kTile] : want[i - 1]) + double{in[i]};
  return near("sum", run.out<float>(2), 1e-5, 0, [&](std::size_t i) { return want[i]; });
}
App scan(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 2048;
  return {launch("SCAN", "scan.cu", "scan", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, 0, 1, 1), uniform(Type::F32, blocks, 0, 1000, 2), out(Type::F32, n)}),
          "Prefix sums", check_scan};
}

std::string check_sort(const CheckedRun& run) {
  constexpr std::size_t kTile = 512;
  const auto key = run.in<std::uint32_t>(0), own = run.in<std::uint32_t>(1);
  const auto bit = run.value<std::uint32_t>(4);
  std::vector<std::size_t> order(key.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (auto at = order.begin(); at != order.end(); at += kTile)
    std::stable_sort(at, at + kTile, [&](std::size_t a, std::size_t b) { return (key[a] >> bit & 15) < (key[b] >> bit & 15); });
  const std::string keys = same("key", run.out<std::uint32_t>(2), [&](std::size_t i) { return key[order[i]]; });
  return !keys.empty() ? keys : same("value", run.out<std::uint32_t>(3), [&](std::size_t i) { return own[order[i]]; });
}
App sort(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 512;
  return {launch("SORT", "sort.cu", "radix_sort", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::U32, n, 0, 4.0e9F), buffer(Kind::In, Type::U32, n, SLUICE_FILL_IOTA, 1, 1, 0), out(Type::U32, n),
                  out(Type::U32, n), scalar(8U)}),
          "Radix sort", check_sort};
}

std::string check_spmv(const CheckedRun& run) {
  const auto row = run.in<std::uint32_t>(0), column = run.in<std::uint32_t>(1);
  const auto entry = run.in<float>(2), vector = run.in<float>(3);
  return near("row", run.out<float>(4), 1e-4, 1e-4, [&](std::size_t i) {
    double sum = 0;
    for (std::uint32_t e = row[i]; e < row[i + 1]; ++e) sum += double{entry[e]} * vector[column[e]];
    return sum;
  });
}
App spmv(std::uint32_t blocks) {
  const std::size_t rows = std::size_t{blocks} * 4, degree = 64;
  return {launch("SPMV", "spmv.cu", "spmv", {blocks, 1, 1}, {128, 1, 1},
                 {buffer(Kind::In, Type::U32, rows + 1, SLUICE_FILL_IOTA, 1, static_cast<float>(degree), 0),
                  uniform(Type::U32, rows * degree, 0, static_cast<float>(rows), 2), uniform(Type::F32, rows * degree, -1, 1, 3),
                  uniform(Type::F32, rows, -1, 1, 4), out(Type::F32, rows)}),
          "Sparse matrix times vector", check_spmv};
}

std::string check_stencil2d(const CheckedRun& run) {
  const auto in = run.in<float>(0), got = run.out<float>(1);
  const std::size_t width = run.value<std::uint32_t>(2), rows = in.size() / width;
  const std::array<double, 3> weight{run.value<float>(3), run.value<float>(4), run.value<float>(5)};
  for (std::size_t y = 1; y + 1 < rows; ++y)
    for (std::size_t x = 1; x + 1 < width; ++x) {
      double want = 0;
      for (std::size_t dy = 0; dy < 3; ++dy)
        for (std::size_t dx = 0; dx < 3; ++dx)
          want += weight[(dy != 1 ? 1U : 0U) + (dx != 1 ? 1U : 0U)] * in[(y + dy - 1) * width + x + dx - 1];
      if (!(std::abs(got[y * width + x] - want) <= 1e-5))
        return fmt::format("cell {},{} = {}, CPU {}", x, y, got[y * width + x], want);
    }
  return "";
}
App stencil2d(std::uint32_t blocks) {
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 16 + 2;
  const std::size_t n = std::size_t{width} * (grid.rows * 16 + 2);
  return {launch("ST2D", "stencil2d.cu", "stencil2d", {grid.columns, grid.rows, 1}, {16, 16, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n), scalar(width), scalar(0.5F), scalar(0.1F), scalar(0.025F)}),
          "Nine-point stencil", check_stencil2d};
}

std::string check_triad(const CheckedRun& run) {
  const auto a = run.in<float>(0), b = run.in<float>(1);
  const double scale = run.value<float>(3);
  return near("c", run.out<float>(2), 1e-6, 1e-6, [&](std::size_t i) { return a[i] + scale * b[i]; });
}
App triad(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 128;
  return {launch("TRIAD", "triad.cu", "triad", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, n, -1, 1, 2), out(Type::F32, n), scalar(1.75F)}),
          "Triad", check_triad};
}

constexpr AppRow kShocRows[] = {
    {"FFT", fft, 150, 262144},       {"MD", molecular_dynamics, 40, 8192}, {"MD5", md5_hash, 100, 25432},
    {"RED", reduction, 200, 262144}, {"SCAN", scan, 100, 131072},          {"SORT", sort, 200, 262144},
    {"SPMV", spmv, 200, 131072},     {"ST2D", stencil2d, 200, 524288},     {"TRIAD", triad, 300, 1572864}};

}  // namespace

std::span<const AppRow> shoc_rows() { return kShocRows; }

}  // namespace sluice::gpu
