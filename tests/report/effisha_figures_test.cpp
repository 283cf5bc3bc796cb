// SPDX-License-Identifier: Apache-2.0
// Figures of EffiSha's evaluation from made-up measurements.
#include <gtest/gtest.h>

#include "sw/report/effisha_figures.h"

namespace sluice::effisha {
namespace {

using namespace std::chrono_literals;

std::vector<KernelCosts> costs() {
  KernelCosts scan{"Scan", 1.4, 0.08, {}}, md{"MD", 13.9, 0.4, {}};
  for (std::size_t m = 0; m < kMechanisms.size(); ++m) {
    scan.by[m] = {0.01 * static_cast<double>(m), 0.05, 0.08, 2.0 * static_cast<double>(m)};
    md.by[m] = {0.03 * static_cast<double>(m), 0.15, 0.4, 0};
  }
  return {scan, md};
}

ScheduleRun run(const std::string& scheduler, const std::string& flavour, Time scan, Time md) {
  ScheduleRun run{scheduler, "model", flavour, {}, {}, std::max(scan, md), 1};
  run.jobs = {{"Scan", 8, 0ms, 1ms, scan, 0}, {"MD", 2, 0ms, 10ms, md, 1}};
  return run;
}

std::vector<Setting> settings() {
  const auto row = [](const std::string& scheduler, const std::string& flavour, Time scan, Time md) {
    return Setting::Row{run(scheduler, flavour, scan, md), run(scheduler, "hardware", scan, 11ms),
                        run(scheduler, "hardware", scan, md)};
  };
  return {{"group",
           {row("arrival", "hardware", 11ms, 10ms), row("rr", "hardware", 4ms, 12ms), row("piv", "hardware", 1ms, 11ms),
            row("piv", "software-adaptive", 2ms, 22ms)}}};
}

TEST(EffishaFigures, MeansAreOverTheKernels) {
  const figures::Figure overhead = transformation_overhead(costs(), 0);
  EXPECT_NEAR(overhead.data["mean"]["proxy"].get<double>(), 0.04, 1e-12);
  EXPECT_NE(overhead.measured.find("adaptive 6.00 % (worst 9.00 %)"), std::string::npos) << overhead.measured;
  const figures::Figure both = software_and_hardware(costs());
  EXPECT_NEAR(both.data["basic"]["host reads over PCIe a block-task"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(both.data["basic"]["latency, mean, us"].get<double>(), 100, 1e-9);
}

TEST(EffishaFigures, TheDifferenceToTheFakeExecutorIsTheHardwareFlavours) {
  const figures::Figure figure = turnaround(settings());
  EXPECT_NEAR(figure.data["worst_difference_to_fake"].get<double>(), 1 - 10.0 / 11, 1e-12) << "arrival; software has 22 to 11";
  EXPECT_EQ(figure.data["worst_difference_to_fake_with_drain"], 0.0);
  EXPECT_EQ(figure.data["group"]["piv"]["MD"]["fake_with_drain"], 1.1);
  const std::string data = figure.data.dump();
  EXPECT_LT(data.find("\"MD\""), data.find("\"Scan\"")) << "in order of priority";
  EXPECT_EQ(figure.data["group"]["piv, software-adaptive"]["MD"]["model"], 2.2);
}

TEST(EffishaFigures, OverheadOfSchedulingIsOverArrival) {
  const figures::Figure figure = scheduling_overhead(settings());
  EXPECT_NEAR(figure.data["group"]["piv, software-adaptive"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(figure.data["group"]["rr"].get<double>(), 1.0 / 11, 1e-12);
}

TEST(EffishaFigures, SaysWhoIsNotAboveTheDefault) {
  const figures::Figure figure = throughput(settings());
  EXPECT_EQ(figure.measured, "Not above rr: group piv, software-adaptive.");
}

}  // namespace
}  // namespace sluice::effisha
