// SPDX-License-Identifier: Apache-2.0
#include "sw/service/sm_parts.h"

#include <string>

#include "sw/gpu/runtime/control.h"
#include "tests/service/harness.h"

namespace sluice::service {
namespace {

/// A kernel of which so many CTAs fit an SM of 960 KB of scratchpad.
JobView job(std::uint32_t id, std::uint32_t fits) {
  JobView view;
  view.id = JobId(id);
  view.kernel.block_threads = 32;
  view.kernel.shared_bytes_per_cta = 983040 / fits;
  return view;
}

TEST(SmParts, NoJobsKernelGetsACtaMoreAndNoSmIsTakenTwice) {
  const SmResources sm{2048, 65536, 983040, 32};
  for (std::uint32_t a = 1; a <= 32; ++a)
    for (std::uint32_t b = 1; b <= 32; ++b)
      for (std::uint32_t of_a = 1; of_a < a; ++of_a)
        for (std::uint32_t of_b = 1; of_b * a + of_a * b <= a * b; ++of_b) {
          const std::vector<JobView> jobs{job(0, a), job(1, b)};
          const Plan plan{{{JobId(0), {CtaCount(of_a)}}, {JobId(1), {CtaCount(of_b)}}}};
          const auto parts = sm_parts(plan, jobs, sm);
          if (of_b == b) continue;
          const std::string where =
              std::to_string(of_a) + " of " + std::to_string(a) + ", " + std::to_string(of_b) + " of " + std::to_string(b);
          ASSERT_EQ(sluice_ctas(parts.at(JobId(0)), sluice_flags(a, true)), of_a) << where;
          ASSERT_EQ(sluice_ctas(parts.at(JobId(1)), sluice_flags(b, true)), of_b) << where;
          ASSERT_LE(parts.at(JobId(0)) + parts.at(JobId(1)), 33) << where;
        }
}

TEST(SmParts, WhatThreeCtasLeaveOfTheirHalfIsGivenBack) {
  const std::vector<JobView> jobs{job(0, 3), job(1, 2)};
  const SmResources sm{2048, 65536, 983040, 32};
  const auto of = [&](const Plan& plan) {
    const auto parts = sm_parts(plan, jobs, sm);
    return std::pair<int, int>(parts.at(JobId(0)), parts.at(JobId(1)));
  };
  EXPECT_EQ(of({{{JobId(0), {CtaCount(1)}}, {JobId(1), {CtaCount(1)}}}}), std::pair(16, 16));
  EXPECT_EQ(of({{{JobId(0), {CtaCount(2)}}, {JobId(1), {CtaCount(0)}}}}).first, 31) << "nobody else is there";
  EXPECT_EQ(of({{{JobId(0), {CtaCount(1)}}, {JobId(1), kWholeMachine}}}), std::pair(0, 0)) << "not known of the other";
  EXPECT_EQ(of({{{JobId(0), {CtaCount(1), {SmId(0), 1}}}, {JobId(1), {CtaCount(1)}}}}), std::pair(0, 0)) << "other SMs";
}

/// The clients of `even`: one begins with a kernel of which three fit, the other with one of which two do.
TEST(SmParts, AreInTheClientsPage) {
  ServiceOptions options;
  options.executor = ExecutorKind::Gpu;
  Programs c([&] { return make_service("even", options); });
  for (const std::uint32_t fits : {3U, 2U}) {
    const std::size_t client = c.open();
    Register m = kernel(0);
    m.shared_bytes = 49152 / fits;
    (void)c.say(client, m);
    (void)c.say(client, take_stub(0));
    (void)c.say(client, submit(0, 0, 0));
    c.step();
  }
  for (const std::size_t client : {0, 1}) {
    EXPECT_EQ(c.word(client).state, StubState::ToRun);
    EXPECT_EQ(c.word(client).ctas, 1);
    EXPECT_EQ(c.word(client).parts, 16) << "half of an SM, whatever kernel it began with";
  }
}

}  // namespace
}  // namespace sluice::service
