// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sw/scheduler/i_scheduler.h"

namespace sluice {

/// One call of a scheduler.
struct LoggedDecision {
  Time now;
  std::vector<Event> events;
  Plan plan;

  bool operator==(const LoggedDecision&) const = default;
};

/// One JSON object: {"now_ps", "events": [{"kind", "job"}], "shares": [{"job", "ctas", "first_sm", "sms", "task_limit"}],
/// "wake_at_ps", "profile", "reason"}. What is without end (the whole machine, no limit, no timer) is null.
[[nodiscard]] std::string json_line(const LoggedDecision& decision);
[[nodiscard]] nlohmann::ordered_json to_json(const LoggedDecision& decision);
[[nodiscard]] nlohmann::ordered_json shares_json(const Plan& plan);  ///< its "shares"

/// A scheduler whose calls are kept, and written to a file, a line each, if there is one.
class LoggedScheduler : public IScheduler {
 public:
  explicit LoggedScheduler(std::unique_ptr<IScheduler> inner, std::filesystem::path file = {})
      : inner_(std::move(inner)), file_(std::move(file)) {}
  [[nodiscard]] Mode mode() const override { return inner_->mode(); }
  /// @throws InputError, SystemError when the file can't be written
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override;
  void measured(std::span<const JobId> jobs, std::span<const BalanceCandidate> found) override { inner_->measured(jobs, found); }
  [[nodiscard]] const std::vector<LoggedDecision>& decisions() const { return decisions_; }

 private:
  std::unique_ptr<IScheduler> inner_;
  std::filesystem::path file_;
  std::vector<LoggedDecision> decisions_;
};

}  // namespace sluice
