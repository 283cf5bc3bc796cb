// SPDX-License-Identifier: Apache-2.0
// The ten applications of Warped-Slicer's table II, and six micro kernels.
#include "sw/gpu/apps/app_rows.h"

namespace sluice::gpu {

namespace {

using namespace app_parts;  // NOLINT(google-build-using-namespace): this folder's own

constexpr std::uint32_t kPoison32 = 0xa5a5a5a5;
constexpr std::uint8_t kPoison8 = 0xa5;

double normal(double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); }

std::string check_black_scholes(const CheckedRun& run) {
  const auto price = run.in<float>(0), strike = run.in<float>(1), years = run.in<float>(2);
  const double rate = run.value<float>(5), volatility = run.value<float>(6);
  const auto option = [&](std::size_t i, bool call) {
    const double s = price[i], x = strike[i], t = years[i];
    const double d1 = (std::log(s / x) + (rate + volatility * volatility / 2) * t) / (volatility * std::sqrt(t));
    const double d2 = d1 - volatility * std::sqrt(t);
    return call ? s * normal(d1) - x * std::exp(-rate * t) * normal(d2) : x * std::exp(-rate * t) * normal(-d2) - s * normal(-d1);
  };
  const std::string calls = near("call", run.out<float>(3), 1e-4, 1e-3, [&](std::size_t i) { return option(i, true); });
  return !calls.empty() ? calls : near("put", run.out<float>(4), 1e-4, 1e-3, [&](std::size_t i) { return option(i, false); });
}
App black_scholes(bool full) {
  const std::uint32_t blocks = full ? 131072 : 160;
  const std::size_t n = std::size_t{blocks} * 1024;
  return {launch("BLK", "black_scholes.cu", "black_scholes", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::F32, n, 5, 30, 1), uniform(Type::F32, n, 1, 100, 2), uniform(Type::F32, n, 0.25F, 10, 3),
                  out(Type::F32, n), out(Type::F32, n), scalar(0.02F), scalar(0.3F)}),
          "Black-Scholes", check_black_scholes};
}

std::string check_bfs(const CheckedRun& run) {
  const auto row = run.in<std::uint32_t>(0), edge = run.in<std::uint32_t>(1);
  const auto frontier = run.in<std::uint8_t>(2), visited = run.in<std::uint8_t>(3);
  std::vector<std::uint32_t> cost(frontier.size(), kPoison32);
  std::vector<std::uint8_t> reached(frontier.size(), kPoison8);
  for (std::size_t node = 0; node < frontier.size(); ++node) {
    if (frontier[node] == 0) continue;
    for (std::uint32_t e = row[node]; e < row[node + 1]; ++e) {
      if (visited[edge[e]] != 0) continue;
      cost[edge[e]] = run.value<std::uint32_t>(6) + 1;
      reached[edge[e]] = 1;
    }
  }
  const std::string costs = same("cost", run.out<std::uint32_t>(4), [&](std::size_t i) { return cost[i]; });
  return !costs.empty() ? costs : same("reached", run.out<std::uint8_t>(5), [&](std::size_t i) { return reached[i]; });
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
      "Breadth-first search", check_bfs};
}

std::string check_dxt(const CheckedRun& run) {
  const auto image = run.in<std::uint32_t>(0);
  const auto width = run.value<std::uint32_t>(2);
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
  return same("tile", run.out<std::uint64_t>(1), tile);
}
App dxt(bool full) {
  const std::uint32_t width = full ? 8192 : 256, height = full ? 4096 : 128;
  const std::uint32_t tiles = width / 4 * (height / 4);
  return {launch("DXT", "dxt.cu", "dxt", {tiles / 8, 1, 1}, {64, 1, 1},
                 {uniform(Type::U32, std::size_t{width} * height, 0, 4.0e9F, 1), out(Type::U64, tiles), scalar(width)}),
          "DXT compression", check_dxt};
}

