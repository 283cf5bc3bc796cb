// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

#include "sw/gpu/jobs/i_quota_jobs.h"
#include "sw/scheduler/fake_executor.h"

namespace sluice::gpu {

/// A GPU for tests of the event loop, written from what docs/reference/how_sharing_works.md promises: persistent CTAs that stay
/// at the ends of their tasks as long as the SM's quota allows, and come where there is room. Its clock stands still but for
/// rest().
class ModelQuotaJobs : public IQuotaJobs {
 public:
  ModelQuotaJobs(const MachineConfig& machine, std::vector<FakeJob> kernels)
      : machine_(machine), kernels_(std::move(kernels)), free_(machine.num_sms, machine.sm.capacity) {}

  Time now() override { return now_; }
  void rest(std::optional<Time> next) override {
    if (!ends_.empty() && (!next || ends_.begin()->first <= *next)) next = ends_.begin()->first;
    if (!next) throw std::logic_error("nothing will ever happen");
    now_ = std::max(now_, *next);
    while (!ends_.empty() && ends_.begin()->first <= now_) {
      const auto [job, sm] = ends_.begin()->second;
      ends_.erase(ends_.begin());
      task_ends(job, sm);
    }
  }
  void arrive(JobId job, std::uint32_t kernel) override {
    jobs_[job.value()] = {&kernels_.at(kernel), QuotaTable(machine_.num_sms), QuotaTable(machine_.num_sms)};
  }
  void hold(JobId job, const QuotaTable& quota, std::uint64_t task_limit) override {
    Job& j = jobs_.at(job.value());
    j.quota = quota;
    j.tasks = std::min<std::uint64_t>(task_limit, j.kernel->kernel.grid_ctas);
    std::erase(order_, job.value());
    order_.push_back(job.value());
    place();
  }
  JobSight look(JobId job) override {
    const Job& j = jobs_.at(job.value());
    std::uint32_t resident = 0;
    for (const std::uint32_t n : j.on_sm) resident += n;
    const std::uint64_t tasks = j.kernel->kernel.grid_ctas;
    return {j.begun, j.done, resident, j.begun == tasks, resident == 0, j.done == tasks};
  }
  void forget(JobId job) override {
    jobs_.erase(job.value());
    std::erase(order_, job.value());
  }

 private:
  struct Job {
    const FakeJob* kernel = nullptr;
    QuotaTable quota, on_sm;
    std::uint64_t tasks = 0, begun = 0, done = 0;  // tasks: that may begin
  };
  bool begin(std::uint32_t k, std::uint32_t sm) {
    Job& j = jobs_.at(k);
    const SmResources cta = j.kernel->kernel.demand();
    if (j.on_sm[sm] >= j.quota[sm] || j.begun >= j.tasks || !fits(cta, free_[sm])) return false;
    free_[sm] = {free_[sm].threads - cta.threads, free_[sm].registers - cta.registers,
                 free_[sm].shared_memory_bytes - cta.shared_memory_bytes, free_[sm].cta_slots - cta.cta_slots};
    ++j.on_sm[sm];
    ++j.begun;
    ends_.emplace(now_ + j.kernel->task_time, std::pair(k, sm));
    return true;
  }
  void task_ends(std::uint32_t k, std::uint32_t sm) {
    Job& j = jobs_.at(k);
    const SmResources cta = j.kernel->kernel.demand();
    free_[sm] = {free_[sm].threads + cta.threads, free_[sm].registers + cta.registers,
                 free_[sm].shared_memory_bytes + cta.shared_memory_bytes, free_[sm].cta_slots + cta.cta_slots};
    --j.on_sm[sm];
    ++j.done;
    if (!begin(k, sm)) place();
  }
  void place() {
    for (const std::uint32_t k : order_)
      for (std::uint32_t sm = 0; sm < machine_.num_sms; ++sm)
        while (begin(k, sm)) {
        }
  }

  MachineConfig machine_;
  std::vector<FakeJob> kernels_;
  std::vector<SmResources> free_;
  std::map<std::uint32_t, Job> jobs_;
  std::vector<std::uint32_t> order_;  // as their quotas were sent
  std::multimap<Time, std::pair<std::uint32_t, std::uint32_t>> ends_;
  Time now_{};
};

}  // namespace sluice::gpu
