// SPDX-License-Identifier: Apache-2.0
// What `sluice serve status` prints.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "sw/service/session.h"

namespace sluice::service {

std::string Service::status_json() const {
  constexpr std::array kMostAdvanced = {JobState::Running, JobState::ToEvict, JobState::ToRun, JobState::Ready, JobState::Prep};
  auto clients = nlohmann::ordered_json::array();
  for (const auto& [id, session] : sessions_) {
    if (!session.is_open()) continue;
    Time held = session.held;
    auto best = kMostAdvanced.size();
    for (const std::optional<Kernel>& kernel : session.kernels) {
      if (!kernel || !kernel->job) continue;
      const FakeProgress p = executor_.progress(*kernel->job);
      held += p.outcome.held;
      const auto at = std::ranges::find(kMostAdvanced, p.state) - kMostAdvanced.begin();
      best = std::min(best, static_cast<std::size_t>(at));
    }
    const auto part = [](std::uint64_t launches, double ms) {
      return nlohmann::ordered_json{{"launches", launches}, {"gpu_ms", ms}};
    };
    const double ms = std::chrono::duration<double, std::milli>(held).count();
    clients.push_back({{"pid", session.peer.pid},
                       {"name", session.name},
                       {"priority", session.priority},
                       {"state", best == kMostAdvanced.size() ? "idle" : sluice::to_string(kMostAdvanced[best])},
                       {"kernels", {{"quota", part(session.launches, ms)}, {"split", part(0, 0)}, {"native", part(0, 0)}}},
                       {"reasons", nlohmann::ordered_json::object()}});
  }
  const nlohmann::ordered_json out{
      {"scheduler", options_.scheduler}, {"clients", clients}, {"decisions", decisions()}, {"lost", lost_}};
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sluice::service
