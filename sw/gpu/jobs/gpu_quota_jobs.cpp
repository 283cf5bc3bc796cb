// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/gpu_quota_jobs.h"

#include <algorithm>
#include <numeric>

namespace sluice::gpu {

GpuQuotaJobs::GpuQuotaJobs(PreparedMix kernels) : kernels_(std::move(kernels)), carveouts_(carveouts(kernels_)) {
  for (std::uint32_t k = 0; k < kernels_.size(); ++k)  // made here: a job's memory takes longer than a kernel
    idle_.emplace(k, std::make_unique<QuotaJob>(*kernels_[k], JobOptions{.carveout_percent = carveouts_[k]}));
}

Time GpuQuotaJobs::now() { return std::chrono::duration_cast<Time>(Clock::now() - start_); }

void GpuQuotaJobs::arrive(JobId job, std::uint32_t kernel) { open_[job.value()] = {kernel, nullptr}; }

QuotaJob& GpuQuotaJobs::at(JobId job) {
  Open& open = open_.at(job.value());
  if (open.job) return *open.job;
  auto free = idle_.find(open.kernel);
  if (free == idle_.end())
    free = idle_.emplace(open.kernel, std::make_unique<QuotaJob>(*kernels_.at(open.kernel),
                                                                 JobOptions{.carveout_percent = carveouts_[open.kernel]}));
  free->second->restart();
  open.job = std::move(free->second);
  idle_.erase(free);
  return *open.job;
}

void GpuQuotaJobs::hold(JobId job, const QuotaTable& quota, std::uint64_t task_limit) { at(job).set(quota, task_limit); }

JobSight GpuQuotaJobs::look(JobId job) {
  QuotaJob& j = at(job);
  const JobGlance seen = j.glance();
  JobSight sight;
  sight.begun = seen.begun - std::min<std::uint64_t>(seen.begun, seen.returned);   // a slot gave back one task at least
  sight.done = sight.begun - std::min<std::uint64_t>(sight.begun, seen.resident);  // each CTA has one task under way
  sight.resident = seen.resident;
  sight.all_begun = seen.all_claimed && seen.returned == 0;
  sight.gone = seen.idle;
  sight.finished = j.tend(seen);
  return sight;
}

void GpuQuotaJobs::forget(JobId job) {
  const auto found = open_.find(job.value());
  found->second.job->order(QuotaTable(kernels_[found->second.kernel]->context().limits().sms, 0));
  idle_.emplace(found->second.kernel, std::move(found->second.job));
  open_.erase(found);
}

std::uint64_t GpuQuotaJobs::violations() {
  std::uint64_t all = 0;
  for (const auto& [kernel, job] : idle_) all += job->state().violations;
  for (const auto& [id, open] : open_)
    if (open.job) all += open.job->state().violations;
  return all;
}

}  // namespace sluice::gpu
