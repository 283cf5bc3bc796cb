// SPDX-License-Identifier: Apache-2.0
// What `sluice serve status` prints.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "sw/service/session.h"

namespace sluice::service {

namespace {

constexpr std::size_t kReasons = 256;  ///< of a client, in one status

nlohmann::ordered_json part(std::uint64_t launches, double ms) { return {{"launches", launches}, {"gpu_ms", ms}}; }

/// CTAs that a share allows, all SMs together.
std::uint64_t ctas_of(const MachineConfig& machine, const KernelDescriptor& kernel, const Share& share) {
  const std::uint32_t sms = std::min(share.sms.count, machine.num_sms - std::min(share.sms.first.value(), machine.num_sms));
  return std::uint64_t{sms} * std::min(share.ctas, occupancy(kernel.demand(), machine.sm.capacity)).value();
}

}  // namespace

/// Of a client that reports no coverage: what the executor knows.
nlohmann::ordered_json Service::kernels_json(const Session& session, Time held) {
  if (session.covered.empty()) {
    const double ms = std::chrono::duration<double, std::milli>(held).count();
    return {{"quota", part(session.launches, ms)}, {"native", part(0, 0)}};
  }
  std::array<std::pair<std::uint64_t, double>, 2> sums{};
  for (const auto& [kernel, covered] : session.covered) {
    sums.at(kernel.first).first += covered.launches;
    sums.at(kernel.first).second += static_cast<double>(covered.gpu_ns) / 1e6;
  }
  return {{"quota", part(sums[0].first, sums[0].second)}, {"native", part(sums[1].first, sums[1].second)}};
}

std::string Service::status_json(Time now) const {
  constexpr std::array kMostAdvanced = {JobState::Running, JobState::ToEvict, JobState::ToRun, JobState::Ready, JobState::Prep};
  auto clients = nlohmann::ordered_json::array();
  for (const auto& [id, session] : sessions_) {
    if (!session.is_open()) continue;
    Time held = session.held, waited = session.waited;
    std::uint64_t share = 0;
    auto best = kMostAdvanced.size();
    for (const std::optional<Taken>& stub : session.stubs) {
      if (!stub || !stub->job) continue;
      const Progress p = session.gpu->executor->progress(*stub->job, now);
      held += p.held;
      if (stub->waits_since) waited += now - *stub->waits_since;
      share += ctas_of(session.gpu->machine, session.kernels[stub->kernel], p.share);
      const auto at = std::ranges::find(kMostAdvanced, p.state) - kMostAdvanced.begin();
      best = std::min(best, static_cast<std::size_t>(at));
    }
    auto reasons = nlohmann::ordered_json::object();
    for (const auto& [kernel, covered] : session.covered)
      if (!covered.reason.empty() && reasons.size() < kReasons) reasons[kernel.second] = covered.reason;
    clients.push_back({{"pid", session.peer.pid},
                       {"name", session.name},
                       {"gpu", to_string(session.gpu->id)},
                       {"priority", session.priority},
                       {"state", best == kMostAdvanced.size() ? "idle" : sluice::to_string(kMostAdvanced[best])},
                       {"share_ctas", share},
                       {"evictions", session.evictions},
                       {"memory",
                        {{"limit", options_.memory},
                         {"used", session.memory.used},
                         {"most", session.memory.most},
                         {"refused", session.memory.refused}}},
                       {"waited_ms", std::chrono::duration<double, std::milli>(waited).count()},
                       {"kernels", kernels_json(session, held)},
                       {"reasons", reasons}});
  }
  const nlohmann::ordered_json out{
      {"scheduler", options_.scheduler}, {"clients", clients}, {"decisions", decisions()}, {"lost", lost_}};
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sluice::service
