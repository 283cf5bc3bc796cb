// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/gpu_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>

#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/jobs/rates.h"

namespace sluice::gpu {

namespace {

constexpr std::uint64_t kEndless = 1ULL << 24;  ///< passes over the grid: more than any window sees

}  // namespace

GpuSession::GpuSession(int ordinal, bool for_quotas)
    : context_(ordinal),
      compiler_(context_.limits().compute_major * 10 + context_.limits().compute_minor, Compiler::default_cache()),
      tools_(context_, compiler_),
      for_quotas_(for_quotas) {
  if (for_quotas) static_cast<void>(tools_.highest_sm());
}

const PreparedKernel& GpuSession::app(const std::string& name, AppScale scale) {
  auto& slot = apps_[{name, scale}];
  if (!slot) slot = std::make_unique<PreparedKernel>(context_, compiler_, tools_, make_app(name, scale).launch, for_quotas_);
  return *slot;
}

const PreparedKernel& GpuSession::app(const std::string& name, const AppSize& size) {
  auto& slot = sized_[{name, size.blocks, size.passes}];
  if (!slot) slot = std::make_unique<PreparedKernel>(context_, compiler_, tools_, make_app(name, size).launch, for_quotas_);
  return *slot;
}

MachineConfig GpuSession::machine(double epsilon) const {
  MachineConfig m;
  m.name = context_.limits().name;
  m.num_sms = context_.limits().sms;
  m.sm.capacity = sm_capacity(context_.limits());
  m.partitioner.epsilon = epsilon;
  return m;
}

KernelDescriptor descriptor(const PreparedKernel& kernel) {
  KernelDescriptor d;
  d.name = kernel.spec().label;
  d.full_name = d.name;
  d.grid_ctas = static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel.spec().blocks(), UINT32_MAX));
  d.block_threads = kernel.spec().block_threads();
  d.registers_per_cta = kernel.demand().registers;
  d.shared_bytes_per_cta = kernel.demand().shared_memory_bytes;
  return d;
}

std::vector<SmResources> demands(const PreparedMix& mix) {
  std::vector<SmResources> out;
  for (const PreparedKernel* kernel : mix) out.push_back(kernel->demand());
  return out;
}

std::vector<int> carveouts(const PreparedMix& mix) {
  const DeviceLimits& limits = mix.front()->context().limits();
  return carveout_hints(demands(mix), limits.reserved_shared_per_cta, sm_capacity(limits));
}

SiliconMix silicon_mix(const GpuSession& session, const PreparedMix& mix, double epsilon) {
  SiliconMix silicon;
  silicon.machine = session.machine(epsilon);
  for (const PreparedKernel* kernel : mix) {
    silicon.kernels.push_back(descriptor(*kernel));
    silicon.most.emplace_back(kernel->occupancy());
  }
  return silicon;
}

std::vector<QuotaTable> tables_of(const Partition& partition, unsigned num_sms) {
  std::vector<QuotaTable> tables;
  for (const Share& share : partition.shares) tables.push_back(quotas_of(share, num_sms));
  return tables;
}

QuotaMix::QuotaMix(const PreparedMix& mix, const std::vector<std::uint64_t>& passes) : mix_(mix) {
  const std::vector<int> carveout = carveouts(mix);
  for (std::size_t k = 0; k < mix.size(); ++k) {
    JobOptions options;
    options.passes = passes.empty() ? kEndless : passes[k];
    options.carveout_percent = carveout[k];
    jobs_.push_back(std::make_unique<QuotaJob>(*mix[k], options));
  }
}

QuotaMix::~QuotaMix() {
  // All, before the first is destroyed: freeing its memory waits for the GPU, and so for the others, which never end.
  for (const auto& job : jobs_) {
    try {
      job->evict();
    } catch (const std::exception&) {  // the context is lost: nothing runs any more
    }
  }
}

void QuotaMix::evict() {
  for (const auto& job : jobs_) job->evict();
}

