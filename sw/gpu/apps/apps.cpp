// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/apps/apps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_rows.h"

namespace sluice::gpu {

namespace {

constexpr std::size_t kTable2 = 10;

std::vector<AppRow> all_rows() {
  std::vector<AppRow> all;
  for (const auto& rows : {table2_rows(), shoc_rows(), sim_rows(), task_pair_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

const AppRow& row(const std::string& name) {
  static const std::vector<AppRow> all = all_rows();
  const auto found = std::ranges::find(all, name, &AppRow::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const AppRow& r : all) names.emplace_back(r.name);
  throw InputError(fmt::format("application \"{}\": must be one of {}", name, fmt::join(names, ", ")));
}

}  // namespace

const std::vector<std::string>& app_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const AppRow& r : table2_rows()) all.emplace_back(r.name);
    return all;
  }();
  return names;
}

std::vector<std::string> table2_names() { return {app_names().begin(), app_names().begin() + kTable2}; }

const std::vector<PaperKernel>& paper_kernels(const std::string& paper) {
  static const std::vector<std::pair<std::string, std::vector<PaperKernel>>> papers = {
      {"effisha",
       {{"NN", "NeuralNet", 14.25},
        {"SORT", "Sort", 5.46},
        {"RED", "Reduction", 2.06},
        {"MD5", "MD5Hash", 3.29},
        {"MD", "MD", 13.8},
        {"SCAN", "Scan", 1.41},
        {"TRIAD", "Triad", 1.22},
        {"ST2D", "Stencil2D", 28.4},
        {"FFT", "FFT", 1.17},
        {"SPMV", "Spmv", 4.57},
        {"BFS", "BFS", 5.99}}},
      {"sim",
       {{"BO", "BO", 5.476},
        {"FD", "FD", 8.821},
        {"LM", "LM", 8.958},
        {"MD5", "MD", 71.475},
        {"NB", "NB", 39.155},
        {"PF", "PF", 43.105},
        {"TP", "TP", 11.23}}},
      {"kernelet",
       {{"LAT", "PC", {}},
        {"SAD", "SAD", {}},
        {"SPMV", "SPMV", {}},
        {"HOT", "ST", {}},
        {"BLK", "BS", {}},
        {"MM", "MM", {}},
        {"MRIQ", "MRIQ", {}},
        {"TEA", "TEA", {}}}},
      {"slate", {{"BLK", "BS", {}}, {"GS", "GS", {}}, {"MM", "MM", {}}, {"RG", "RG", {}}, {"TR", "TR", {}}}}};
  static const std::vector<PaperKernel> ten = [] {
    std::vector<PaperKernel> kernels;
    for (const std::string& name : table2_names()) kernels.push_back({name, name, {}});
    return kernels;
  }();
  if (paper == "table2") return ten;
  for (const auto& [name, kernels] : papers)
    if (name == paper) return kernels;
  throw InputError(fmt::format("paper \"{}\": must be one of effisha, sim, kernelet, slate, table2", paper));
}

App make_app(const std::string& name, AppScale scale) {
  const AppRow& r = row(name);
  return r.make(scale == AppScale::Full ? r.full : r.small);
}

App make_app(const std::string& name, const AppSize& size) {
  const AppRow& r = row(name);
  App app = r.make(r.sized() && size.blocks > 0 ? size.blocks : r.full);
  if (size.passes > 1) app.launch.grid[app.launch.grid[1] > 1 ? 2 : 1] = size.passes;
  return app;
}

AppSize full_size(const std::string& name) {
  const AppRow& r = row(name);
  return {r.sized() ? r.full : 0, 1};
}

}  // namespace sluice::gpu
