// SPDX-License-Identifier: Apache-2.0
// Slate's pairs on the GPU: kernels on SM ranges of their own, chosen by measured speeds.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "sw/core/errors.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/experiments/scenario_runs.h"
#include "sw/io/raw_store.h"
#include "sw/policy/policy.h"

namespace sluice::gpu {

namespace {

constexpr std::uint32_t kTimes = 4;  // launches of 15 ms in one

using Names = std::pair<std::string, std::string>;
std::vector<Names> pairs() {  // with themselves: 15
  std::vector<Names> all;
  const auto& kernels = paper_kernels("slate");
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = a; b < kernels.size(); ++b) all.emplace_back(kernels[a].name, kernels[b].name);
  return all;
}
std::string name(const Names& pair) { return pair.first + "_" + pair.second; }

const PreparedKernel& kernel(GpuSession& session, const std::string& of) {
  const auto& known = paper_kernels("slate");
  const auto found = std::ranges::find(known, of, &PaperKernel::name);
  return session.app(found->app, measured_size(found->app, kEqualLength));
}

std::vector<QuotaTable> ranges(const PreparedMix& mix, std::uint32_t first_sms) {
  const unsigned sms = mix[0]->context().limits().sms;
  return {uniform_quota(sms, mix[0]->occupancy(), 0, first_sms),
          uniform_quota(sms, mix[1]->occupancy(), first_sms, sms - first_sms)};
}

Scenario together(const Names& pair) {
  return scene_of(name(pair), {{pair.first + ".1", pair.first}, {pair.second + ".2", pair.second}});
}

struct Known {
  SoloTimes times;
  std::vector<CorunMeasurement> coruns;
};
Known known(const ExperimentOptions& options) {
  Known k;
  for (const nlohmann::json& line : RawStore::read(options.out / "slate_ranges.jsonl")) {
    for (const char* which : {"first", "second"}) k.times[line[which]] = {kEqualLength * kTimes};
    for (const nlohmann::json& s : line["splits"])
      k.coruns.push_back({line["first"], line["second"], {s["first_sms"], s["first"], s["second"]}});
  }
  if (k.coruns.empty())
    throw InputError(fmt::format("{}: is missing: run slate_ranges first", (options.out / "slate_ranges.jsonl").string()));
  return k;
}

}  // namespace

void slate_ranges_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "slate_ranges", pairs().size());
  const unsigned sms = session.context().limits().sms;
  for (const Names& pair : pairs())
    lines.step(name(pair), [&] {
      const PreparedMix mix = {&kernel(session, pair.first), &kernel(session, pair.second)};
      std::vector<double> solo;
      std::uint32_t violations = 0;
      for (const PreparedKernel* k : mix) {
        QuotaMix alone({k});
        solo.push_back(alone.restart({uniform_quota(sms, k->occupancy())}, 1e-3, options.window).blocks_per_second[0]);
        alone.evict();
      }
      QuotaMix running(mix);
      nlohmann::json splits = nlohmann::json::array();
      for (std::uint32_t first = 12; first < sms; first += 12) {
        const MixRates rates = running.restart(ranges(mix, first), 1e-3, options.window);
        splits.push_back({{"first_sms", first},
                          {"first", rates.blocks_per_second[0] / solo[0]},
                          {"second", rates.blocks_per_second[1] / solo[1]}});
        violations += rates.violations;
      }
      running.evict();
      return nlohmann::json{{"first", pair.first},
                            {"second", pair.second},
                            {"splits", splits},
                            {"solo_blocks_per_second", solo},
                            {"violations", violations}};
    });
}

void slate_resize_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawLines lines(options, "slate_resize", pairs().size());
  constexpr unsigned kChanges = 40;
  std::mt19937_64 random(11);
  const unsigned sms = session.context().limits().sms;
  for (const Names& pair : pairs())
    lines.step(name(pair), [&] {
      const PreparedMix mix = {&kernel(session, pair.first), &kernel(session, pair.second)};
      QuotaMix running(mix);
      const bool begun = running.begin(ranges(mix, sms / 2));
      nlohmann::json times = nlohmann::json::array();
      unsigned late = 0, violations = 0;
      for (unsigned i = 0; i < kChanges; ++i) {
        sleep_seconds(300e-6);
        const QuotaMix::Change change = running.change(ranges(mix, 8 + static_cast<std::uint32_t>(random() % (sms - 16))));
        times.push_back(change.seconds * 1e6);
        late += change.in_force ? 0 : 1;
        violations = change.violations;
      }
      running.evict();
      return nlohmann::json{{"first", pair.first}, {"second", pair.second}, {"us", times},
                            {"late", late},        {"begun", begun},        {"violations", violations}};
    });
}

void slate_pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  const Known know = known(options);
  SceneLines lines(options, "slate_pairs", pairs().size(), "pair");
  for (const Names& pair : pairs()) {
    const GpuScenario s = gpu_scenario(session, together(pair), "slate", {}, kTimes);
    for (unsigned r = 0; r < options.repetitions; ++r) {
      lines.once(name(pair), "consecutive", r, [&] { return run_streams(s, Streams::One); });
      lines.once(name(pair), "streams", r, [&] { return run_streams(s, Streams::Each); });
      lines.once(name(pair), "slate_measured", r, [&] {
        SchedulerInput input = scheduler_input(session, s);
        input.times = know.times;
        for (const KernelDescriptor& k : input.mix)
          input.times[k.name].assign(occupancy(k.demand(), input.machine.sm.capacity).value(), kEqualLength * kTimes);
        input.coruns = know.coruns;
        return run_scheduled(session, s, "slate_measured", input);
      });
    }
    lines.done(name(pair));
  }
}

void slate_processes_experiment(GpuSession& session, const ExperimentOptions& options) {
  std::vector<Scenario> all;
  for (const Names& pair : pairs()) all.push_back(together(pair));
  SceneLines lines(options, "slate_processes", 3 * all.size(), "pair");
  run_natively(session, lines, all, "slate", {"green_halves", "processes", "mps"}, kTimes);
}

}  // namespace sluice::gpu
