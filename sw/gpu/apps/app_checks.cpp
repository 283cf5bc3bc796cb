// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/app_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sw/gpu/apps/check_tools.h"

namespace sluice::gpu {

namespace {

constexpr std::uint32_t kPoison32 = 0xa5a5a5a5;
constexpr std::uint8_t kPoison8 = 0xa5;

double normal(double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); }

}  // namespace

std::string check_black_scholes(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto price = host_fill<float>(spec.arguments[0]), strike = host_fill<float>(spec.arguments[1]),
             years = host_fill<float>(spec.arguments[2]);
  const double rate = value<float>(spec.arguments[5]), volatility = value<float>(spec.arguments[6]);
  const auto option = [&](std::size_t i, bool call) {
    const double s = price[i], x = strike[i], t = years[i];
    const double d1 = (std::log(s / x) + (rate + volatility * volatility / 2) * t) / (volatility * std::sqrt(t));
    const double d2 = d1 - volatility * std::sqrt(t);
    return call ? s * normal(d1) - x * std::exp(-rate * t) * normal(d2) : x * std::exp(-rate * t) * normal(-d2) - s * normal(-d1);
  };
  const std::string calls = near(
      "call", as<float>(buffers[3]), [&](std::size_t i) { return option(i, true); }, 1e-4, 1e-3);
  return !calls.empty() ? calls
                        : near(
                              "put", as<float>(buffers[4]), [&](std::size_t i) { return option(i, false); }, 1e-4, 1e-3);
}

std::string check_bfs(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto row = host_fill<std::uint32_t>(spec.arguments[0]), edge = host_fill<std::uint32_t>(spec.arguments[1]);
  const auto frontier = host_fill<std::uint8_t>(spec.arguments[2]), visited = host_fill<std::uint8_t>(spec.arguments[3]);
  std::vector<std::uint32_t> cost(frontier.size(), kPoison32);
  std::vector<std::uint8_t> reached(frontier.size(), kPoison8);
  for (std::size_t node = 0; node < frontier.size(); ++node) {
    if (frontier[node] == 0) continue;
    for (std::uint32_t e = row[node]; e < row[node + 1]; ++e) {
      if (visited[edge[e]] != 0) continue;
      cost[edge[e]] = value<std::uint32_t>(spec.arguments[6]) + 1;
      reached[edge[e]] = 1;
    }
  }
  const std::string costs = same("cost", as<std::uint32_t>(buffers[4]), [&](std::size_t i) { return cost[i]; });
  return !costs.empty() ? costs : same("reached", as<std::uint8_t>(buffers[5]), [&](std::size_t i) { return reached[i]; });
}

std::string check_dxt(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto image = host_fill<std::uint32_t>(spec.arguments[0]);
  const auto width = value<std::uint32_t>(spec.arguments[2]);
  using Colour = std::array<int, 3>;
  const auto channel = [](std::uint32_t pixel, std::size_t c) { return static_cast<int>(pixel >> (8 * c) & 255); };
  const auto pack = [](const Colour& c) { return static_cast<unsigned>((c[0] >> 3) << 11 | (c[1] >> 2) << 5 | c[2] >> 3); };
  const auto unpack = [](unsigned c) {
    const int r = static_cast<int>(c >> 11), g = static_cast<int>(c >> 5 & 63), b = static_cast<int>(c & 31);
    return Colour{r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2};
  };
  const auto tile = [&](std::size_t id) {
    std::array<std::uint32_t, 16> pixels{};
    for (std::size_t p = 0; p < 16; ++p) pixels[p] = image[(id / (width / 4) * 4 + p / 4) * width + id % (width / 4) * 4 + p % 4];
    Colour low{255, 255, 255}, high{0, 0, 0};
    for (const std::uint32_t p : pixels)
      for (std::size_t c = 0; c < 3; ++c) {
        low[c] = std::min(low[c], channel(p, c));
        high[c] = std::max(high[c], channel(p, c));
      }
    int least = -1;
    std::uint64_t best = 0;
    for (int pair = 0; pair < 16; ++pair) {
      Colour first{}, second{};
      for (std::size_t c = 0; c < 3; ++c) {
        first[c] = high[c] - (high[c] - low[c]) * (pair & 3) / 16;
        second[c] = low[c] + (high[c] - low[c]) * (pair >> 2) / 16;
      }
      const unsigned c0 = pack(first), c1 = pack(second);
      std::array<Colour, 4> palette{unpack(c0), unpack(c1), Colour{}, Colour{}};
      for (std::size_t c = 0; c < 3; ++c) {
        palette[2][c] = (2 * palette[0][c] + palette[1][c]) / 3;
        palette[3][c] = (palette[0][c] + 2 * palette[1][c]) / 3;
      }
      int error = 0;
      std::uint32_t indices = 0;
      for (std::size_t p = 0; p < 16; ++p) {
        std::array<int, 4> d{};
        for (std::size_t k = 0; k < 4; ++k)
          for (std::size_t c = 0; c < 3; ++c) {
            const int x = channel(pixels[p], c) - palette[k][c];
            d[k] += x * x;
          }
        const auto nearest = std::ranges::min_element(d);
        error += *nearest;
        indices |= static_cast<std::uint32_t>(nearest - d.begin()) << (2 * p);
      }
      if (least < 0 || error < least) {
        least = error;
        best = (std::uint64_t{indices} << 32) | (c0 | c1 << 16);
      }
    }
    return best;
  };
  return same("tile", as<std::uint64_t>(buffers[1]), tile);
}

