#include "sw/gpu/cuda/online_profile.h"

#include <algorithm>

#include "sw/partition/ipc_scaling.h"

namespace sluice::gpu {

OnlineProfile profile_online(QuotaMix& running, const Mix& mix, const std::map<std::string, double>& phi,
                             const ProfileWindows& windows) {
  const unsigned sms = mix.front()->context().limits().sms;
  std::vector<CtaCount> most;
  for (const PreparedKernel* kernel : mix) most.emplace_back(kernel->occupancy());
  const std::vector<QuotaTable> layout = profile_layout(sms, most);
  OnlineProfile p;
  const Clock::time_point begin = Clock::now();
  p.rates = running.restart(layout, windows.warm_up, windows.counts);
  for (std::size_t k = 0; k < mix.size(); ++k) {
    std::vector<QuotaTable> alone(mix.size(), QuotaTable(sms, 0));
    alone[k] = uniform_quota(sms, most[k].value());
    const double share = running.restart(alone, windows.warm_up, windows.alone).blocks_per_second[k] / sms;
    const Profile curve = rates_by_count(layout[k], p.rates.per_sm[k], most[k].value());
    Profile scaled = curve, by_counts = curve;
    const auto stalled = phi.find(mix[k]->spec().label);
    double sum = 0, number = 0;
    for (const std::uint32_t q : layout[k])
      if (q > 0) {
        sum += q;
        ++number;
      }
    for (std::size_t j = 0; j < curve.size(); ++j) {
      scaled[j] = std::min(curve[j], share);
      by_counts[j] = scale_ipc(curve[j], stalled == phi.end() ? 0 : stalled->second, static_cast<double>(j + 1), sum / number);
    }
    p.sampled.push_back(curve);
    p.scaled.push_back(std::move(scaled));
    p.by_counts.push_back(std::move(by_counts));
  }
  p.seconds = seconds(Clock::now() - begin);
  return p;
}

}  // namespace sluice::gpu
