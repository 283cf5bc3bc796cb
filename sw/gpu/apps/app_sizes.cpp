// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/app_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"

namespace sluice::gpu {

namespace {

struct SizeRow {
  const char* app;
  double milliseconds;
  AppSize size;
};
// results/h200/papers/sizes.jsonl, measured by the experiment `sizes` at the tag `laboratory`.
constexpr SizeRow kSizes[] = {
    {"BFS", 5.99, {65536, 1}},     {"BFS", 15, {57405, 3}},     {"BLK", 15, {0, 19}},         {"BO", 5.476, {7544, 2}},
    {"BO", 15, {7017, 6}},         {"DXT", 15, {0, 14}},        {"FD", 8.821, {482, 12}},     {"FD", 15, {489, 20}},
    {"FFT", 1.17, {200306, 3}},    {"FFT", 15, {256996, 30}},   {"GS", 15, {1027958, 24}},    {"HOT", 15, {0, 14}},
    {"IMG", 15, {0, 20}},          {"KNN", 15, {0, 13}},        {"LAT", 15, {0, 9}},          {"LBM", 15, {0, 15}},
    {"LM", 8.958, {5468, 2}},      {"LM", 15, {6210, 3}},       {"MD", 13.8, {8148, 6}},      {"MD", 15, {7582, 8}},
    {"MD5", 3.29, {23897, 3}},     {"MD5", 15, {25165, 13}},    {"MD5", 71.475, {25138, 62}}, {"MM", 15, {0, 11}},
    {"MRIQ", 15, {15767, 14}},     {"MVP", 15, {0, 7}},         {"NB", 15, {478, 6}},         {"NB", 39.155, {502, 15}},
    {"NN", 14.25, {127446, 16}},   {"NN", 15, {125787, 17}},    {"PF", 15, {5592, 1}},        {"PF", 43.105, {5728, 3}},
    {"RED", 2.06, {192307, 3}},    {"RED", 15, {247009, 17}},   {"RG", 15, {129679, 5}},      {"SAD", 15, {7364, 7}},
    {"SCAN", 1.41, {112193, 3}},   {"SCAN", 15, {129776, 28}},  {"SORT", 5.46, {250867, 5}},  {"SORT", 15, {246390, 14}},
    {"SPMV", 4.57, {125612, 20}},  {"SPMV", 15, {129466, 64}},  {"ST2D", 15, {507979, 20}},   {"ST2D", 28.4, {519598, 37}},
    {"TEA", 15, {250566, 18}},     {"TP", 11.23, {891, 4}},     {"TP", 15, {975, 5}},         {"TR", 15, {261308, 25}},
    {"TRIAD", 1.22, {1002867, 2}}, {"TRIAD", 15, {1540828, 16}}};

}  // namespace

AppSize measured_size(const std::string& app, double milliseconds) {
  const auto* found = std::ranges::find_if(
      kSizes, [&](const SizeRow& r) { return app == r.app && std::abs(milliseconds - r.milliseconds) < 1e-6; });
  if (found == std::ranges::end(kSizes))
    throw InputError(fmt::format("application {}: no grid is known that lasts {} ms", app, milliseconds));
  return found->size;
}

}  // namespace sluice::gpu