std::string check_hotspot(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto columns = value<std::int32_t>(spec.arguments[3]), rows = value<std::int32_t>(spec.arguments[4]);
  const double cap = value<float>(spec.arguments[5]), rx = value<float>(spec.arguments[6]), ry = value<float>(spec.arguments[7]),
               rz = value<float>(spec.arguments[8]), ambient = value<float>(spec.arguments[9]);
  const auto temperature = host_fill<float>(spec.arguments[0]), power = host_fill<float>(spec.arguments[1]);
  std::vector<double> now(temperature.begin(), temperature.end()), next(now.size());
  const auto at = [&](std::int32_t x, std::int32_t y) {
    return now[static_cast<std::size_t>(std::clamp(y, 0, rows - 1)) * static_cast<std::size_t>(columns) +
               static_cast<std::size_t>(std::clamp(x, 0, columns - 1))];
  };
  for (int step = 0; step < 4; ++step) {
    for (std::int32_t y = 0; y < rows; ++y)
      for (std::int32_t x = 0; x < columns; ++x) {
        const std::size_t i = static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x);
        const double t = now[i];
        next[i] = t + cap * (power[i] + (at(x, y - 1) + at(x, y + 1) - 2 * t) * ry + (at(x - 1, y) + at(x + 1, y) - 2 * t) * rx +
                             (ambient - t) * rz);
      }
    now.swap(next);
  }
  return near(
      "temperature", as<float>(buffers[2]), [&](std::size_t i) { return now[i]; }, 1e-5);
}

std::string check_denoise(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto image = host_fill<std::uint32_t>(spec.arguments[0]);
  const auto width = static_cast<std::size_t>(value<std::int32_t>(spec.arguments[2]));
  const double likeness = value<float>(spec.arguments[3]), nearness = value<float>(spec.arguments[4]);
  const auto out = as<std::uint32_t>(buffers[1]);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t x = i % width + 3, y = i / width + 3, pitch = width + 6;
    const auto channel = [](std::uint32_t p, unsigned c) { return static_cast<double>(p >> (8 * c) & 255); };
    std::array<double, 3> sum{};
    double weight = 0;
    const std::uint32_t centre = image[y * pitch + x];
    for (int dy = -3; dy <= 3; ++dy)
      for (int dx = -3; dx <= 3; ++dx) {
        const std::uint32_t p = image[(y + static_cast<std::size_t>(dy)) * pitch + x + static_cast<std::size_t>(dx)];
        double difference = 0;
        for (unsigned c = 0; c < 3; ++c) difference += std::pow(channel(p, c) - channel(centre, c), 2);
        const double w = std::exp(-difference * likeness - (dx * dx + dy * dy) * nearness);
        for (unsigned c = 0; c < 3; ++c) sum[c] += w * channel(p, c);
        weight += w;
      }
    for (unsigned c = 0; c < 3; ++c)  // 0.51: the GPU's exponential may round the other way
      if (std::abs(channel(out[i], c) - sum[c] / weight) > 0.51)
        return fmt::format("pixel {} channel {} = {}, CPU {}", i, c, channel(out[i], c), sum[c] / weight);
    if ((out[i] >> 24) != (centre >> 24)) return fmt::format("pixel {}: alpha changed", i);
  }
  return "";
}

