// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/report/decide.h"

#include <algorithm>

#include "sw/scheduler/registry.h"

namespace sluice::gpu {

namespace {

bool placeable(const SiliconMix& mix, const Plan& plan) {
  std::vector<SmResources> demand;
  std::vector<CtaCount> ctas;
  for (const JobShare& job : plan.jobs) {
    if (!(job.share.sms == kEverySm)) return true;  // SMs of its own
    demand.push_back(mix.kernels[job.job.value()].demand());
    ctas.push_back(job.share.ctas);
  }
  return ctas.size() < 2 || fits_sub_cores(demand, ctas, mix.machine.sm.capacity);
}

}  // namespace

KernelDescriptor kernel_of(const std::string& name, const SmResources& cta) {
  KernelDescriptor kernel;
  kernel.name = kernel.full_name = name;
  kernel.block_threads = cta.threads;
  kernel.registers_per_cta = cta.registers;
  kernel.shared_bytes_per_cta = cta.shared_memory_bytes;
  return kernel;
}

Partition decide(const std::string& scheduler, const SiliconMix& mix, const std::vector<Profile>& profiles) {
  std::vector<JobView> jobs(mix.kernels.size());
  std::vector<Event> events;
  for (std::uint32_t k = 0; k < jobs.size(); ++k) {
    jobs[k].id = JobId(k);
    jobs[k].kernel = mix.kernels[k];
    jobs[k].state = JobState::Ready;
    if (!profiles.empty()) jobs[k].profile = profiles[k];
    events.push_back({EventKind::Arrived, JobId(k)});
  }
  for (std::size_t k = 0; k < profiles.size(); ++k) events.push_back({EventKind::Profiled, jobs.at(k).id});
  SchedulerInput input{mix.machine, mix.kernels, {}};
  Plan plan = make_scheduler(scheduler, input)->decide(jobs, events, Time(0));
  for (; !placeable(mix, plan); plan = make_scheduler(scheduler, input)->decide(jobs, events, Time(0)))
    input.machine.sm.capacity.registers -= 1024;
  Partition partition{Mode::Static, {}};
  for (JobShare& job : plan.jobs) {
    const std::size_t k = job.job.value();
    job.share.ctas =
        std::min(job.share.ctas, mix.most.empty() ? occupancy(mix.kernels[k].demand(), mix.machine.sm.capacity) : mix.most[k]);
    partition.shares.push_back(job.share);
    if (!(job.share.sms == kEverySm)) partition.mode = Mode::Spatial;
  }
  return partition;
}

bool fits_sub_cores(std::span<const SmResources> demand, std::span<const CtaCount> ctas, const SmResources& capacity) {
  constexpr std::uint32_t kSubCores = 4;
  std::uint32_t warps = 0, registers = 0;  // of the fullest sub-core, warps dealt out evenly
  for (std::size_t k = 0; k < demand.size(); ++k) {
    const std::uint32_t of_cta = demand[k].threads / 32, of_kernel = (ctas[k].value() * of_cta + kSubCores - 1) / kSubCores;
    warps += of_kernel;
    registers += of_kernel * (demand[k].registers / of_cta);
  }
  return warps <= capacity.threads / 32 / kSubCores && registers <= capacity.registers / kSubCores;
}

}  // namespace sluice::gpu
