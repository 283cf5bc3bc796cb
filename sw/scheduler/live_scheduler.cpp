// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/live_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sw/core/errors.h"
#include "sw/policy/registry.h"
#include "sw/scheduler/registry.h"

namespace sluice {

namespace {

/// One policy for whatever mix is there.
class LivePolicy : public IScheduler {
 public:
  LivePolicy(const PolicyRow& policy, MachineConfig machine, std::vector<CtaCount> ctas)
      : policy_(policy), machine_(std::move(machine)), ctas_(std::move(ctas)) {
    mode_ = plan_of(std::vector<KernelDescriptor>(std::max<std::size_t>(1, ctas_.size()))).mode;
  }
  [[nodiscard]] Mode mode() const override { return mode_; }

  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event>, Time) override {
    std::vector<const JobView*> present;
    for (const JobView& job : jobs)
      if (may_hold_sms(job.state)) present.push_back(&job);
    const std::size_t all = present.size();
    std::string refused;
    for (; present.size() > 1; present.pop_back()) {
      try {
        Plan plan = shared(present);
        if (all > 1) plan.reason = fmt::format("{} of {} jobs share the machine{}", present.size(), all, refused);
        return plan;
      } catch (const InputError& error) {
        if (refused.empty()) refused = fmt::format(": {}", error.what());
      }
    }
    Plan plan;
    if (!present.empty()) plan.jobs.push_back({present.front()->id, kWholeMachine});
    if (all > 1) plan.reason = fmt::format("1 of {} jobs has the machine{}", all, refused);
    return plan;
  }

 private:
  [[nodiscard]] PolicyPlan plan_of(const std::vector<KernelDescriptor>& mix) const {
    return policy_.plans({machine_, mix, ctas_, {}}).front();
  }
  [[nodiscard]] Plan shared(const std::vector<const JobView*>& present) const {
    std::vector<KernelDescriptor> mix;
    std::vector<KernelId> ids;
    for (const JobView* job : present) {
      ids.emplace_back(static_cast<std::uint32_t>(mix.size()));
      mix.push_back(job->kernel);
    }
    const PolicyPlan policy = plan_of(mix);
    const std::vector<Share> shares = policy.shares ? policy.shares(ids) : std::vector(present.size(), kWholeMachine);
    Plan plan;
    for (std::size_t i = 0; i < present.size(); ++i) plan.jobs.push_back({present[i]->id, shares[i]});
    return plan;
  }

  const PolicyRow& policy_;
  MachineConfig machine_;
  std::vector<CtaCount> ctas_;
  Mode mode_;
};

/// The oldest job has the machine where `inner` refuses.
class NeverRefuses : public IScheduler {
 public:
  explicit NeverRefuses(std::unique_ptr<IScheduler> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] Mode mode() const override { return inner_->mode(); }
  void measured(std::span<const JobId> jobs, std::span<const BalanceCandidate> found) override { inner_->measured(jobs, found); }
  [[nodiscard]] Plan decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) override {
    try {
      return inner_->decide(jobs, events, now);
    } catch (const InputError& error) {
      Plan plan;
      const auto oldest = std::ranges::find_if(jobs, [](const JobView& job) { return may_hold_sms(job.state); });
      if (oldest != jobs.end()) plan.jobs.push_back({oldest->id, kWholeMachine});
      plan.reason = error.what();
      return plan;
    }
  }

 private:
  std::unique_ptr<IScheduler> inner_;
};

}  // namespace

std::unique_ptr<IScheduler> make_live_scheduler(std::string_view name, const MachineConfig& machine,
                                                const std::vector<CtaCount>& ctas) {
  const SchedulerRow row = scheduler_row(name);
  if (row.needs_times || row.rates == Rates::CoRuns)
    throw InputError(fmt::format("scheduler {}: needs the times of all kernels beforehand, which a service does not have", name));
  const PolicyRow* policy = find_policy(name);
  if (policy == nullptr || row.make != nullptr)
    return std::make_unique<NeverRefuses>(make_scheduler(name, SchedulerInput{machine, {}}));
  if (policy->needs == PolicyNeeds::Search) return make_scheduler(name, SchedulerInput{machine, {}});  // refuses
  if (policy->needs == PolicyNeeds::Counts && ctas.empty())
    throw InputError(fmt::format("scheduler {}: needs --ctas a,b,...: CTAs of the oldest jobs", name));
  if (policy->needs == PolicyNeeds::Curves)
    throw InputError(
        fmt::format("scheduler {}: needs the curves of all kernels beforehand, which a service does not have", name));
  return std::make_unique<LivePolicy>(*policy, machine, ctas);
}

}  // namespace sluice
