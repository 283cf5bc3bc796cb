// SPDX-License-Identifier: Apache-2.0
// Grids of the papers' kernels with which a launch lasts as long as the paper prints, and 15 ms (sw/gpu/apps/app_sizes.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sw/gpu/experiments/experiments.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

namespace {

constexpr double kEqual = 15, kClose = 0.015;
constexpr unsigned kTries = 4;

/// The same work split so that a pass's buffers are no larger than at full scale.
AppSize scaled(const AppSize& full, const AppSize& from, double factor) {
  if (full.blocks == 0) return {0, std::max(static_cast<std::uint32_t>(std::lround(from.passes * factor)), 1U)};
  const double blocks = static_cast<double>(from.blocks) * from.passes * factor;
  const auto passes = static_cast<std::uint32_t>(std::max(std::ceil(blocks / full.blocks), 1.0));
  return {static_cast<std::uint32_t>(std::lround(blocks / passes)), passes};
}

std::set<std::pair<std::string, double>> wanted(const std::vector<std::string>& apps) {
  std::set<std::pair<std::string, double>> all;
  const auto take = [&](const std::string& app, double ms) {
    if (apps.empty() || std::ranges::count(apps, app) > 0) all.emplace(app, ms);
  };
  for (const char* paper : {"effisha", "sim", "kernelet", "slate"})
    for (const PaperKernel& kernel : paper_kernels(paper)) {
      take(kernel.app, kEqual);
      if (kernel.milliseconds) take(kernel.app, *kernel.milliseconds);
    }
  for (const std::string& app : table2_names()) take(app, kEqual);
  return all;
}

}  // namespace

void sizes_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "sizes.jsonl");
  const auto targets = wanted(options.apps);
  Progress progress("sizes", targets.size());
  const StreamHandle stream = make_stream();
  for (const auto& [app, target] : targets) {
    const std::string key = fmt::format("{}/{}", app, target);
    if (!store.has(key)) {
      const AppSize full = full_size(app);
      AppSize size = full, best = full;
      double closest = 1e9;
      nlohmann::json tried = nlohmann::json::array();
      std::vector<double> best_times;
      for (unsigned i = 0; i < kTries; ++i) {
        const PreparedKernel kernel(session.context(), session.compiler(), session.tools(), make_app(app, size).launch);
        std::vector<double> times;
        for (unsigned r = 0; r <= options.repetitions; ++r) {
          const double ms = native_seconds(kernel, stream.get()) * 1e3;
          if (r > 0) times.push_back(ms);  // the first one warms up
        }
        std::ranges::sort(times);
        const double ms = times[times.size() / 2], off = std::abs(ms / target - 1);
        tried.push_back({{"blocks", size.blocks}, {"passes", size.passes}, {"ms", ms}});
        if (off < closest) {
          closest = off;
          best = size;
          best_times = times;
        }
        const AppSize next = scaled(full, size, target / ms);
        if (off < kClose || (next.blocks == size.blocks && next.passes == size.passes)) break;
        size = next;
      }
      store.add(key, {{"app", app},
                      {"target_ms", target},
                      {"blocks", best.blocks},
                      {"passes", best.passes},
                      {"ms", best_times},
                      {"tried", tried}});
    }
    progress.done(key);
  }
}

}  // namespace sluice::gpu
