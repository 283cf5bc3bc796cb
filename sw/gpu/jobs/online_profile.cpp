// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/online_profile.h"

#include <algorithm>
#include <map>

#include "sw/gpu/jobs/rates.h"

namespace sluice::gpu {

OnlineProfile profile_online(QuotaMix& running, const PreparedMix& mix, const Decide& decide, const ProfileWindows& windows) {
  const unsigned sms = mix.front()->context().limits().sms;
  std::vector<CtaCount> most;
  for (const PreparedKernel* kernel : mix) most.emplace_back(kernel->occupancy());
  const std::vector<QuotaTable> layout = profile_layout(sms, most);
  OnlineProfile p;
  const Clock::time_point begin = Clock::now();
  p.rates = running.restart(layout, windows.warm_up, windows.counts);
  p.sampled_seconds = seconds(Clock::now() - begin);
  for (std::size_t k = 0; k < mix.size(); ++k) p.sampled.push_back(rates_by_count(layout[k], p.rates.per_sm[k], most[k].value()));
  /// Rate of an SM where the kernel has `count` CTAs on each and no other kernel runs.
  const auto alone = [&](std::size_t k, std::uint32_t count) {
    std::vector<QuotaTable> tables(mix.size(), QuotaTable(sms, 0));
    tables[k] = uniform_quota(sms, count);
    const double block = p.sampled[k][count - 1] > 0 ? count / p.sampled[k][count - 1] : 0;
    const double window = std::max(windows.alone, windows.blocks * block);
    return running.restart(tables, windows.warm_up, window).blocks_per_second[k] / sms;
  };
  std::vector<std::map<std::uint32_t, double>> seen(mix.size());  // alone, by count
  for (std::size_t k = 0; k < mix.size(); ++k) {
    const double share = alone(k, most[k].value());
    seen[k][most[k].value()] = share;
    p.scaled.push_back(p.sampled[k]);
    for (double& rate : p.scaled.back()) rate = std::min(rate, share);
  }
  p.refined = p.scaled;
  p.scaled_seconds = seconds(Clock::now() - begin);
  for (bool news = static_cast<bool>(decide); news;) {
    const std::vector<std::uint32_t> decided = counts(decide(p.refined));
    news = false;
    for (std::size_t k = 0; k < mix.size(); ++k) {
      const std::uint32_t count = std::min(decided[k], most[k].value());
      if (seen[k].contains(count) || p.deciding == windows.deciding || p.scaled[k][count - 1] <= 0) continue;
      seen[k][count] = alone(k, count);
      p.refined[k] = through_known(p.scaled[k], seen[k]);
      ++p.deciding;
      news = true;
    }
  }
  p.seconds = seconds(Clock::now() - begin);
  return p;
}

}  // namespace sluice::gpu
