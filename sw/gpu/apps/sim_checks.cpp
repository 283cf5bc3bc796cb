// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/sim_checks.h"

#include <array>

#include "sw/gpu/apps/check_tools.h"

namespace sluice::gpu {

std::string check_binomial_options(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::size_t kSteps = 2048;
  const auto price = host_fill<float>(spec.arguments[0]), strike = host_fill<float>(spec.arguments[1]),
             years = host_fill<float>(spec.arguments[2]);
  const double rate = value<float>(spec.arguments[4]), volatility = value<float>(spec.arguments[5]);
  return near(
      "call", as<float>(buffers[3]),
      [&](std::size_t option) {
        const double dt = double{years[option]} / kSteps, up = std::exp(volatility * std::sqrt(dt));
        const double chance = (std::exp(rate * dt) - 1 / up) / (up - 1 / up), discount = std::exp(-rate * dt);
        std::vector<double> leaf(kSteps + 1);
        for (std::size_t i = 0; i <= kSteps; ++i)
          leaf[i] = std::max(price[option] * std::pow(up, 2 * static_cast<double>(i) - kSteps) - strike[option], 0.0);
        for (std::size_t step = kSteps; step > 0; --step)
          for (std::size_t i = 0; i < step; ++i) leaf[i] = discount * (chance * leaf[i + 1] + (1 - chance) * leaf[i]);
        return leaf[0];
      },
      3e-3, 5e-3);
}

std::string check_fdtd3d(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::size_t kRadius = 4;
  const auto in = host_fill<float>(spec.arguments[0]), got = as<float>(buffers[1]);
  const std::size_t width = value<std::uint32_t>(spec.arguments[2]), plane = width * value<std::uint32_t>(spec.arguments[3]);
  for (std::size_t z = kRadius; z + kRadius < in.size() / plane; ++z)
    for (std::size_t y = kRadius; y + kRadius < plane / width; ++y)
      for (std::size_t x = kRadius; x + kRadius < width; ++x) {
        const std::size_t own = z * plane + y * width + x;
        double want = double{value<float>(spec.arguments[5])} * in[own];
        for (std::size_t i = 1; i <= kRadius; ++i)
          for (const std::size_t step : {std::size_t{1}, width, plane})
            want += double{value<float>(spec.arguments[5 + i])} * (double{in[own - i * step]} + in[own + i * step]);
        if (!(std::abs(got[own] - want) <= 1e-5)) return fmt::format("cell {},{},{} = {}, CPU {}", x, y, z, got[own], want);
      }
  return "";
}

std::string check_lava_md(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr int kSide = 8, kParticles = 100;
  const auto position = host_fill<double>(spec.arguments[0]), charge = host_fill<double>(spec.arguments[1]);
  const auto layers = static_cast<int>(value<std::uint32_t>(spec.arguments[3]));
  const double alpha = value<double>(spec.arguments[4]);
  std::vector<double> want(position.size(), 0.0);
  for (int box = 0; box < layers * kSide * kSide; ++box)
    for (int other = 0; other < layers * kSide * kSide; ++other) {
      const auto near = [](int a, int b) { return std::abs(a - b) <= 1; };
      if (!near(box % kSide, other % kSide) || !near(box / kSide % kSide, other / kSide % kSide) || !near(box / 64, other / 64))
        continue;
      for (int i = 0; i < kParticles; ++i)
        for (int j = 0; j < kParticles; ++j) {
          const std::size_t a = (static_cast<std::size_t>(box) * kParticles + i) * 4,
                            n = static_cast<std::size_t>(other) * kParticles + j;
          double dot = 0;
          for (std::size_t c = 0; c < 3; ++c) dot += position[a + c] * position[4 * n + c];
          const double v = charge[n] * std::exp(-2 * alpha * alpha * (position[a + 3] + position[4 * n + 3] - dot));
          for (std::size_t c = 0; c < 3; ++c) want[a + c] += 2 * v * (position[a + c] - position[4 * n + c]);
          want[a + 3] += v;
        }
    }
  return near(
      "force", as<double>(buffers[2]), [&](std::size_t i) { return want[i]; }, 1e-9, 1e-9);
}

std::string check_nbody(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto body = host_fill<float>(spec.arguments[0]), source = host_fill<float>(spec.arguments[1]);
  const double softening = value<float>(spec.arguments[4]);
  const auto got = as<float>(buffers[2]);
  for (std::size_t i = 0; i < got.size(); i += 4) {
    std::array<double, 3> want{}, size{};
    for (std::size_t j = 0; j < source.size(); j += 4) {
      std::array<double, 3> apart{};
      double square = softening;
      for (std::size_t c = 0; c < 3; ++c) {
        apart[c] = double{source[j + c]} - body[i + c];
        square += apart[c] * apart[c];
      }
      for (std::size_t c = 0; c < 3; ++c) {
        want[c] += apart[c] * source[j + 3] / (square * std::sqrt(square));
        size[c] += std::abs(apart[c] * source[j + 3] / (square * std::sqrt(square)));
      }
    }
    for (std::size_t c = 0; c < 3; ++c)
      if (!(std::abs(got[i + c] - want[c]) <= 1e-5 * size[c]))
        return fmt::format("acceleration[{}].{} = {}, CPU {}", i / 4, c, got[i + c], want[c]);
  }
  return "";
}

std::string check_particle_filter(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto cumulated = host_fill<float>(spec.arguments[0]), number = host_fill<float>(spec.arguments[1]);
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    const auto place = host_fill<float>(spec.arguments[2 + axis]);
    std::string wrong = same(axis == 0 ? "x" : "y", as<float>(buffers[4 + axis]), [&](std::size_t i) {
      const auto found = std::lower_bound(cumulated.begin(), cumulated.end() - 1, number[i]);
      return place[static_cast<std::size_t>(found - cumulated.begin())];
    });
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string check_tpacf(const LaunchSpec& spec, const HostBuffers& buffers) {
  constexpr std::size_t kBins = 20;
  const auto sets = host_fill<float>(spec.arguments[0]), data = host_fill<float>(spec.arguments[1]);
  const auto edge = host_fill<float>(spec.arguments[2]);
  const auto points = static_cast<std::size_t>(value<std::uint32_t>(spec.arguments[4]));
  const auto got = as<std::uint32_t>(buffers[3]);
  for (std::size_t set = 0; set < got.size() / kBins; ++set) {
    std::array<std::int64_t, kBins> want{}, unsure{};
    for (std::size_t i = 0; i < points; ++i)
      for (std::size_t j = 0; j < points; ++j) {
        double dot = 0;
        for (std::size_t c = 0; c < 3; ++c) dot += double{sets[(set * 3 + c) * points + i]} * data[c * points + j];
        const auto bin = [&](double v) {
          const auto above = std::upper_bound(edge.begin() + 1, edge.end(), v);
          return static_cast<std::size_t>(above - edge.begin() - 1);
        };
        ++want[bin(dot)];
        constexpr double kRounding = 1e-6;  // so near an edge either bin is right
        if (bin(dot - kRounding) != bin(dot + kRounding)) {
          ++unsure[bin(dot - kRounding)];
          ++unsure[bin(dot + kRounding)];
        }
      }
    std::uint64_t all = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      all += got[set * kBins + bin];
      if (std::abs(static_cast<std::int64_t>(got[set * kBins + bin]) - want[bin]) > unsure[bin])
        return fmt::format("bin {} of set {}: {}, CPU {}", bin, set, got[set * kBins + bin], want[bin]);
    }
    if (all != points * points) return fmt::format("set {}: {} pairs, CPU {}", set, all, points * points);
  }
  return "";
}

}  // namespace sluice::gpu