std::string check_hotspot(const CheckedRun& run) {
  const auto columns = run.value<std::int32_t>(3), rows = run.value<std::int32_t>(4);
  const double cap = run.value<float>(5), rx = run.value<float>(6), ry = run.value<float>(7), rz = run.value<float>(8),
               ambient = run.value<float>(9);
  const auto temperature = run.in<float>(0), power = run.in<float>(1);
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
  return near("temperature", run.out<float>(2), 1e-5, 0, [&](std::size_t i) { return now[i]; });
}
App hotspot(bool full) {
  const std::uint32_t columns = full ? 12288 : 300, rows = full ? 12288 : 200;
  const std::size_t n = std::size_t{columns} * rows;
  return {launch("HOT", "hotspot.cu", "hotspot", {(columns + 55) / 56, (rows + 23) / 24, 1}, {64, 4, 1},
                 {uniform(Type::F32, n, 323, 341, 1), uniform(Type::F32, n, 0, 0.5F, 2), out(Type::F32, n),
                  scalar(static_cast<std::int32_t>(columns)), scalar(static_cast<std::int32_t>(rows)), scalar(0.1F), scalar(0.4F),
                  scalar(0.3F), scalar(0.02F), scalar(80.0F)}),
          "Hotspot", check_hotspot};
}

std::string check_denoise(const CheckedRun& run) {
  const auto image = run.in<std::uint32_t>(0);
  const auto width = static_cast<std::size_t>(run.value<std::int32_t>(2));
  const double likeness = run.value<float>(3), nearness = run.value<float>(4);
  const auto out = run.out<std::uint32_t>(1);
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
App denoise(bool full) {
  const std::uint32_t width = full ? 8192 : 128, height = full ? 2048 : 96;
  return {launch("IMG", "denoise.cu", "denoise", {width / 8, height / 16, 1}, {8, 8, 1},
                 {uniform(Type::U32, std::size_t{width + 6} * (height + 6), 0, 4.0e9F, 1),
                  out(Type::U32, std::size_t{width} * height), scalar(static_cast<std::int32_t>(width)), scalar(0.0004F),
                  scalar(0.05F)}),
          "Image denoising", check_denoise};
}

std::string check_knn(const CheckedRun& run) {
  const auto points = run.in<float>(0);
  const auto query = run.value<std::array<float, 2>>(1);
  const auto distance = run.out<float>(2);
  const auto index = run.out<std::uint32_t>(3);
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
App knn(bool full) {
  const std::uint32_t blocks = full ? 98304 : 100;
  return {launch("KNN", "knn.cu", "knn", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{blocks} * 8192, -180, 180, 1), scalar(std::array<float, 2>{12.5F, 41.25F}),
                  out(Type::F32, std::size_t{blocks} * 4), out(Type::U32, std::size_t{blocks} * 4)}),
          "k-nearest neighbour", check_knn};
}

std::string check_lbm(const CheckedRun& run) {
  const auto from = run.in<float>(0), to = run.out<float>(1);
  const std::size_t nx = 128, ny = run.spec.grid[0], nz = run.spec.grid[1], cells = nx * ny * nz;
  const double omega = run.value<float>(2);
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
App lbm(bool full) {
  const std::uint32_t ny = full ? 512 : 16, nz = full ? 384 : 12;
  const std::size_t n = std::size_t{128} * ny * nz * 19;
  return {launch("LBM", "lbm.cu", "lbm", {ny, nz, 1}, {128, 1, 1},
                 {uniform(Type::F32, n, 0.04F, 0.06F, 1), out(Type::F32, n), scalar(1.2F)}),
          "Lattice-Boltzmann", check_lbm};
}

std::string check_matrix_multiply(const CheckedRun& run) {
  const auto a = run.in<float>(0), b = run.in<float>(1);
  const auto inner = static_cast<std::size_t>(run.value<std::int32_t>(3)),
             columns = static_cast<std::size_t>(run.value<std::int32_t>(4));
  return near("c", run.out<float>(2), 1e-5, 1e-4, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < inner; ++k) sum += double{a[i / columns * inner + k]} * b[k * columns + i % columns];
    return sum;
  });
}
App matrix_multiply(bool full) {
  const std::uint32_t rows = full ? 8192 : 320, columns = full ? 8192 : 448, inner = full ? 256 : 64;
  return {launch("MM", "matrix_multiply.cu", "matrix_multiply<64, 16>", {columns / 64, rows / 64, 1}, {256, 1, 1},
                 {uniform(Type::F32, std::size_t{rows} * inner, -1, 1, 1),
                  uniform(Type::F32, std::size_t{inner} * columns, -1, 1, 2), out(Type::F32, std::size_t{rows} * columns),
                  scalar(static_cast<std::int32_t>(inner)), scalar(static_cast<std::int32_t>(columns))}),
          "Matrix multiply", check_matrix_multiply};
}