bool QuotaMix::begin(const std::vector<QuotaTable>& tables, double settle) {
  for (const auto& job : jobs_) job->order(QuotaTable(tables.front().size(), 0));  // all drain at the same time
  evict();
  for (const auto& job : jobs_) job->clear_placement();
  // Kernels with large CTAs first, each in place before the next: small CTAs scattered over an SM leave no contiguous registers.
  std::vector<std::size_t> order(jobs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t k) { return mix_[k]->demand().registers; });
  bool settled = true;
  for (const std::size_t k : order) {
    jobs_[k]->set(tables[k]);
    settled = jobs_[k]->settle(settle) && settled;
  }
  return settled;
}

MixRates QuotaMix::restart(const std::vector<QuotaTable>& tables, double warm_up, double window, double settle) {
  const bool settled = begin(tables, settle);
  return count(warm_up, window, settled);
}

MixRates QuotaMix::count(double warm_up, double window, bool settled) {
  sleep_seconds(warm_up);
  std::vector<JobState> before, after;
  for (const auto& job : jobs_) before.push_back(job->state());
  sleep_seconds(window);
  for (const auto& job : jobs_) after.push_back(job->state());
  MixRates rates;
  rates.settled = settled;
  rates.seconds = seconds(after[0].at - before[0].at);
  for (std::size_t k = 0; k < jobs_.size(); ++k) {
    const double time = seconds(after[k].at - before[k].at);
    std::vector<double> per_sm;
    std::uint64_t blocks = 0;
    std::uint32_t missing = 0;
    const QuotaTable& quota = jobs_[k]->quota();
    for (std::size_t sm = 0; sm < quota.size(); ++sm) {
      const std::uint32_t done = after[k].done[sm] - before[k].done[sm];  // wraps
      blocks += done;
      per_sm.push_back(done / time);
      missing += quota[sm] - std::min(quota[sm], after[k].residents[sm]);
      if (before[k].residents[sm] != quota[sm] || after[k].residents[sm] != quota[sm]) ++rates.misplaced;
    }
    rates.blocks_per_second.push_back(static_cast<double>(blocks) / time);
    rates.per_sm.push_back(std::move(per_sm));
    rates.missing.push_back(missing);
    rates.violations += after[k].violations;
  }
  return rates;
}

MixRates native_rates(const PreparedMix& mix, const std::vector<CUstream>& streams, double window) {
  std::atomic<bool> stop = false;
  std::vector<LaunchTimes> times(mix.size());
  std::vector<std::exception_ptr> errors(mix.size());
  const Clock::time_point start = Clock::now();
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < mix.size(); ++k)
    threads.emplace_back([&, k] {
      try {
        mix[k]->context().make_current();
        times[k] = run_native_load(*mix[k], streams[k], stop);
      } catch (...) {
        errors[k] = std::current_exception();
      }
    });
  sleep_seconds(window);
  stop = true;
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
  MixRates rates;
  rates.seconds = seconds(Clock::now() - start);
  const std::vector<double> launches = common_event_rates(times);
  for (std::size_t k = 0; k < mix.size(); ++k)
    rates.blocks_per_second.push_back(launches[k] * static_cast<double>(mix[k]->spec().blocks()));
  return rates;
}

MixRates back_to_back_rates(const PreparedMix& mix, CUstream stream, double window) {
  for (const PreparedKernel* kernel : mix) kernel->launch_native(stream);
  double round = 0;
  for (const PreparedKernel* kernel : mix) round += native_seconds(*kernel, stream);
  const int rounds = std::max(2, static_cast<int>(window / round));
  MixRates rates;
  rates.seconds = timed(stream, "running kernels in turn", [&] {
    for (int i = 0; i < rounds; ++i)
      for (const PreparedKernel* kernel : mix) kernel->launch_native(stream);
  });
  for (const PreparedKernel* kernel : mix)
    rates.blocks_per_second.push_back(rounds * static_cast<double>(kernel->spec().blocks()) / rates.seconds);
  return rates;
}

void sleep_seconds(double duration) {
  const Clock::time_point until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(duration));
  if (duration > 3e-3) std::this_thread::sleep_for(std::chrono::duration<double>(duration - 2e-3));
  while (Clock::now() < until) {  // the system's sleep ends late
  }
}

double native_seconds(const PreparedKernel& kernel, CUstream stream) {
  return timed(stream, kernel.spec().label, [&] { kernel.launch_native(stream); });
}

}  // namespace sluice::gpu
