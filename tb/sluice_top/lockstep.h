// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Verilated sluice_top and its twin under the same random host and SMs, compared at every port in every cycle, and held
// against the golden dispatch model and the golden decision.
#include <gtest/gtest.h>

#include "tb/sluice_top/top_scoreboard.h"
#include "tb/sluice_top/top_traffic.h"

namespace sluice::tb {

inline void lockstep(ISluiceTop& rtl, const regs::Parameters& parameters, std::uint64_t cycles, bool all_bins) {
  Random random(seed());
  SluiceTopTwin twin(parameters);
  TopTraffic traffic(random, parameters);
  Coverage coverage("sluice_top"), dispatch_coverage("cta_dispatcher");
  declare_top_bins(coverage);
  declare_dispatch_bins(dispatch_coverage);
  TopScoreboard scoreboard(parameters, coverage, dispatch_coverage);
  std::uint64_t profiled = 0, idle = 0;
  for (std::uint64_t c = 0; c < cycles; ++c) {
    const SluiceTopOut a = rtl.outputs(), b = twin.outputs();
    ASSERT_EQ(port_difference(a, b), "") << "cycle " << c;
    profiled += a.profile_valid ? 1 : 0;
    idle += a.idle ? 1 : 0;
    const SluiceTopIn& in = traffic.next();
    scoreboard.look(a, twin);
    rtl.clock(in);
    twin.clock(in);
    traffic.observe(a);
    const std::string wrong = scoreboard.check(in, twin);
    ASSERT_EQ(wrong, "") << "against the golden model, cycle " << c;
  }
  std::printf(
      "%llu cycles, %llu CTAs dispatched, %llu ended, %llu given up, %llu profile entries, %llu idle cycles, %llu decisions, "
      "%llu of them not "
      "judged\n",
      static_cast<unsigned long long>(cycles), static_cast<unsigned long long>(traffic.dispatched()),
      static_cast<unsigned long long>(traffic.ended()), static_cast<unsigned long long>(traffic.given_up()),
      static_cast<unsigned long long>(profiled), static_cast<unsigned long long>(idle),
      static_cast<unsigned long long>(scoreboard.decisions()), static_cast<unsigned long long>(scoreboard.not_judged()));
  std::printf("%llu samples count, %llu of SMs that were refilled in all of the window; the longest refill took %u cycles\n",
              static_cast<unsigned long long>(scoreboard.clean_samples()),
              static_cast<unsigned long long>(scoreboard.never_full()), scoreboard.longest_refill() + 1);
  EXPECT_GT(scoreboard.clean_samples(), cycles / 150000);
  EXPECT_GT(scoreboard.decisions(), cycles / 150000);  // 2 in the shortest campaign: some seeds ask for few
  EXPECT_GT(traffic.dispatched(), cycles / 100);
  if (all_bins) {
    auto missed = coverage.missed();
    if (parameters.sm_enable == 0)
      std::erase_if(missed, [](const std::string& bin) { return bin.find("disabled") != std::string::npos; });
    if (parameters.churn == 0) std::erase(missed, "decision by kept curves");
    if (parameters.flush == 0) std::erase_if(missed, [](const std::string& bin) { return bin.starts_with("flush"); });
    if (parameters.launch_queue == 0)
      std::erase_if(missed, [](const std::string& bin) { return bin.starts_with("launch port"); });
    EXPECT_EQ(missed, std::vector<std::string>{});
  }
}

}  // namespace sluice::tb
