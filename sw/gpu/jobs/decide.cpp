// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/decide.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw/core/errors.h"
#include "sw/gpu/jobs/layout.h"
#include "sw/scheduler/registry.h"

namespace sluice::gpu {

SiliconScheduler::SiliconScheduler(std::string name, SiliconMix mix, std::vector<CtaCount> ctas)
    : name_(std::move(name)), mix_(std::move(mix)), ctas_(std::move(ctas)) {
  for (std::size_t k = 0; k < std::min(ctas_.size(), mix_.most.size()); ++k)
    if (ctas_[k] > mix_.most[k])
      throw InputError(fmt::format("scheduler {}: {} CTAs of kernel {}: must be 1..{}, what fits an SM", name_, ctas_[k].value(),
                                   mix_.kernels[k].name, mix_.most[k].value()));
  (void)make_scheduler(name_, {mix_.machine, mix_.kernels, ctas_});
}

bool SiliconScheduler::placeable(const Plan& plan) const {
  std::vector<SmResources> demand;
  std::vector<CtaCount> ctas;
  for (const JobShare& job : plan.jobs) {
    if (!(job.share.sms == kEverySm)) return true;  // SMs of its own
    demand.push_back(mix_.kernels[job.job.value()].demand());
    ctas.push_back(job.share.ctas);
  }
  return ctas.size() < 2 || fits_sub_cores(demand, ctas, mix_.machine.sm.capacity);
}

Plan SiliconScheduler::decide(std::span<const JobView> jobs, std::span<const Event> events, Time now) {
  SchedulerInput input{mix_.machine, mix_.kernels, ctas_};
  for (;; input.machine.sm.capacity.registers -= 1024) {
    Plan plan = make_scheduler(name_, input)->decide(jobs, events, now);
    if (ctas_.empty() && !placeable(plan)) continue;
    for (JobShare& job : plan.jobs) {
      const KernelDescriptor& kernel = mix_.kernels[job.job.value()];
      const CtaCount most = mix_.most.empty() ? occupancy(kernel.demand(), mix_.machine.sm.capacity) : mix_.most[job.job.value()];
      job.share.ctas = std::min(job.share.ctas, most);
      if (!ctas_.empty() && plan.jobs.size() == ctas_.size()) job.share.ctas = ctas_[job.job.value()];  // also of a kernel alone
    }
    return plan;
  }
}

KernelDescriptor kernel_of(const std::string& name, const SmResources& cta) {
  KernelDescriptor kernel;
  kernel.name = kernel.full_name = name;
  kernel.block_threads = cta.threads;
  kernel.registers_per_cta = cta.registers;
  kernel.shared_bytes_per_cta = cta.shared_memory_bytes;
  return kernel;
}

Partition decide(SiliconScheduler& scheduler, const SiliconMix& mix, const std::vector<Profile>& profiles,
                 std::span<const std::size_t> ended) {
  std::vector<JobView> jobs(mix.kernels.size());
  std::vector<Event> events;
  for (std::uint32_t k = 0; k < jobs.size(); ++k) {
    jobs[k].id = JobId(k);
    jobs[k].kernel = mix.kernels[k];
    jobs[k].state = JobState::Ready;
    if (!profiles.empty()) jobs[k].profile = profiles[k];
    events.push_back({EventKind::Arrived, JobId(k)});
  }
  for (const std::size_t k : ended) {
    jobs.at(k).state = JobState::Done;
    events.push_back({EventKind::Done, jobs[k].id});
  }
  for (std::size_t k = 0; k < profiles.size(); ++k) events.push_back({EventKind::Profiled, jobs.at(k).id});
  Partition partition{Mode::Static, {}};
  for (const JobShare& job : scheduler.decide(jobs, events, Time(0)).jobs) {
    partition.shares.push_back(job.share);
    if (!(job.share.sms == kEverySm)) partition.mode = Mode::Spatial;
  }
  return partition;
}

Partition decide(const std::string& name, const SiliconMix& mix, const std::vector<Profile>& profiles,
                 const std::vector<CtaCount>& ctas) {
  SiliconScheduler scheduler(name, mix, ctas);
  return decide(scheduler, mix, profiles);
}

}  // namespace sluice::gpu
