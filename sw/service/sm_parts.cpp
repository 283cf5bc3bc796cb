// SPDX-License-Identifier: Apache-2.0
#include "sw/service/sm_parts.h"

#include <algorithm>
#include <vector>

namespace sluice::service {

std::map<JobId, std::uint8_t> sm_parts(const Plan& plan, std::span<const JobView> jobs, const SmResources& sm) {
  struct Part {
    JobId job;
    std::uint32_t has, most;  ///< as much as the CTAs are; before one more
  };
  std::map<JobId, std::uint8_t> of;
  std::vector<Part> parts;
  std::uint32_t taken = 0;
  bool known = true;
  for (const JobShare& given : plan.jobs) {
    of[given.job] = 0;
    const std::uint32_t ctas = given.share.ctas.value();
    if (ctas == 0 || given.share.sms.count == 0) continue;
    const auto job = std::ranges::find(jobs, given.job, &JobView::id);
    const std::uint32_t fits = job == jobs.end() ? 0 : occupancy(job->kernel.demand(), sm).value();
    known = known && ctas < fits && fits <= kSmParts && given.share.sms == plan.jobs.front().share.sms;
    if (!known) continue;
    const auto of_ctas = [&](std::uint32_t n) { return (n * kSmParts + fits - 1) / fits; };
    parts.push_back({given.job, of_ctas(ctas), of_ctas(ctas + 1) - 1});
    taken += parts.back().has;
  }
  if (!known) return of;
  for (; taken < kSmParts; ++taken) {
    Part* smallest = nullptr;
    for (Part& part : parts)
      if (part.has < part.most && (smallest == nullptr || part.has < smallest->has)) smallest = &part;
    if (smallest == nullptr) break;
    ++smallest->has;
  }
  for (const Part& part : parts) of[part.job] = static_cast<std::uint8_t>(part.has);
  return of;
}

}  // namespace sluice::service
