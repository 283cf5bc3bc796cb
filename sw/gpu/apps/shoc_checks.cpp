// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/shoc_checks.h"

#include <complex>
#include <numbers>
#include <numeric>

#include "sw/gpu/apps/check_tools.h"

namespace sluice::gpu {

std::string check_fft(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::size_t kPoints = 512;
  const auto in = host_fill<float>(spec.arguments[0]), got = as<float>(buffers[1]);
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
  return near(
      "point", got, [&](std::size_t i) { return want[i]; }, 1e-4, 1e-4);
}

std::string check_molecular_dynamics(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto position = host_fill<float>(spec.arguments[0]);
  const auto neighbour = host_fill<std::uint32_t>(spec.arguments[1]);
  const auto atoms = value<std::uint32_t>(spec.arguments[3]);
  const double cutoff = value<float>(spec.arguments[4]), a = value<float>(spec.arguments[5]), b = value<float>(spec.arguments[6]);
  const auto got = as<float>(buffers[2]);
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

std::string check_md5_hash(const LaunchSpec& /*spec*/, const HostBuffers& buffers) {
  const auto found = as<std::uint32_t>(buffers[1]);
  std::array<std::uint8_t, 8> key{};
  std::memcpy(key.data(), found.data(), 8);
  std::uint32_t number = 0, unit = 1;
  for (std::size_t i = 0; i < 7; ++i, unit *= 10) number += (key[i] - std::uint32_t{'0'}) * unit;
  if (number != kMd5Number || key[7] != '0' + kMd5Digit)
    return fmt::format("found key {:08x} {:08x}, CPU {} {}", found[0], found[1], kMd5Number, kMd5Digit);
  return same("trace", as<std::uint32_t>(buffers[2]), [](std::size_t i) {
    std::uint32_t seen = 0;
    for (std::uint32_t digit = 0; digit < 10; ++digit) seen ^= md5_of_key(static_cast<std::uint32_t>(i), digit)[0];
    return seen;
  });
}

std::string check_reduction(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto in = host_fill<float>(spec.arguments[0]);
  return near(
      "sum", as<float>(buffers[1]),
      [&](std::size_t i) {
        const auto first = in.begin() + static_cast<std::ptrdiff_t>(i) * 4096;
        return std::accumulate(first, first + 4096, 0.0);
      },
      1e-5);
}

std::string check_scan(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::size_t kTile = 2048;
  const auto in = host_fill<float>(spec.arguments[0]), before = host_fill<float>(spec.arguments[1]);
  std::vector<double> want(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) want[i] = (i % kTile == 0 ? before[i / kTile] : want[i - 1]) + double{in[i]};
  return near(
      "sum", as<float>(buffers[2]), [&](std::size_t i) { return want[i]; }, 1e-5);
}

std::string check_sort(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::size_t kTile = 512;
  const auto key = host_fill<std::uint32_t>(spec.arguments[0]), own = host_fill<std::uint32_t>(spec.arguments[1]);
  const auto bit = value<std::uint32_t>(spec.arguments[4]);
  std::vector<std::size_t> order(key.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (auto at = order.begin(); at != order.end(); at += kTile)
    std::stable_sort(at, at + kTile, [&](std::size_t a, std::size_t b) { return (key[a] >> bit & 15) < (key[b] >> bit & 15); });
  const std::string keys = same("key", as<std::uint32_t>(buffers[2]), [&](std::size_t i) { return key[order[i]]; });
  return !keys.empty() ? keys : same("value", as<std::uint32_t>(buffers[3]), [&](std::size_t i) { return own[order[i]]; });
}

std::string check_spmv(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto row = host_fill<std::uint32_t>(spec.arguments[0]), column = host_fill<std::uint32_t>(spec.arguments[1]);
  const auto entry = host_fill<float>(spec.arguments[2]), vector = host_fill<float>(spec.arguments[3]);
  return near(
      "row", as<float>(buffers[4]),
      [&](std::size_t i) {
        double sum = 0;
        for (std::uint32_t e = row[i]; e < row[i + 1]; ++e) sum += double{entry[e]} * vector[column[e]];
        return sum;
      },
      1e-4, 1e-4);
}

std::string check_stencil2d(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto in = host_fill<float>(spec.arguments[0]), got = as<float>(buffers[1]);
  const std::size_t width = value<std::uint32_t>(spec.arguments[2]), rows = in.size() / width;
  const std::array<double, 3> weight{value<float>(spec.arguments[3]), value<float>(spec.arguments[4]),
                                     value<float>(spec.arguments[5])};
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

std::string check_triad(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto a = host_fill<float>(spec.arguments[0]), b = host_fill<float>(spec.arguments[1]);
  const double scale = value<float>(spec.arguments[3]);
  return near(
      "c", as<float>(buffers[2]), [&](std::size_t i) { return a[i] + scale * b[i]; }, 1e-6, 1e-6);
}

}  // namespace sluice::gpu
