// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/corun_measurement.h"

#include "sw/gpu/apps/app_sizes.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"
#include "sw/policy/even.h"

namespace sluice::gpu {

namespace {

constexpr std::uint32_t kSplitStep = 12;

const PreparedKernel& prepared(GpuSession& session, const PaperKernel& k) {
  return session.app(k.app, measured_size(k.app, kEqualLength));
}

/// Both kernels at every slice ratio, and on ranges of their own.
nlohmann::json pair_rates(const PreparedMix& mix, const MachineConfig& machine, double window, bool with_splits) {
  QuotaMix running(mix);
  std::uint64_t violations = 0;
  const auto rates = [&](const std::vector<QuotaTable>& tables) {
    const MixRates r = running.restart(tables, 1e-3, window);
    violations += r.violations;
    return r.blocks_per_second;
  };
  const unsigned sms = machine.num_sms;
  nlohmann::json runs = nlohmann::json::array(), splits = nlohmann::json::array();
  const auto at = [&](std::uint32_t first, std::uint32_t second) {
    return nlohmann::json{{"ctas", {first, second}},
                          {"blocks_per_second", rates({uniform_quota(sms, first), uniform_quota(sms, second)})}};
  };
  for (const auto& ctas : slice_ratios(descriptor(*mix[0]).demand(), descriptor(*mix[1]).demand(), machine.sm.capacity))
    runs.push_back(at(ctas[0].value(), ctas[1].value()));
  const PolicyPlan even = Even().plans(machine, {descriptor(*mix[0]), descriptor(*mix[1])}).front();
  const std::vector<std::uint32_t> halves = counts(even.partition);  // leave room, and so are no slice ratio
  for (std::uint32_t first = kSplitStep; with_splits && first < sms; first += kSplitStep)
    splits.push_back({{"first_sms", first},
                      {"blocks_per_second", rates({uniform_quota(sms, mix[0]->occupancy(), 0, first),
                                                   uniform_quota(sms, mix[1]->occupancy(), first, sms - first)})}});
  return {{"runs", runs}, {"even", at(halves[0], halves[1])}, {"splits", splits}, {"violations", violations}};
}

}  // namespace

void measure_corun_rates(GpuSession& session, const ExperimentOptions& options, const std::string& paper, const std::string& name,
                         bool splits) {
  RawStore store(options.out / (name + ".jsonl"));
  const auto& kernels = paper_kernels(paper);
  const MachineConfig machine = session.machine();
  Progress progress(name, kernels.size() * (kernels.size() + 1) / 2);
  for (const PaperKernel& k : kernels) {
    if (!store.has(k.name)) {
      const PreparedKernel& kernel = prepared(session, k);
      QuotaMix alone({&kernel});
      std::vector<double> curve;
      for (std::uint32_t c = 1; c <= kernel.occupancy(); ++c)
        curve.push_back(alone.restart({uniform_quota(machine.num_sms, c)}, 1e-3, options.window).blocks_per_second[0]);
      alone.evict();
      store.add(k.name, {{"kernel", k.name}, {"app", k.app}, {"blocks_per_second", curve}, {"on", options.on}});
    }
    progress.done(k.name);
  }
  for (std::size_t a = 0; a < kernels.size(); ++a)
    for (std::size_t b = a + 1; b < kernels.size(); ++b) {
      const std::string key = kernels[a].name + "_" + kernels[b].name;
      if (!store.has(key)) {
        nlohmann::json line =
            pair_rates({&prepared(session, kernels[a]), &prepared(session, kernels[b])}, machine, options.window, splits);
        line.update({{"first", kernels[a].name}, {"second", kernels[b].name}, {"on", options.on}});
        store.add(key, std::move(line));
      }
      progress.done(key);
    }
}

}  // namespace sluice::gpu
