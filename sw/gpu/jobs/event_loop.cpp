// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/event_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sw/core/errors.h"
#include "sw/scheduler/job_table.h"

namespace sluice::gpu {

namespace {

class Loop {
 public:
  Loop(const MachineConfig& machine, const std::vector<LoopJob>& jobs, IScheduler& scheduler, IQuotaJobs& gpu, Time limit)
      : machine_(machine),
        jobs_(jobs),
        scheduler_(scheduler),
        gpu_(gpu),
        limit_(limit),
        launches_(jobs.size()),
        open_(jobs.size()) {
    result_.jobs.resize(jobs.size());
    for (std::uint32_t k = 0; k < jobs.size(); ++k) {
      if (jobs[k].after)
        launches_.at(*jobs[k].after).followers.push_back(k);
      else
        due_.emplace(jobs[k].arrival, k);
    }
  }

  LoopResult run() {
    start_ = gpu_.now();
    while (open_ > 0) {
      const Time now = since_start();
      if (now > limit_) throw CheckFailed(fmt::format("event loop: not done after {} s:{}", seconds(limit_), open_launches()));
      while (!due_.empty() && due_.begin()->first <= now) arrive();
      std::erase_if(in_preparation_, [&](JobId id) {
        if (!gpu_.ready(id)) return false;
        table_.move(id, JobState::Ready);
        return true;
      });
      if (wake_at_ && *wake_at_ <= now) {
        wake_at_.reset();
        table_.report({EventKind::Timer, JobId(0)});
      }
      for (const JobId id : holders_) watch(id);
      if (profile_) profiled();
      if (table_.has_events()) {
        decide();
        table_.forget_closed();
      } else {
        rest(now);
      }
    }
    return std::move(result_);
  }

 private:
  struct Order {
    QuotaTable quota{};
    std::uint64_t task_limit = kNoTaskLimit;
    bool operator==(const Order&) const = default;
  };
  struct Launch {
    std::vector<std::uint32_t> followers{};  // launches that arrive after it
    Order order{};                           // in force
    bool began = false, last_begun = false;
    bool ran = false;  // CTAs of it were seen since its last share began
  };

  [[nodiscard]] Time since_start() { return gpu_.now() - start_; }
  static double seconds(Time t) { return static_cast<double>(t.count()) * 1e-12; }

  /// Each with its state and its tasks.
  [[nodiscard]] std::string open_launches() const {
    std::string all;
    for (const JobView& view : table_.jobs())
      if (is_open(view.state))
        all += fmt::format(" {} {} ({}), {} of {} tasks begun, limit {};", view.kernel.name, view.id.value(),
                           to_string(view.state), view.tasks_begun, view.tasks, launches_[view.id.value()].order.task_limit);
    return all;
  }

  void arrive() {
    const auto [at, k] = *due_.begin();
    due_.erase(due_.begin());
    JobView view;
    view.id = JobId(k);
    view.kernel = jobs_[k].kernel;
    view.arrived = at;
    view.priority = jobs_[k].priority;
    view.tasks = jobs_[k].kernel.grid_ctas;
    table_.arrive(std::move(view));
    gpu_.arrive(JobId(k), jobs_[k].kernel_id);
    launches_[k].order.quota.assign(machine_.num_sms, 0);
    result_.jobs[k].arrived = at;
    if (gpu_.ready(JobId(k)))
      table_.move(JobId(k), JobState::Ready);
    else
      in_preparation_.push_back(JobId(k));
  }

  void watch(JobId id) {
    JobView& view = table_.at(id);
    Launch& launch = launches_[id.value()];
    LoopOutcome& outcome = result_.jobs[id.value()];
    const JobSight sight = gpu_.look(id);
    view.tasks_begun = sight.begun;
    view.tasks_done = sight.done;
    if (view.state == JobState::ToRun && (sight.resident > 0 || sight.finished)) {
      if (!launch.began) outcome.began = since_start();
      launch.began = true;
      launch.ran = true;
      table_.move(id, JobState::Running);
    }
    if (sight.all_begun && !launch.last_begun) {
      launch.last_begun = true;
      table_.report({EventKind::LastTaskBegun, id});
    }
    if (sight.finished && view.state != JobState::Ready) {
      finish(id);
    } else if (view.state == JobState::ToEvict && sight.gone && !sight.finished) {
      outcome.evictions += launch.ran ? 1 : 0;
      table_.move(id, JobState::Ready);
    }
  }

  void finish(JobId id) {
    const Time now = since_start();
    JobView& view = table_.at(id);
    view.tasks_done = view.tasks;
    result_.jobs[id.value()].ended = result_.end = now;
    table_.move(id, JobState::Done);
    for (const std::uint32_t f : launches_[id.value()].followers) due_.emplace(now + jobs_[f].arrival, f);
    gpu_.forget(id);
    --open_;
  }

