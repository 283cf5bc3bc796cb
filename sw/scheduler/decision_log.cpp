// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/decision_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sw/core/errors.h"

namespace sluice {

namespace {

template <class Number>
nlohmann::json bounded(Number value) {
  return value == std::numeric_limits<Number>::max() ? nlohmann::json() : nlohmann::json(value);
}

}  // namespace

nlohmann::ordered_json shares_json(const Plan& plan) {
  auto out = nlohmann::ordered_json::array();
  for (const JobShare& s : plan.jobs)
    out.push_back({{"job", s.job.value()},
                   {"ctas", bounded(s.share.ctas.value())},
                   {"first_sm", s.share.sms.first.value()},
                   {"sms", bounded(s.share.sms.count)},
                   {"task_limit", bounded(s.task_limit)}});
  return out;
}

nlohmann::ordered_json to_json(const LoggedDecision& decision) {
  nlohmann::ordered_json out = {{"now_ps", decision.now.count()}, {"events", nlohmann::ordered_json::array()}};
  for (const Event& e : decision.events) {
    out["events"].push_back({{"kind", to_string(e.kind)}});
    if (e.kind != EventKind::Timer) out["events"].back()["job"] = e.job.value();
  }
  out["shares"] = shares_json(decision.plan);
  out["wake_at_ps"] = decision.plan.wake_at ? nlohmann::ordered_json(decision.plan.wake_at->count()) : nlohmann::ordered_json();
  out["profile"] = decision.plan.profile;
  out["reason"] = decision.plan.reason;
  return out;
}

std::string json_line(const LoggedDecision& decision) { return to_json(decision).dump(); }

Plan LoggedScheduler::decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) {
  decisions_.push_back({now, {events.begin(), events.end()}, inner_->decide(jobs, events, now)});
  if (!file_.empty() && !(std::ofstream(file_, std::ios::app) << json_line(decisions_.back()) << std::endl))
    throw_errno(fmt::format("{}: cannot write", file_.string()), errno);
  return decisions_.back().plan;
}

}  // namespace sluice
