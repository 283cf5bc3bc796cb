// SPDX-License-Identifier: Apache-2.0
#include "sw/report/five_figures.h"

#include <gtest/gtest.h>

namespace sluice::figures {
namespace {

SchedulerScenes scenes(const char* scheduler, double stp, std::int64_t makespan) {
  return {scheduler, "of somebody", {{"A_B", {stp, 1.5, 2, Time(makespan), 0.25, 0.125, 3}}}};
}

/// Lines that are kept are the same to the last digit.
TEST(FiveFigures, SchedulersComeBackFromTheirOwnData) {
  const std::vector<SchedulerScenes> all = {scenes("arrival", 1.0 / 3, 927066608123), scenes("piv", 1.7, 927066608121)};
  const Figure figure = schedulers_compared("pairs", "title", all, "arrival");
  const std::vector<SchedulerScenes> back = read_schedulers(nlohmann::ordered_json::parse(figure.data.dump()));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].scheduler, "piv");
  EXPECT_EQ(back[1].scenes[0].second.makespan, Time(927066608121));
  EXPECT_EQ(schedulers_compared("pairs", "title", back, "arrival").data.dump(), figure.data.dump());
}

}  // namespace
}  // namespace sluice::figures