  void profiled() {
    profile_ = false;
    for (const JobView& job : table_.jobs()) {
      if (!may_hold_sms(job.state)) continue;
      if (jobs_[job.id.value()].profile.empty())
        throw InputError(fmt::format("{}: the scheduler wants its profile, and there is none", job.kernel.name));
      table_.at(job.id).profile = jobs_[job.id.value()].profile;
      table_.report({EventKind::Profiled, job.id});
    }
  }

  void decide() {
    LoopDecision d;
    d.events = table_.take_events();
    d.at = since_start();
    d.plan = scheduler_.decide(table_.jobs(), d.events, d.at);
    d.decided = since_start();
    obey(d.plan);
    d.sent = since_start();
    result_.decisions.push_back(std::move(d));
  }

  [[nodiscard]] Order order_of(std::uint32_t k, const JobShare& given) const {
    const std::uint32_t first = std::min(given.share.sms.first.value(), machine_.num_sms);
    return {uniform_quota(machine_.num_sms, std::min(given.share.ctas, jobs_[k].most).value(), first,
                          std::min(given.share.sms.count, machine_.num_sms - first)),
            given.task_limit};
  }

  void obey(const Plan& plan) {
    struct Change {
      JobId job;
      Order order;
      bool grows;
      std::uint32_t registers;
    };
    std::vector<Change> changes;
    const auto order = [&](const JobView& view, Order wanted) {
      const Order& now = launches_[view.id.value()].order;
      if (wanted == now) return;
      bool grows = false;
      for (std::size_t sm = 0; sm < now.quota.size(); ++sm) grows = grows || wanted.quota[sm] > now.quota[sm];
      changes.push_back({view.id, std::move(wanted), grows, view.kernel.registers_per_cta});
    };
    for (const JobView& view : table_.jobs()) {
      const std::uint32_t k = view.id.value();
      const auto given = std::ranges::find(plan.jobs, view.id, &JobShare::job);
      const bool wanted = given != plan.jobs.end() && given->share.ctas.value() != 0 && given->share.sms.count != 0;
      const bool runs = view.state == JobState::ToRun || view.state == JobState::Running;
      if (wanted && (runs || view.state == JobState::Ready)) {
        order(view, order_of(k, *given));
        if (view.state == JobState::Ready) {
          table_.move(view.id, JobState::ToRun);
          launches_[k].ran = false;
        }
      } else if (!wanted && runs) {  // one that must leave gets nothing new before it has
        // One that has begun its last task drains by itself; an order would make it give back what its CTAs have claimed.
        if (!launches_[k].last_begun) order(view, {QuotaTable(machine_.num_sms, 0)});
        // Its CTAs may be under way although none was seen yet: they leave as those of a running one do.
        if (view.state == JobState::ToRun) table_.move(view.id, JobState::Running);
        table_.move(view.id, JobState::ToEvict);
      }
    }
    // What shrinks makes room first; then large CTAs, while room lies together.
    std::ranges::stable_sort(changes, [](const Change& a, const Change& b) {
      return a.grows != b.grows ? !a.grows : a.grows && a.registers > b.registers;
    });
    for (Change& c : changes) {
      gpu_.hold(c.job, c.order.quota, c.order.task_limit);
      launches_[c.job.value()].order = std::move(c.order);
    }
    holders_.clear();
    for (const JobView& view : table_.jobs())
      if (view.state == JobState::ToRun || view.state == JobState::Running || view.state == JobState::ToEvict)
        holders_.push_back(view.id);
    wake_at_ = plan.wake_at;
    profile_ = plan.profile;
  }

  void rest(Time now) {
    std::optional<Time> next = wake_at_;
    if (!due_.empty()) next = std::min(next.value_or(Time::max()), due_.begin()->first);
    if (!next && holders_.empty() && in_preparation_.empty())
      throw CheckFailed(
          fmt::format("event loop: {} launches wait at {} s, and the scheduler gives them no SMs", open_, seconds(now)));
    gpu_.rest(next ? std::optional(*next + start_) : std::nullopt);
  }

  const MachineConfig& machine_;
  const std::vector<LoopJob>& jobs_;
  IScheduler& scheduler_;
  IQuotaJobs& gpu_;
  Time limit_, start_{};
  std::vector<Launch> launches_;
  std::size_t open_;
  std::multimap<Time, std::uint32_t> due_;
  JobTable table_;
  std::vector<JobId> in_preparation_, holders_;
  std::optional<Time> wake_at_;
  bool profile_ = false;
  LoopResult result_;
};

}  // namespace

LoopResult run_event_loop(const MachineConfig& machine, const std::vector<LoopJob>& jobs, IScheduler& scheduler, IQuotaJobs& gpu,
                          Time limit) {
  return Loop(machine, jobs, scheduler, gpu, limit).run();
}

}  // namespace sluice::gpu