std::string check_knn(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto points = host_fill<float>(spec.arguments[0]);
  const auto query = value<std::array<float, 2>>(spec.arguments[1]);
  const auto distance = as<float>(buffers[2]);
  const auto index = as<std::uint32_t>(buffers[3]);
  const auto exact = [&](std::size_t i) {
    return std::hypot(double{points[2 * i]} - query[0], double{points[2 * i + 1]} - query[1]);
  };
  for (std::size_t block = 0; block < index.size() / 4; ++block) {
    std::vector<double> all;
    for (std::size_t i = 0; i < 4096; ++i) all.push_back(exact(block * 4096 + i));
    std::ranges::nth_element(all, all.begin() + 4);
    std::ranges::sort(all.begin(), all.begin() + 4);
    for (std::size_t r = 0; r < 4; ++r) {
      const std::size_t i = index[block * 4 + r];
      if (i / 4096 != block) return fmt::format("index[{}] = {} is not in block {}", block * 4 + r, i, block);
      if (r > 0 && i == index[block * 4 + r - 1]) return fmt::format("block {}: point {} twice", block, i);
      if (std::abs(distance[block * 4 + r] - all[r]) > 1e-5 * all[r] + 1e-5 || std::abs(exact(i) - all[r]) > 1e-5 * all[r] + 1e-5)
        return fmt::format("block {} neighbour {}: distance {}, CPU {}", block, r, distance[block * 4 + r], all[r]);
    }
  }
  return "";
}

