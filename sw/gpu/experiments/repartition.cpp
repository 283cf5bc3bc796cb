// SPDX-License-Identifier: Apache-2.0
// How long a live change of quotas takes: a kernel arrives at another that has the GPU to itself, and ends.
#include <algorithm>

#include "sw/gpu/experiments/experiments.h"
#include "sw/io/progress.h"
#include "sw/io/raw_store.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

namespace {

nlohmann::json change_of(const QuotaMix::Change& c) {
  return {{"us", c.seconds * 1e6}, {"in_force", c.in_force}, {"missing", c.missing}, {"draining", c.draining}};
}

}  // namespace

void repartition_experiment(GpuSession& session, const ExperimentOptions& options) {
  RawStore store(options.out / "repartition.jsonl");
  const auto mixes = choose(options.apps.empty() ? table2_names() : options.apps, 2);
  const unsigned sms = session.context().limits().sms;
  Progress progress("repartition", mixes.size());
  for (const std::vector<std::string>& names : mixes) {
    if (!store.has(mix_name(names))) {
      const PreparedMix mix{&session.app(names[0]), &session.app(names[1])};
      const Partition half = decide(kEven, silicon_mix(session, mix));  // every SM has half of its resources for each
      const std::vector<QuotaTable> shared = tables_of(half, sms);
      const std::vector<QuotaTable> alone = {uniform_quota(sms, mix[0]->occupancy()), QuotaTable(sms, 0)};
      QuotaMix running(mix);
      const MixRates together = running.restart(shared, 0.2e-3, 1e-3);
      nlohmann::json block_us = nlohmann::json::array(), arrives = nlohmann::json::array(), ends = nlohmann::json::array();
      for (std::size_t k = 0; k < mix.size(); ++k)
        block_us.push_back(half.shares[k].ctas.value() * sms / together.blocks_per_second[k] * 1e6);
      const bool alone_in_force = running.begin(alone);
      std::uint32_t violations = together.violations;
      for (unsigned i = 0; i < 4 * options.repetitions; ++i) {
        sleep_seconds(0.3e-3);
        arrives.push_back(change_of(running.change(shared)));
        sleep_seconds(0.3e-3);
        const QuotaMix::Change end = running.change(alone);
        ends.push_back(change_of(end));
        violations += end.violations;
      }
      running.evict();
      store.add(mix_name(names), {{"kernels", names},
                                  {"ctas", {half.shares[0].ctas.value(), half.shares[1].ctas.value()}},
                                  {"alone", mix[0]->occupancy()},
                                  {"alone_in_force", alone_in_force},
                                  {"block_us", block_us},
                                  {"arrives", arrives},
                                  {"ends", ends},
                                  {"violations", violations}});
    }
    progress.done(mix_name(names));
  }
}

}  // namespace sluice::gpu
