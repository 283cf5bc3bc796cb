// SPDX-License-Identifier: Apache-2.0
// Kernels that Kernelet and Slate run in pairs, beside those of other papers: of Parboil, Rodinia and the SDK, and Kernelet's own
// TEA, each with the shape of a block as there.
#include <cstdlib>
#include <numbers>

#include "sw/gpu/apps/app_rows.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

std::string check_sad(const CheckedRun& run) {
  constexpr std::size_t kPlaces = 33;
  const auto frame = run.in<std::uint8_t>(0), before = run.in<std::uint8_t>(1);
  const std::size_t across = run.value<std::uint32_t>(3), width = run.value<std::uint32_t>(4);
  return same("sum", run.out<std::uint16_t>(2), [&](std::size_t i) {
    const std::size_t place = i % (kPlaces * kPlaces), part = i / (kPlaces * kPlaces) % 16, block = i / (kPlaces * kPlaces) / 16;
    const std::size_t x = block % across * 16 + part % 4 * 4, y = block / across * 16 + part / 4 * 4;
    int sum = 0;
    for (std::size_t dy = 0; dy < 4; ++dy)
      for (std::size_t dx = 0; dx < 4; ++dx)
        sum += std::abs(frame[(y + dy) * 16 * across + x + dx] -
                        before[(y + dy + place / kPlaces) * width + x + dx + place % kPlaces]);
    return static_cast<std::uint16_t>(sum);
  });
}
App sad(std::uint32_t blocks) {
  const std::uint32_t across = blocks < 256 ? 8 : 128, down = blocks / across, width = 16 * across + 32;
  return {launch("SAD", "sad.cu", "sad", {across * down, 1, 1}, {61, 1, 1},
                 {uniform(Type::U8, std::size_t{256} * across * down, 0, 256, 1),
                  uniform(Type::U8, std::size_t{width} * (16 * down + 32), 0, 256, 2),
                  out(Type::U16, std::size_t{across} * down * 16 * 33 * 33), scalar(across), scalar(width)}),
          "Sums of absolute differences", check_sad};
}

std::string check_mri_q(const CheckedRun& run) {
  const std::array<std::vector<float>, 3> axis{run.in<float>(0), run.in<float>(1), run.in<float>(2)};
  const auto sample = run.in<float>(3);
  const auto sum = [&](std::size_t i, double quarter) {
    double all = 0;
    for (std::size_t k = 0; k < sample.size(); k += 4) {
      double phase = 0;
      for (std::size_t c = 0; c < 3; ++c) phase += double{sample[k + c]} * axis[c][i];
      all += sample[k + 3] * std::cos(2 * std::numbers::pi * phase - quarter);
    }
    return all;
  };
  const std::string real = near("real", run.out<float>(4), 0, 5e-3, [&](std::size_t i) { return sum(i, 0); });
  return !real.empty()
             ? real
             : near("imaginary", run.out<float>(5), 0, 5e-3, [&](std::size_t i) { return sum(i, std::numbers::pi / 2); });
}
App mri_q(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 256;
  return {launch("MRIQ", "mri_q.cu", "mri_q", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, n, -1, 1, 2), uniform(Type::F32, n, -1, 1, 3),
                  uniform(Type::F32, 2048, -1, 1, 4), out(Type::F32, n), out(Type::F32, n)}),
          "Image reconstruction", check_mri_q};
}

std::string check_tea(const CheckedRun& run) {
  const auto text = run.in<std::uint32_t>(0);
  const auto key = run.value<std::array<std::uint32_t, 4>>(2);
  std::vector<std::uint32_t> plain = run.out<std::uint32_t>(1);  // decrypted: the inverse has nothing of the kernel's text
  for (std::size_t i = 0; i < plain.size(); i += 2) {
    std::uint32_t a = plain[i], b = plain[i + 1];
    constexpr std::uint32_t kDelta = 0x9e3779b9;
    for (std::uint32_t sum = kDelta * 32; sum != 0; sum -= kDelta) {
      b -= ((a << 4) + key[2]) ^ (a + sum) ^ ((a >> 5) + key[3]);
      a -= ((b << 4) + key[0]) ^ (b + sum) ^ ((b >> 5) + key[1]);
    }
    plain[i] = a;
    plain[i + 1] = b;
  }
  return same("decrypted", plain, [&](std::size_t i) { return text[i]; });
}
App tea(std::uint32_t blocks) {
  const std::size_t n = std::size_t{blocks} * 512;
  return {launch("TEA", "tea.cu", "tea", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::U32, n, 0, 4.0e9F), out(Type::U32, n),
                  scalar(std::array<std::uint32_t, 4>{0x01234567, 0x89abcdef, 0xfedcba98, 0x76543210})}),
          "Tiny encryption", check_tea};
}

