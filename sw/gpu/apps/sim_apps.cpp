// SPDX-License-Identifier: Apache-2.0
// SiM's kernels: six of the SDK, Rodinia and Parboil, each with the shape of a block as there. The seventh is EffiSha's MD5Hash.
#include "sw/gpu/apps/app_rows.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

std::string check_binomial_options(const CheckedRun& run) {
  constexpr std::size_t kSteps = 2048;
  const auto price = run.in<float>(0), strike = run.in<float>(1), years = run.in<float>(2);
  const double rate = run.value<float>(4), volatility = run.value<float>(5);
  return near("call", run.out<float>(3), 3e-3, 5e-3, [&](std::size_t option) {
    const double dt = double{years[option]} / kSteps, up = std::exp(volatility * std::sqrt(dt));
    const double chance = (std::exp(rate * dt) - 1 / up) / (up - 1 / up), discount = std::exp(-rate * dt);
    std::vector<double> leaf(kSteps + 1);
    for (std::size_t i = 0; i <= kSteps; ++i)
      leaf[i] = std::max(price[option] * std::pow(up, 2 * static_cast<double>(i) - kSteps) - strike[option], 0.0);
    for (std::size_t step = kSteps; step > 0; --step)
      for (std::size_t i = 0; i < step; ++i) leaf[i] = discount * (chance * leaf[i + 1] + (1 - chance) * leaf[i]);
    return leaf[0];
  });
}
App binomial_options(std::uint32_t blocks) {
  return {launch("BO", "binomial_options.cu", "binomial_options", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::F32, blocks, 5, 30, 1), uniform(Type::F32, blocks, 1, 100, 2),
                  uniform(Type::F32, blocks, 0.25F, 10, 3), out(Type::F32, blocks), scalar(0.02F), scalar(0.3F)}),
          "Binomial options", check_binomial_options};
}

std::string check_fdtd3d(const CheckedRun& run) {
  constexpr std::size_t kRadius = 4;
  const auto in = run.in<float>(0), got = run.out<float>(1);
  const std::size_t width = run.value<std::uint32_t>(2), plane = width * run.value<std::uint32_t>(3);
  for (std::size_t z = kRadius; z + kRadius < in.size() / plane; ++z)
    for (std::size_t y = kRadius; y + kRadius < plane / width; ++y)
      for (std::size_t x = kRadius; x + kRadius < width; ++x) {
        const std::size_t own = z * plane + y * width + x;
        double want = double{run.value<float>(5)} * in[own];
        for (std::size_t i = 1; i <= kRadius; ++i)
          for (const std::size_t step : {std::size_t{1}, width, plane})
            want += double{run.value<float>(5 + i)} * (double{in[own - i * step]} + in[own + i * step]);
        if (!(std::abs(got[own] - want) <= 1e-5)) return fmt::format("cell {},{},{} = {}, CPU {}", x, y, z, got[own], want);
      }
  return "";
}
App fdtd3d(std::uint32_t blocks) {
  const std::uint32_t planes = blocks < 64 ? 8 : 376;
  const Tiles grid = tiles(blocks);
  const std::uint32_t width = grid.columns * 32 + 8, rows = grid.rows * 16 + 8;
  const std::size_t n = std::size_t{width} * rows * (planes + 8);
  return {launch("FD", "fdtd3d.cu", "fdtd3d", {grid.columns, grid.rows, 1}, {32, 16, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n), scalar(width), scalar(rows), scalar(planes), scalar(0.4F),
                  scalar(0.1F), scalar(-0.05F), scalar(0.02F), scalar(-0.01F)}),
          "Finite differences", check_fdtd3d};
}

