// SPDX-License-Identifier: Apache-2.0
// Results bit for bit, every block exactly once under evictions, and placement by two independent counts.
#include <algorithm>
#include <random>

#include "sw/gpu/experiments/experiments.h"

namespace sluice::gpu {

namespace {

/// Blocks that ran a wrong number of times while the job was evicted and resumed again and again.
nlohmann::json exactly_once(const PreparedKernel& kernel, unsigned group, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  JobOptions options;
  options.passes = std::max<std::uint64_t>(4, 400000 / kernel.spec().blocks());
  options.group = group;
  options.count_runs = true;
  QuotaJob job(kernel, options);
  const unsigned sms = kernel.context().limits().sms;
  unsigned evictions = 0;
  for (; evictions < 40; ++evictions) {
    QuotaTable quota(sms);
    for (std::uint32_t& q : quota) q = static_cast<std::uint32_t>(random() % (kernel.occupancy() + 1));
    job.set(quota);
    sleep_seconds(static_cast<double>(random() % 200) * 1e-6);
    if (evictions % 2 == 0) {
      for (std::uint32_t& q : quota) q = static_cast<std::uint32_t>(random() % (kernel.occupancy() + 1));
      job.set(quota);  // a change while it runs, too
      sleep_seconds(static_cast<double>(random() % 100) * 1e-6);
    }
    const JobState s = job.state();
    if (s.all_claimed && s.returned == 0) break;
    job.evict();
  }
  job.set(uniform_quota(sms, kernel.occupancy()));
  job.finish(20);
  const std::uint64_t done = job.done_total();
  return {{"group", group},
          {"seed", seed},
          {"evictions", evictions},
          {"passes", options.passes},
          {"tasks", job.total()},
          {"done", done},
          {"wrong_blocks", job.blocks_with_wrong_count()},
          {"violations", job.state().violations}};
}

/// One pass under a quota table, evicted `evictions` times on its way; outputs poisoned before.
nlohmann::json placed_run(const PreparedKernel& kernel, const QuotaTable& quota, unsigned evictions,
                          const std::vector<std::uint64_t>& wanted) {
  kernel.reset_buffers();
  JobOptions options;
  options.log_lifetimes = true;
  QuotaJob job(kernel, options);
  for (unsigned i = 0; i < evictions; ++i) {
    job.set(quota);
    sleep_seconds(60e-6);
    job.evict();
  }
  job.set(quota);
  job.finish(20);
  const JobState s = job.state();
  const std::vector<std::uint32_t> overlap = job.overlap_by_sm();
  std::uint32_t exact = 0, above = 0;
  for (std::size_t sm = 0; sm < quota.size(); ++sm) {
    const std::uint32_t logged = overlap.empty() ? s.max_resident[sm] : overlap[sm];
    above += logged > quota[sm] || s.max_resident[sm] > quota[sm] ? 1 : 0;
    exact += logged == quota[sm] && s.max_resident[sm] == quota[sm] ? 1 : 0;
  }
  return {{"quota", *std::ranges::max_element(quota)},
          {"sms_used", std::ranges::count_if(quota, [](std::uint32_t q) { return q > 0; })},
          {"evictions", evictions},
          {"violations", s.violations + above},
          {"sms_exact", exact},
          {"sms", quota.size()},
          {"lifetimes_logged", !overlap.empty()},
          {"bit_identical", kernel.fingerprints() == wanted}};
}

}  // namespace

void verify_experiment(GpuSession& session, const ExperimentOptions& options) {
  const std::vector<std::string>& apps = options.apps.empty() ? app_names() : options.apps;
  RawLines lines(options, "verify", apps.size());
  const unsigned sms = session.context().limits().sms;
  for (const std::string& name : apps) {
    lines.step(name, [&] {
      nlohmann::json result = {{"app", name}};
      const App app = make_app(name, AppScale::Small);
      const PreparedKernel& small = session.app(name, AppScale::Small);
      const StreamHandle stream = make_stream();
      const auto run_native = [&](const PreparedKernel& kernel) {
        kernel.reset_buffers();
        kernel.launch_native(stream.get());
        check(driver().cuStreamSynchronize(stream.get()), name + " failed on the GPU");
      };
      run_native(small);
      const HostBuffers native = small.download();
      result["cpu_check"] = app.check({app.launch, native});
      if (small.refusal()) {
        result["refusal"] = *small.refusal();
        return result;
      }
      small.reset_buffers();
      {
        QuotaJob job(small, {});
        job.set(uniform_quota(sms, small.occupancy()));
        job.finish(20);
      }
      result["small_bit_identical"] = small.download() == native;
      for (const unsigned group : {1U, 5U}) {
        small.reset_buffers();
        nlohmann::json& once = result["exactly_once"].emplace_back(exactly_once(small, group, 1000 + group));
        once["bit_identical"] = small.download() == native;
      }
      const PreparedKernel& full = session.app(name);
      run_native(full);
      const std::vector<std::uint64_t> wanted = full.fingerprints();
      result["full"] = {placed_run(full, uniform_quota(sms, full.occupancy()), 0, wanted),
                        placed_run(full, uniform_quota(sms, 1), 0, wanted),
                        placed_run(full, uniform_quota(sms, (full.occupancy() + 1) / 2), 3, wanted),
                        placed_run(full, uniform_quota(sms, full.occupancy(), sms / 3, sms / 2), 2, wanted)};
      return result;
    });
    session.release(name, AppScale::Small);
  }
}

}  // namespace sluice::gpu