std::string check_matrix_vector(const CheckedRun& run) {
  const auto a = run.in<float>(0), x = run.in<float>(1);
  return near("y", run.out<float>(2), 1e-5, 1e-5, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += double{a[i * x.size() + k]} * x[k];
    return sum;
  });
}
App matrix_vector(bool full) {
  const std::uint32_t blocks = full ? 43690 : 100, columns = 64;
  const std::size_t rows = std::size_t{blocks} * 192;
  return {launch("MVP", "matrix_vector.cu", "matrix_vector", {blocks, 1, 1}, {192, 1, 1},
                 {uniform(Type::F32, rows * columns, -1, 1, 1), uniform(Type::F32, columns, -1, 1, 2), out(Type::F32, rows),
                  scalar(static_cast<std::int32_t>(columns))}),
          "Matrix-vector product", check_matrix_vector};
}

std::string check_neural_network(const CheckedRun& run) {
  const auto pictures = run.in<float>(0), weights = run.in<float>(1);
  const auto maps = static_cast<std::size_t>(run.value<std::int32_t>(3));
  return near("neuron", run.out<float>(2), 1e-4, 1e-5, [&](std::size_t i) {
    const std::size_t picture = i / 169 / maps, map = i / 169 % maps, y = i % 169 / 13, x = i % 13;
    double sum = weights[map * 26];
    for (std::size_t k = 0; k < 25; ++k)
      sum += double{weights[map * 26 + 1 + k]} * pictures[picture * 841 + (2 * y + k / 5) * 29 + 2 * x + k % 5];
    return 1.7159 * std::tanh(0.66666667 * sum);
  });
}
App neural_network(std::uint32_t pictures) {
  constexpr std::uint32_t kMaps = 8;
  return {launch("NN", "neural_network.cu", "neural_network", {pictures, 1, 1}, {13, 13, 1},
                 {uniform(Type::F32, std::size_t{pictures} * 841, -1, 1, 1),
                  uniform(Type::F32, std::size_t{kMaps} * 26, -0.3F, 0.3F, 2),
                  out(Type::F32, std::size_t{pictures} * kMaps * 169), scalar(static_cast<std::int32_t>(kMaps))}),
          "Neural network layer", check_neural_network};
}