std::string check_lava_md(const CheckedRun& run) {
  constexpr int kSide = 8, kParticles = 100;
  const auto position = run.in<double>(0), charge = run.in<double>(1);
  const auto layers = static_cast<int>(run.value<std::uint32_t>(3));
  const double alpha = run.value<double>(4);
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
  return near("force", run.out<double>(2), 1e-9, 1e-9, [&](std::size_t i) { return want[i]; });
}
App lava_md(std::uint32_t blocks) {
  const std::uint32_t layers = std::max(blocks / 64, 1U), boxes = layers * 64;
  const std::size_t n = std::size_t{boxes} * 100;
  return {launch("LM", "lava_md.cu", "lava_md", {boxes, 1, 1}, {128, 1, 1},
                 {uniform(Type::F64, n * 4, 0.1F, 1, 1), uniform(Type::F64, n, 0.1F, 1, 2), out(Type::F64, n * 4), scalar(layers),
                  scalar(0.5)}),
          "Particles in boxes", check_lava_md};
}

std::string check_nbody(const CheckedRun& run) {
  const auto body = run.in<float>(0), source = run.in<float>(1);
  const double softening = run.value<float>(4);
  const auto got = run.out<float>(2);
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
App nbody(std::uint32_t blocks) {
  const std::uint32_t sources = blocks < 64 ? 2048 : 32768;
  const std::size_t n = std::size_t{blocks} * 256 * 4;
  return {launch("NB", "nbody.cu", "nbody", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, -1, 1, 1), uniform(Type::F32, std::size_t{sources} * 4, -1, 1, 2), out(Type::F32, n),
                  scalar(sources), scalar(0.01F)}),
          "Gravitation", check_nbody};
}

std::string check_particle_filter(const CheckedRun& run) {
  const auto cumulated = run.in<float>(0), number = run.in<float>(1);
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    const auto place = run.in<float>(2 + axis);
    std::string wrong = same(axis == 0 ? "x" : "y", run.out<float>(4 + axis), [&](std::size_t i) {
      const auto found = std::lower_bound(cumulated.begin(), cumulated.end() - 1, number[i]);
      return place[static_cast<std::size_t>(found - cumulated.begin())];
    });
    if (!wrong.empty()) return wrong;
  }
  return "";
}
App particle_filter(std::uint32_t blocks) {
  const std::uint32_t weights = blocks < 64 ? 1024 : 65536;
  const std::size_t n = std::size_t{blocks} * 128;
  const float weight = 1.0F / static_cast<float>(weights);
  return {launch("PF", "particle_filter.cu", "particle_filter", {blocks, 1, 1}, {128, 1, 1},
                 {buffer(Kind::In, Type::F32, weights, SLUICE_FILL_IOTA, 1, weight, weight), uniform(Type::F32, n, 0, 1, 2),
                  uniform(Type::F32, weights, -100, 100, 3), uniform(Type::F32, weights, -100, 100, 4), out(Type::F32, n),
                  out(Type::F32, n), scalar(weights)}),
          "Particle filter", check_particle_filter};
}

std::string check_tpacf(const CheckedRun& run) {
  constexpr std::size_t kBins = 20;
  const auto sets = run.in<float>(0), data = run.in<float>(1);
  const auto edge = run.in<float>(2);
  const auto points = static_cast<std::size_t>(run.value<std::uint32_t>(4));
  const auto got = run.out<std::uint32_t>(3);
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
App tpacf(std::uint32_t blocks) {
  const std::uint32_t points = blocks < 64 ? 512 : 1024;
  return {launch("TP", "tpacf.cu", "tpacf", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{blocks} * 3 * points, -1, 1, 1),
                  uniform(Type::F32, std::size_t{3} * points, -1, 1, 2),
                  buffer(Kind::In, Type::F32, 20, SLUICE_FILL_IOTA, 1, 0.1F, -1), out(Type::U32, std::size_t{blocks} * 20),
                  scalar(points)}),
          "Two-point correlation", check_tpacf};
}

constexpr AppRow kSimRows[] = {{"BO", binomial_options, 40, 8192}, {"FD", fdtd3d, 12, 512},
                               {"LM", lava_md, 128, 8192},         {"NB", nbody, 40, 528},
                               {"PF", particle_filter, 40, 8192},  {"TP", tpacf, 20, 1056}};

}  // namespace

std::span<const AppRow> sim_rows() { return kSimRows; }

}  // namespace sluice::gpu
