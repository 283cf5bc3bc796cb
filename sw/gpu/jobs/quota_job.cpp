// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/jobs/quota_job.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "sw/gpu/jobs/job_shape.h"

namespace sluice::gpu {

namespace {

/// What the host reads of the control block: everything behind the orders.
constexpr std::size_t kMirrorOffset = offsetof(SluiceControl, resident_total);
constexpr std::size_t kMirrorBytes = offsetof(SluiceControl, unfinished) - kMirrorOffset;
constexpr std::size_t kZeroAt = 32;   ///< in the buffer of `gone`: a word that stays zero
constexpr std::size_t kStreams = 12;  ///< grids of one job that may be on the GPU at a time: one for each step of the watchdog

}  // namespace

QuotaJob::QuotaJob(const PreparedKernel& kernel, const JobOptions& options)
    : kernel_(kernel), options_(options), watchdog_(options.watchdog, kernel.occupancy()) {
  const LaunchSpec& spec = kernel.spec();
  if (kernel.refusal()) throw InputError(fmt::format("{}: no quota possible: {}", spec.label, *kernel.refusal()));
  control_ = allocate(sizeof(SluiceControl), "control block");
  check(driver().cuMemsetD8(control_.get(), 0, sizeof(SluiceControl)), "clearing a control block");
  if (options.log_lifetimes) lifetimes_ = allocate(sizeof(SluiceLifetime) * SLUICE_MAX_LIFETIMES, "log of CTA lifetimes");
  if (options.count_runs) {
    runs_ = allocate(spec.blocks() * 4, "count of runs");
    check(driver().cuMemsetD8(runs_.get(), 0, spec.blocks() * 4), "clearing the count of runs");
  }
  orders_ = allocate_pinned(sizeof(SluiceOrders), "order buffer");
  mirror_ = allocate_pinned(sizeof(SluiceControl), "counter buffer");
  gone_ = allocate_pinned(64, "eviction flag");
  std::memset(gone_.get(), 0, 64);
  const CUdeviceptr gone = device_address(gone_);
  check(driver().cuMemcpyHtoD(control_.get() + offsetof(SluiceControl, gone), &gone, sizeof gone), "clearing a control block");
  copies_ = make_stream(true);
  counters_ = make_stream(true);
  for (std::size_t i = 0; i < kStreams; ++i) streams_.push_back(make_stream());
  quota_.assign(kernel.context().limits().sms, 0);

  job_ = job_shape(
      {spec.grid, options.passes, kernel.occupancy() * kernel.context().limits().sms, kernel.waits() ? 1 : options.group});
  job_.control = reinterpret_cast<SluiceControl*>(control_.get());
  job_.lifetimes = reinterpret_cast<SluiceLifetime*>(lifetimes_.get());
  job_.runs = reinterpret_cast<unsigned*>(runs_.get());
  job_.orders = reinterpret_cast<SluiceOrders*>(control_.get() + offsetof(SluiceControl, orders));
  job_.counts_runs = options.count_runs ? 1 : 0;
  job_.shared_at =
      kernel.persistent_shared() - static_cast<unsigned>(sizeof(SluiceState));  // of no meaning where the state is static
  const DeviceLimits& limits = kernel.context().limits();
  const SmResources demand = kernel.demand();
  kernel.persistent().configure(kernel.persistent_shared(),
                                options.carveout_percent.value_or(
                                    carveout_hints({&demand, 1}, limits.reserved_shared_per_cta, sm_capacity(limits)).front()));
  check(driver().cuCtxSynchronize(), spec.label + ": preparing a job");
  std::memset(orders_.get(), 0, sizeof(SluiceOrders));
}

QuotaJob::~QuotaJob() {
  try {
    if (!idle()) evict();
  } catch (const std::exception&) {  // the context is lost: nothing runs any more
  }
}

void QuotaJob::order(const QuotaTable& quota) {
  quota_ = quota;
  check(driver().cuStreamSynchronize(copies_.get()), "sending quotas");  // the buffer is free again
  auto* orders = static_cast<SluiceOrders*>(orders_.get());
  *orders = orders_of(quota, ++epoch_);
  check(driver().cuMemcpyHtoDAsync(control_.get() + offsetof(SluiceControl, orders), orders, sizeof *orders, copies_.get()),
        "sending quotas");
}

void QuotaJob::launch(CUstream stream) {
  const std::array<std::uint32_t, 3>& block = kernel_.spec().block;
  const unsigned sms = kernel_.context().limits().sms, ctas = kernel_.occupancy();  // the second axis tells leaders apart
  std::vector<void*> parameters = kernel_.parameters();
  parameters.push_back(&job_);
  launched_ += sms * ctas;
  check(driver().cuLaunchKernel(kernel_.persistent().function(), sms, ctas, 1, block[0], block[1], block[2],
                                kernel_.persistent_shared(), stream, parameters.data(), nullptr),
        kernel_.spec().label + ": launch");
}

void QuotaJob::fill(bool every_slot) {
  job_.flags = every_slot ? SLUICE_BY_LAUNCH : 0;
  check(driver().cuStreamSynchronize(copies_.get()), "sending quotas");
  for (const StreamHandle& stream : streams_) {
    const CUresult free = driver().cuStreamQuery(stream.get());
    if (free == CUDA_ERROR_NOT_READY) continue;
    check(free, kernel_.spec().label);
    launch(stream.get());
    return;
  }
}

void QuotaJob::set(const QuotaTable& quota) {
  const bool anew = idle();
  bool grows = false;
  for (std::size_t sm = 0; sm < quota.size(); ++sm) grows = grows || quota[sm] > (anew ? 0 : quota_[sm]);
  order(quota);
  if (grows) fill();
}

bool QuotaJob::idle() const {
  for (const StreamHandle& stream : streams_) {
    const CUresult result = driver().cuStreamQuery(stream.get());
    if (result == CUDA_ERROR_NOT_READY) return false;
    check(result, kernel_.spec().label + " failed on the GPU");
  }
  return true;
}

JobState QuotaJob::state() {
  const Clock::time_point before = Clock::now();
  check(driver().cuMemcpyDtoHAsync(mirror_.get(), control_.get() + kMirrorOffset, kMirrorBytes, counters_.get()),
        "reading counters");
  check(driver().cuStreamSynchronize(counters_.get()), kernel_.spec().label + " failed on the GPU");
  JobState s;
  s.at = before + (Clock::now() - before) / 2;
  const auto& c = *reinterpret_cast<const SluiceControl*>(static_cast<const char*>(mirror_.get()) - kMirrorOffset);
  const std::ptrdiff_t sms = kernel_.context().limits().sms;
  s.resident = c.resident_total;
  s.violations = c.violations;
  s.returned = c.returned;
  s.arrived = c.arrived;
  s.all_claimed = c.next >= job_.tickets;
  s.done.assign(c.done, c.done + sms);
  s.residents.assign(c.resident, c.resident + sms);
  s.max_resident.assign(c.max_resident, c.max_resident + sms);
  return s;
}

std::uint32_t QuotaJob::resident() {
  const CUdeviceptr at = control_.get() + offsetof(SluiceControl, resident_total);
  check(driver().cuMemcpyDtoHAsync(mirror_.get(), at, sizeof(SluiceControl::resident_total), counters_.get()),
        "reading a counter");
  check(driver().cuStreamSynchronize(counters_.get()), kernel_.spec().label + " failed on the GPU");
  return *static_cast<const unsigned*>(mirror_.get());
}

std::uint64_t QuotaJob::done_total() {
  const JobState s = state();
  return std::accumulate(s.done.begin(), s.done.end(), std::uint64_t{0});
}

QuotaJob::Eviction QuotaJob::evict() {
  if (idle()) {
    order(QuotaTable(quota_.size(), 0));
    return {};
  }
  const auto* gone = static_cast<const volatile unsigned*>(gone_.get());
  const Clock::time_point start = Clock::now();
  order(QuotaTable(quota_.size(), 0));
  Eviction e;
  for (unsigned spins = 0; !idle(); ++spins) {
    if (e.last_cta == 0 && *gone == epoch_) e.last_cta = seconds(Clock::now() - start);
    if (seconds(Clock::now() - start) > 5)
      throw GpuError(kernel_.spec().label + ": a block has run for 5 s after the eviction order");
  }
  e.grids = seconds(Clock::now() - start);
  if (e.last_cta == 0) e.last_cta = e.grids;
  return e;
}

bool QuotaJob::settle(double limit) {
  const Clock::time_point start = Clock::now();
  while (seconds(Clock::now() - start) <= limit) {
    const JobState s = state();
    const std::uint64_t wanted = std::accumulate(quota_.begin(), quota_.end(), std::uint64_t{0});
    if (s.resident == wanted || (s.all_claimed && s.returned == 0)) return true;  // the queue is empty: CTAs leave
    // Not while CTAs of an earlier launch are still to come: they wait for room that others have yet to make.
    if (s.resident < wanted && s.arrived == launched_) fill();
  }
  return false;
}

void QuotaJob::finish(double limit) {
  const Clock::time_point start = Clock::now();
  while (!poll())
    if (seconds(Clock::now() - start) > limit)
      throw GpuError(fmt::format("{}: not done after {} s", kernel_.spec().label, limit));
}

bool QuotaJob::poll() {
  if (!idle()) {
    watch();
    return false;
  }
  const JobState s = state();
  const bool ended = s.all_claimed && s.returned == 0;
  if (ended && rounds_ + 1 >= options_.launches) return true;
  if (ended) {
    ++rounds_;
    rewind();
  } else if (s.all_claimed) {
    redistribute();
  }
  fill(s.all_claimed && !ended);
  return false;
}

void QuotaJob::watch() {
  constexpr std::chrono::milliseconds kBetween(1);
  const Clock::time_point now = Clock::now();
  if (!kernel_.waits() || now - watched_ < kBetween) return;
  watched_ = now;
  const JobState s = state();
  const std::uint64_t done = std::accumulate(s.done.begin(), s.done.end(), std::uint64_t{0});
  const std::optional<QuotaTable> raised = watchdog_.look(now, done, s.resident, quota_);
  if (!raised) return;
  spdlog::warn("{}: no block has ended for {} ms: quota raised to at most {} (blocks wait for blocks that it keeps out)",
               kernel_.spec().label, std::chrono::duration_cast<std::chrono::milliseconds>(options_.watchdog).count(),
               *std::ranges::max_element(*raised));
  order(*raised);
  fill();
}

void QuotaJob::rewind() {
  // By a copy: setting memory can be a kernel, which would wait for room on SMs that other jobs hold.
  check(driver().cuMemcpyHtoDAsync(control_.get() + offsetof(SluiceControl, next),
                                   static_cast<const char*>(gone_.get()) + kZeroAt, sizeof(SluiceControl::next), copies_.get()),
        "beginning anew");
  check(driver().cuStreamSynchronize(copies_.get()), "beginning anew");
}

void QuotaJob::redistribute() {
  std::vector<SluiceRange> cells(std::size_t{SLUICE_MAX_SM} * SLUICE_MAX_SLOTS);
  const CUdeviceptr at = control_.get() + offsetof(SluiceControl, unfinished);
  check(driver().cuMemcpyDtoH(cells.data(), at, cells.size() * sizeof(SluiceRange)), "reading unfinished tasks");
  std::vector<SluiceRange> left;
  for (SluiceRange& cell : cells) {
    if (cell.first != cell.last) left.push_back(cell);
    cell = {0, 0};
  }
  // Lowest slots first, on every SM: with the queue empty a CTA leaves at once where it finds nothing, and the next one takes the
  // same slot again. What no slot is open for waits in another cell for the next time.
  if (std::ranges::all_of(quota_, [](std::uint32_t q) { return q == 0; }) && !left.empty())
    throw GpuError(kernel_.spec().label + ": unfinished tasks, and no slot under the present quotas to finish them");
  for (const bool open : {true, false})
    for (std::size_t slot = 0; slot < SLUICE_MAX_SLOTS; ++slot)
      for (std::size_t sm = 0; sm < quota_.size() && !left.empty(); ++sm) {
        if ((slot < quota_[sm]) != open) continue;
        cells[slot * SLUICE_MAX_SM + sm] = left.back();
        left.pop_back();
      }
  check(driver().cuMemcpyHtoD(at, cells.data(), cells.size() * sizeof(SluiceRange)), "moving unfinished tasks");
}

double QuotaJob::run_timed(bool empty) {
  if (!empty) rewind();
  for (const StreamHandle& s : streams_) check(driver().cuStreamSynchronize(s.get()), "before a timed launch");
  CUstream stream = streams_.front().get();
  const double seconds = timed(stream, kernel_.spec().label, [&] { launch(stream); });
  finish(5);
  return seconds;
}

}  // namespace sluice::gpu