std::string check_lbm(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto from = host_fill<float>(spec.arguments[0]), to = as<float>(buffers[1]);
  const std::size_t nx = 128, ny = spec.grid[0], nz = spec.grid[1], cells = nx * ny * nz;
  const double omega = value<float>(spec.arguments[2]);
  // Directions by their own rule, in the kernel's order: rest, axes, diagonals of the planes xy, xz, yz.
  constexpr int kC[19][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
                             {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
                             {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t x = cell % nx, y = cell / nx % ny, z = cell / nx / ny;
    std::array<double, 19> f{};
    double density = 0;
    std::array<double, 3> u{};
    for (std::size_t q = 0; q < 19; ++q) {
      const std::size_t sx = (x + nx - static_cast<std::size_t>(kC[q][0])) % nx,
                        sy = (y + ny - static_cast<std::size_t>(kC[q][1])) % ny,
                        sz = (z + nz - static_cast<std::size_t>(kC[q][2])) % nz;
      f[q] = from[q * cells + (sz * ny + sy) * nx + sx];
      density += f[q];
      for (std::size_t d = 0; d < 3; ++d) u[d] += kC[q][d] * f[q];
    }
    for (double& v : u) v /= density;
    for (std::size_t q = 0; q < 19; ++q) {
      const double cu = kC[q][0] * u[0] + kC[q][1] * u[1] + kC[q][2] * u[2];
      const double weight = q == 0 ? 1.0 / 3 : q < 7 ? 1.0 / 18 : 1.0 / 36;
      const double equilibrium =
          weight * density * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
      const double want = f[q] + omega * (equilibrium - f[q]);
      if (!(std::abs(to[q * cells + cell] - want) <= 2e-5 * std::abs(want)))
        return fmt::format("direction {} cell {} = {}, CPU {}", q, cell, to[q * cells + cell], want);
    }
  }
  return "";
}

std::string check_matrix_multiply(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto a = host_fill<float>(spec.arguments[0]), b = host_fill<float>(spec.arguments[1]);
  const auto inner = static_cast<std::size_t>(value<std::int32_t>(spec.arguments[3])),
             columns = static_cast<std::size_t>(value<std::int32_t>(spec.arguments[4]));
  return near(
      "c", as<float>(buffers[2]),
      [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < inner; ++k) sum += double{a[i / columns * inner + k]} * b[k * columns + i % columns];
        return sum;
      },
      1e-5, 1e-4);
}

std::string check_matrix_vector(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto a = host_fill<float>(spec.arguments[0]), x = host_fill<float>(spec.arguments[1]);
  return near(
      "y", as<float>(buffers[2]),
      [&](std::size_t i) {
        double sum = 0;
        for (std::size_t k = 0; k < x.size(); ++k) sum += double{a[i * x.size() + k]} * x[k];
        return sum;
      },
      1e-5, 1e-5);
}

std::string check_neural_network(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto pictures = host_fill<float>(spec.arguments[0]), weights = host_fill<float>(spec.arguments[1]);
  const auto maps = static_cast<std::size_t>(value<std::int32_t>(spec.arguments[3]));
  return near(
      "neuron", as<float>(buffers[2]),
      [&](std::size_t i) {
        const std::size_t picture = i / 169 / maps, map = i / 169 % maps, y = i % 169 / 13, x = i % 13;
        double sum = weights[map * 26];
        for (std::size_t k = 0; k < 25; ++k)
          sum += double{weights[map * 26 + 1 + k]} * pictures[picture * 841 + (2 * y + k / 5) * 29 + 2 * x + k % 5];
        return 1.7159 * std::tanh(0.66666667 * sum);
      },
      1e-4, 1e-5);
}

std::string check_micro_fma(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto a = value<float>(spec.arguments[1]), b = value<float>(spec.arguments[2]);
  return same("out", as<float>(buffers[0]), [&](std::size_t i) {
    float sum = 0;
    for (std::size_t c = 0; c < 8; ++c) {
      auto v = static_cast<float>(i % 256 + c);
      for (int step = 0; step < 128; ++step) v = std::fma(v, a, b);
      sum += v;
    }
    return sum;
  });
}

std::string check_micro_sfu(const LaunchSpec& spec, const HostBuffers& buffers) {
  static_cast<void>(spec);
  return near(
      "out", as<float>(buffers[0]),
      [&](std::size_t i) {
        double sum = 0;
        for (std::size_t c = 0; c < 4; ++c) {
          double v = 0.001 * static_cast<double>(i % 256 + c);
          for (int step = 0; step < 32; ++step) v = std::exp2(-v);
          sum += v;
        }
        return sum;
      },
      1e-5);
}

std::string check_micro_stream(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto in = host_fill<float>(spec.arguments[0]);
  return same("out", as<float>(buffers[1]), [&](std::size_t i) { return in[i]; });
}

std::string check_micro_shared(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto steps = static_cast<std::uint32_t>(value<std::int32_t>(spec.arguments[1]));
  std::vector<std::uint32_t> words(2048), sum(256);
  for (std::uint32_t i = 0; i < 2048; ++i) words[i] = i * 2654435761U;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t t = 0; t < 256; ++t)
      for (std::uint32_t i = 0; i < 8; ++i) sum[t] += words[(i * 256 + t + step * 32) & 2047];
    for (std::uint32_t t = 0; t < 256; ++t) words[(step * 256 + t) & 2047] = sum[t];
  }
  return same("out", as<std::uint32_t>(buffers[0]), [&](std::size_t i) { return sum[i % 256]; });
}

std::string check_micro_l1(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto in = host_fill<std::uint32_t>(spec.arguments[0]);
  return same("out", as<std::uint32_t>(buffers[1]), [&](std::size_t i) {
    std::uint32_t sum = 0;
    for (std::size_t pass = 0; pass < 8; ++pass)
      for (std::size_t k = 0; k < 6144; k += 128) sum = sum * 3 + in[i / 128 * 6144 + (k + i % 128 + pass * 128) % 6144];
    return sum;
  });
}

std::string check_micro_latency(const LaunchSpec& spec, const HostBuffers& buffers) {
  const auto next = host_fill<std::uint32_t>(spec.arguments[0]);
  const auto mask = value<std::uint32_t>(spec.arguments[2]);
  return same("out", as<std::uint32_t>(buffers[1]), [&](std::size_t i) {
    std::uint32_t at = (static_cast<std::uint32_t>(i) * 2654435761U) & mask;
    for (int hop = 0; hop < 8; ++hop) at = next[at];
    return at;
  });
}

}  // namespace sluice::gpu
