// SPDX-License-Identifier: Apache-2.0
#include "sw/scheduler/slate_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/core/errors.h"
#include "sw/partition/remaining_time.h"

namespace sluice {

Plan SlateScheduler::decide(std::span<const JobView> jobs, std::span<const Event>, Time) {
  std::vector<JobId> open;
  std::vector<const JobView*> queue;
  std::array<const JobView*, 2> seated{};
  for (const JobView& job : jobs) {
    if (!may_hold_sms(job.state)) continue;
    open.push_back(job.id);
    const auto seat = std::ranges::find(seats_, std::optional(job.id));
    seat == seats_.end() ? queue.push_back(&job) : void(seated[seat - seats_.begin()] = &job);
  }
  if (open != known_) {
    known_ = open;
    if (seated[0] == nullptr && seated[1] == nullptr && !queue.empty()) {
      seated[0] = queue.front();
      queue.erase(queue.begin());
    }
    const std::size_t free = seated[0] == nullptr ? 0 : 1;
    const JobView* active = seated[1 - free];
    if (active != nullptr && seated[free] == nullptr) {
      seated[free] = partner(*active, queue);
      if (seated[free] != nullptr) {
        const std::uint32_t sms = rule_(*active, *seated[free]).value();
        lower_sms_ = free == 1 ? sms : num_sms_ - sms;
      }
    }
    for (std::size_t i = 0; i < seats_.size(); ++i)
      seats_[i] = seated[i] == nullptr ? std::nullopt : std::optional(seated[i]->id);
    std::erase_if(passed_over_, [&](const auto& job) { return std::ranges::find(open, job.first) == open.end(); });
  }
  Plan plan;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (!seats_[i]) continue;
    const SmRange range = i == 0 ? SmRange{SmId(0), lower_sms_} : SmRange{SmId(lower_sms_), num_sms_ - lower_sms_};
    plan.jobs.push_back({*seats_[i], {kWholeMachine.ctas, seats_[1 - i] ? range : kEverySm}});
  }
  if (seats_[0] && seats_[1])
    plan.reason = fmt::format("jobs {} and {} gain from each other", seats_[0]->value(), seats_[1]->value());
  else if (!plan.jobs.empty())
    plan.reason = fmt::format("no partner for job {}", plan.jobs.front().job.value());
  return plan;
}

const JobView* SlateScheduler::partner(const JobView& active, const std::vector<const JobView*>& queue) {
  for (const JobView* candidate : queue) {
    if (rule_(active, *candidate)) {
      for (const JobView* older : queue) {
        if (older == candidate) return candidate;
        ++passed_over_[older->id];
      }
    }
    if (const auto passed = passed_over_.find(candidate->id); passed != passed_over_.end() && passed->second >= kMostPassedOver)
      return nullptr;
  }
  return nullptr;
}

CorunRule slate_table_rule(std::uint32_t num_sms, const Intensities& intensities, SlateTable table) {
  std::map<std::string, SlateClass> classes;
  for (const auto& [name, intensity] : intensities) {
    try {
      classes[name] = slate_class(intensity);
    } catch (const InputError& error) {
      throw InputError(fmt::format("kernel {}: {}", name, error.what()));
    }
  }
  return [num_sms, classes, table](const JobView& active, const JobView& candidate) -> std::optional<std::uint32_t> {
    const auto row = classes.find(active.kernel.name), column = classes.find(candidate.kernel.name);
    if (num_sms < 2 || row == classes.end() || column == classes.end() || !slate_corun(row->second, column->second, table))
      return std::nullopt;
    return split_sms(num_sms, 2).front().count;
  };
}

CorunRule slate_measured_rule(const MachineConfig& machine, const std::vector<KernelDescriptor>& mix, const SoloTimes& times,
                              const std::vector<CorunMeasurement>& pairs) {
  for (const KernelDescriptor& kernel : mix) (void)time_alone(kernel, times, machine);
  for (const CorunMeasurement& pair : pairs) {
    if (pair.rate.first_sms < 1 || pair.rate.first_sms >= machine.num_sms)
      throw InputError(
          fmt::format("{} beside {}: {} SMs: must be 1..{}", pair.first, pair.second, pair.rate.first_sms, machine.num_sms - 1));
    for (const double speed : {pair.rate.first, pair.rate.second})
      if (!std::isfinite(speed) || speed < 0)
        throw InputError(fmt::format("{} beside {}: speed {}: must be finite and at least 0", pair.first, pair.second, speed));
  }
  const auto left = [machine, times](const JobView& job) {
    return time_alone(job.kernel, times, machine) * share_left(job.tasks, job.tasks_begun);
  };
  return
      [left, pairs, num_sms = machine.num_sms](const JobView& active, const JobView& candidate) -> std::optional<std::uint32_t> {
        std::vector<CorunRate> rates;
        for (const CorunMeasurement& pair : pairs) {
          const CorunRate& rate = pair.rate;
          if (pair.first == active.kernel.name && pair.second == candidate.kernel.name)
            rates.push_back(rate);
          else if (pair.second == active.kernel.name && pair.first == candidate.kernel.name)
            rates.push_back({num_sms - rate.first_sms, rate.second, rate.first});
        }
        const auto split = best_split(left(active), left(candidate), rates);
        return split ? std::optional(split->first_sms) : std::nullopt;
      };
}

}  // namespace sluice
