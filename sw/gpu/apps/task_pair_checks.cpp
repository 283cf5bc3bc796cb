// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/task_pair_checks.h"

#include <array>
#include <cstdlib>
#include <numbers>

#include "sw/gpu/apps/check_tools.h"

namespace sluice::gpu {

std::string check_sad(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::size_t kPlaces = 33;
  const auto frame = host_fill<std::uint8_t>(spec.arguments[0]), before = host_fill<std::uint8_t>(spec.arguments[1]);
  const std::size_t across = value<std::uint32_t>(spec.arguments[3]), width = value<std::uint32_t>(spec.arguments[4]);
  return same("sum", as<std::uint16_t>(buffers[2]), [&](std::size_t i) {
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

std::string check_mri_q(const LaunchSpec& spec, const HostBuffers& buffers) {
  const std::array<std::vector<float>, 3> axis{host_fill<float>(spec.arguments[0]), host_fill<float>(spec.arguments[1]),
                                               host_fill<float>(spec.arguments[2])};
  const auto sample = host_fill<float>(spec.arguments[3]);
  const auto sum = [&](std::size_t i, double quarter) {
    double all = 0;
    for (std::size_t k = 0; k < sample.size(); k += 4) {
      double phase = 0;
      for (std::size_t c = 0; c < 3; ++c) phase += double{sample[k + c]} * axis[c][i];
      all += sample[k + 3] * std::cos(2 * std::numbers::pi * phase - quarter);
    }
    return all;
  };
  const std::string real = near(
      "real", as<float>(buffers[4]), [&](std::size_t i) { return sum(i, 0); }, 0, 5e-3);
  return !real.empty()
             ? real
             : near(
                   "imaginary", as<float>(buffers[5]), [&](std::size_t i) { return sum(i, std::numbers::pi / 2); }, 0, 5e-3);
}

std::string check_tea(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto text = host_fill<std::uint32_t>(spec.arguments[0]);
  const auto key = value<std::array<std::uint32_t, 4>>(spec.arguments[2]);
  std::vector<std::uint32_t> plain = as<std::uint32_t>(buffers[1]);  // decrypted: the inverse has nothing of the kernel's text
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

std::string check_gaussian(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto in = host_fill<float>(spec.arguments[0]), multiplier = host_fill<float>(spec.arguments[1]);
  const std::size_t width = value<std::uint32_t>(spec.arguments[3]), pivot = value<std::uint32_t>(spec.arguments[4]);
  return near(
      "cell", as<float>(buffers[2]),
      [&](std::size_t i) {
        const double own = in[i];
        return i / width > pivot ? own - double{multiplier[i / width]} * in[pivot * width + i % width] : own;
      },
      1e-6, 1e-6);
}

std::string check_quasirandom(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::uint32_t kBits = 31;
  // Sobol's direction numbers of the first three dimensions, from their primitive polynomials 1, x + 1 and x^2 + x + 1.
  std::array<std::array<std::uint32_t, kBits>, 3> v{};
  for (std::uint32_t i = 0; i < kBits; ++i) {
    v[0][i] = 1U << (kBits - 1 - i);
    v[1][i] = i < 1 ? 1U << (kBits - 1) : v[1][i - 1] ^ v[1][i - 1] >> 1;
    v[2][i] = i < 2 ? (i == 0 ? 1U : 3U) << (kBits - 1 - i) : v[2][i - 1] ^ v[2][i - 2] ^ v[2][i - 2] >> 2;
  }
  const auto seed = value<std::uint32_t>(spec.arguments[1]), count = value<std::uint32_t>(spec.arguments[2]);
  return same("number", as<float>(buffers[0]), [&](std::size_t i) {
    std::uint32_t number = 0;
    const auto at = seed + static_cast<std::uint32_t>(i % count);
    for (std::uint32_t bit = 0; bit < kBits; ++bit)
      if ((at >> bit & 1) != 0) number ^= v[i / count][bit];
    return static_cast<float>(number + 1) * 4.656612873e-10F;
  });
}

std::string check_transpose(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto in = host_fill<float>(spec.arguments[0]);
  const std::size_t width = value<std::uint32_t>(spec.arguments[2]), height = value<std::uint32_t>(spec.arguments[3]);
  return same("cell", as<float>(buffers[1]), [&](std::size_t i) { return in[i % height * width + i / height]; });
}

}  // namespace sluice::gpu
