// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sw/scheduler/decision_log.h"
#include "sw/service/service.h"

namespace sluice::service {

/// Times the scheduler, counts its calls, and tells each of them.
class Service::Logged : public IScheduler {
 public:
  Logged(std::unique_ptr<IScheduler> inner, Log log) : inner_(std::move(inner)), log_(std::move(log)) {}
  [[nodiscard]] Mode mode() const override { return inner_->mode(); }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    const auto begin = std::chrono::steady_clock::now();
    Plan plan = inner_->decide(jobs, events, now);
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    ++calls_;
    if (log_) untold_.push_back({{now, {events.begin(), events.end()}, plan}, us});
    return plan;
  }
  void measured(std::span<const JobId> jobs, std::span<const BalanceCandidate> found) override { inner_->measured(jobs, found); }
  /// Writes what was decided since the last call. Apart from decide(): clients do not wait for it.
  void tell(const std::string& gpu) {
    for (auto& [decision, us] : std::exchange(untold_, {})) {
      nlohmann::ordered_json line = to_json(decision);
      line["before"] = shares_json(before_);
      line["us"] = us;
      if (!gpu.empty()) line["gpu"] = gpu;
      log_(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
      before_ = std::move(decision.plan);
    }
  }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  std::unique_ptr<IScheduler> inner_;
  Log log_;
  Plan before_;
  std::vector<std::pair<LoggedDecision, double>> untold_;  ///< with the microseconds that each took
  std::uint64_t calls_ = 0;
};

}  // namespace sluice::service