std::string check_micro_fma(const CheckedRun& run) {
  const auto a = run.value<float>(1), b = run.value<float>(2);
  return same("out", run.out<float>(0), [&](std::size_t i) {
    float sum = 0;
    for (std::size_t c = 0; c < 8; ++c) {
      auto v = static_cast<float>(i % 256 + c);
      for (int step = 0; step < 128; ++step) v = std::fma(v, a, b);
      sum += v;
    }
    return sum;
  });
}
App micro_fma(bool full) {
  const std::uint32_t blocks = full ? 131072 : 50;
  return {launch("FMA", "micro.cu", "micro_fma", {blocks, 1, 1}, {256, 1, 1},
                 {out(Type::F32, std::size_t{blocks} * 256), scalar(0.999F), scalar(0.25F)}),
          "FMA pipe", check_micro_fma};
}
std::string check_micro_sfu(const CheckedRun& run) {
  return near("out", run.out<float>(0), 1e-5, 0, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      double v = 0.001 * static_cast<double>(i % 256 + c);
      for (int step = 0; step < 32; ++step) v = std::exp2(-v);
      sum += v;
    }
    return sum;
  });
}
App micro_sfu(bool full) {
  const std::uint32_t blocks = full ? 131072 : 50;
  return {launch("SFU", "micro.cu", "micro_sfu", {blocks, 1, 1}, {256, 1, 1}, {out(Type::F32, std::size_t{blocks} * 256)}),
          "Special functions", check_micro_sfu};
}
std::string check_micro_stream(const CheckedRun& run) {
  const auto in = run.in<float>(0);
  return same("out", run.out<float>(1), [&](std::size_t i) { return in[i]; });
}
App micro_stream(bool full) {
  const std::uint32_t blocks = full ? 131072 : 50;
  const std::size_t n = std::size_t{blocks} * 4096;
  return {launch("STREAM", "micro.cu", "micro_stream", {blocks, 1, 1}, {256, 1, 1},
                 {uniform(Type::F32, n, -1, 1), out(Type::F32, n)}),
          "Memory stream", check_micro_stream};
}
std::string check_micro_shared(const CheckedRun& run) {
  const auto steps = static_cast<std::uint32_t>(run.value<std::int32_t>(1));
  std::vector<std::uint32_t> words(2048), sum(256);
  for (std::uint32_t i = 0; i < 2048; ++i) words[i] = i * 2654435761U;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t t = 0; t < 256; ++t)
      for (std::uint32_t i = 0; i < 8; ++i) sum[t] += words[(i * 256 + t + step * 32) & 2047];
    for (std::uint32_t t = 0; t < 256; ++t) words[(step * 256 + t) & 2047] = sum[t];
  }
  return same("out", run.out<std::uint32_t>(0), [&](std::size_t i) { return sum[i % 256]; });
}
App micro_shared(bool full) {
  const std::uint32_t blocks = full ? 163840 : 50;
  return {launch("SHM", "micro.cu", "micro_shared", {blocks, 1, 1}, {256, 1, 1},
                 {out(Type::U32, std::size_t{blocks} * 256), scalar(std::int32_t{16})}, 8192),
          "Shared memory", check_micro_shared};
}
std::string check_micro_l1(const CheckedRun& run) {
  const auto in = run.in<std::uint32_t>(0);
  return same("out", run.out<std::uint32_t>(1), [&](std::size_t i) {
    std::uint32_t sum = 0;
    for (std::size_t pass = 0; pass < 8; ++pass)
      for (std::size_t k = 0; k < 6144; k += 128) sum = sum * 3 + in[i / 128 * 6144 + (k + i % 128 + pass * 128) % 6144];
    return sum;
  });
}
App micro_l1(bool full) {
  const std::uint32_t blocks = full ? 40960 : 50;
  return {launch("L1", "micro.cu", "micro_l1", {blocks, 1, 1}, {128, 1, 1},
                 {uniform(Type::U32, std::size_t{blocks} * 6144, 0, 4.0e9F, 1), out(Type::U32, std::size_t{blocks} * 128)}),
          "L1 cache", check_micro_l1};
}
std::string check_micro_latency(const CheckedRun& run) {
  const auto next = run.in<std::uint32_t>(0);
  const auto mask = run.value<std::uint32_t>(2);
  return same("out", run.out<std::uint32_t>(1), [&](std::size_t i) {
    std::uint32_t at = (static_cast<std::uint32_t>(i) * 2654435761U) & mask;
    for (int hop = 0; hop < 8; ++hop) at = next[at];
    return at;
  });
}
App micro_latency(bool full) {
  const std::uint32_t blocks = full ? 131072 : 200, words = full ? 1U << 26 : 1U << 16;
  return {launch("LAT", "micro.cu", "micro_latency", {blocks, 1, 1}, {64, 1, 1},
                 {buffer(Kind::In, Type::U32, words, SLUICE_FILL_CHASE), out(Type::U32, std::size_t{blocks} * 64),
                  scalar(words - 1)}),
          "Memory latency", check_micro_latency};
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
