// SPDX-License-Identifier: Apache-2.0
// What is checked of a quota job when it is done: CTAs on each SM at a time, and how often each block ran.
#include <algorithm>
#include <cstddef>

#include "sw/gpu/jobs/quota_job.h"

namespace sluice::gpu {

void QuotaJob::clear_placement() {
  check(driver().cuMemsetD8(control_.get() + offsetof(SluiceControl, max_resident), 0, sizeof(SluiceControl::max_resident)),
        "clearing counters");
  check(driver().cuMemsetD8(control_.get() + offsetof(SluiceControl, lifetimes), 0, sizeof(unsigned)), "clearing counters");
  check(driver().cuCtxSynchronize(), "clearing counters");
}

std::vector<std::uint32_t> QuotaJob::overlap_by_sm() {
  if (lifetimes_.get() == 0) return {};
  unsigned number = 0;
  check(driver().cuMemcpyDtoH(&number, control_.get() + offsetof(SluiceControl, lifetimes), sizeof number), "reading the log");
  if (number > SLUICE_MAX_LIFETIMES) return {};
  std::vector<SluiceLifetime> log(number);
  if (number > 0) check(driver().cuMemcpyDtoH(log.data(), lifetimes_.get(), number * sizeof(SluiceLifetime)), "reading the log");
  return most_overlapping(log, kernel_.context().limits().sms);
}

std::uint64_t QuotaJob::blocks_with_wrong_count() {
  std::vector<unsigned> runs(kernel_.spec().blocks());
  check(driver().cuMemcpyDtoH(runs.data(), runs_.get(), runs.size() * 4), "reading the count of runs");
  return static_cast<std::uint64_t>(
      std::ranges::count_if(runs, [&](unsigned r) { return r != options_.passes * options_.launches; }));
}

std::vector<std::uint32_t> most_overlapping(const std::vector<SluiceLifetime>& lifetimes, std::uint32_t num_sms) {
  std::vector<std::uint32_t> most(num_sms, 0);
  std::vector<std::int64_t> open(num_sms, 0);  // a stay shorter than the timer's tick ends before it begins
  struct Edge {
    unsigned long long at;
    bool enters;
    unsigned sm;
  };
  std::vector<Edge> edges;
  for (const SluiceLifetime& l : lifetimes) {
    edges.push_back({l.enter_ns, true, l.sm});
    edges.push_back({l.leave_ns, false, l.sm});
  }
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) { return a.at != b.at ? a.at < b.at : a.enters < b.enters; });
  for (const Edge& e : edges) {
    if (e.sm >= num_sms) continue;
    if (!e.enters) {
      --open[e.sm];
      continue;
    }
    most[e.sm] = std::max(most[e.sm], static_cast<std::uint32_t>(std::max<std::int64_t>(0, ++open[e.sm])));
  }
  return most;
}

}  // namespace sluice::gpu