std::string check_gaussian(const CheckedRun& run) {
  const auto in = run.in<float>(0), multiplier = run.in<float>(1);
  const std::size_t width = run.value<std::uint32_t>(3), pivot = run.value<std::uint32_t>(4);
  return near("cell", run.out<float>(2), 1e-6, 1e-6, [&](std::size_t i) {
    const double own = in[i];
    return i / width > pivot ? own - double{multiplier[i / width]} * in[pivot * width + i % width] : own;
  });
}
App gaussian(std::uint32_t blocks) {
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 4, height = grid.rows * 4;
  const std::size_t n = std::size_t{width} * height;
  return {launch("GS", "gaussian.cu", "gaussian", {grid.columns, grid.rows, 1}, {4, 4, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, height, -1, 1, 2), out(Type::F32, n), scalar(width),
                  scalar(1U)}),
          "Gaussian elimination", check_gaussian};
}

std::string check_quasirandom(const CheckedRun& run) {
  constexpr std::uint32_t kBits = 31;
  // Sobol's direction numbers of the first three dimensions, from their primitive polynomials 1, x + 1 and x^2 + x + 1.
  std::array<std::array<std::uint32_t, kBits>, 3> v{};
  for (std::uint32_t i = 0; i < kBits; ++i) {
    v[0][i] = 1U << (kBits - 1 - i);
    v[1][i] = i < 1 ? 1U << (kBits - 1) : v[1][i - 1] ^ v[1][i - 1] >> 1;
    v[2][i] = i < 2 ? (i == 0 ? 1U : 3U) << (kBits - 1 - i) : v[2][i - 1] ^ v[2][i - 2] ^ v[2][i - 2] >> 2;
  }
  const auto seed = run.value<std::uint32_t>(1), count = run.value<std::uint32_t>(2);
  return same("number", run.out<float>(0), [&](std::size_t i) {
    std::uint32_t number = 0;
    const auto at = seed + static_cast<std::uint32_t>(i % count);
    for (std::uint32_t bit = 0; bit < kBits; ++bit)
      if ((at >> bit & 1) != 0) number ^= v[i / count][bit];
    return static_cast<float>(number + 1) * 4.656612873e-10F;
  });
}
App quasirandom(std::uint32_t blocks) {
  const std::uint32_t n = blocks * 1024;
  return {launch("RG", "quasirandom.cu", "quasirandom", {blocks, 1, 1}, {128, 3, 1},
                 {out(Type::F32, std::size_t{n} * 3), scalar(1U), scalar(n)}),
          "Quasi-random numbers", check_quasirandom};
}

std::string check_transpose(const CheckedRun& run) {
  const auto in = run.in<float>(0);
  const std::size_t width = run.value<std::uint32_t>(2), height = run.value<std::uint32_t>(3);
  return same("cell", run.out<float>(1), [&](std::size_t i) { return in[i % height * width + i / height]; });
}
App transpose(std::uint32_t blocks) {
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 32, height = grid.rows * 32;
  const std::size_t n = std::size_t{width} * height;
  return {launch("TR", "transpose.cu", "transpose", {grid.columns, grid.rows, 1}, {32, 8, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n), scalar(width), scalar(height)}),
          "Transpose", check_transpose};
}

constexpr AppRow kTaskPairRows[] = {{"SAD", sad, 64, 8192},           {"MRIQ", mri_q, 40, 16384},
                                    {"TEA", tea, 200, 262144},        {"GS", gaussian, 1500, 1048576},
                                    {"RG", quasirandom, 100, 131072}, {"TR", transpose, 200, 262144}};

}  // namespace

std::span<const AppRow> task_pair_rows() { return kTaskPairRows; }

}  // namespace sluice::gpu
