// SPDX-License-Identifier: Apache-2.0
#include "study/kernelet_causes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sw/partition/markov.h"
#include "sw/policy/corun_file.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

/// Two ratios: the prediction takes the first, the measurement the second.
CoRunTables two_ratios() {
  const std::map<std::string, CoRunKernel> alone = {{"A", {1, 100, 0.5, 0.5}}, {"B", {2, 100, 0.5, 0.5}}};
  const auto table = [&](double first, double second) {  // sums of speeds
    CoRunTable t{alone, {}};
    t.pairs[{"A", "B"}] = {{{CtaCount(1), CtaCount(3)}, {0.25 * first, 1.5 * first}},
                           {{CtaCount(2), CtaCount(1)}, {0.5 * second, second}}};
    return t;
  };
  return {table(1.3, 1.1), table(1.2, 1.6)};
}

double profit(const CoRunTable& table, std::size_t ratio) {
  const CoRun& run = table.pairs.at({"A", "B"}).at(ratio);
  return co_scheduling_profit(run.ipc, std::array{table.kernels.at("A").ipc, table.kernels.at("B").ipc});
}

TEST(KerneletCauses, PredictedRatiosKeepTheirMeasuredRates) {
  const CoRunTable mixed = predicted_ratios(two_ratios());
  EXPECT_DOUBLE_EQ(profit(mixed, 0), 1 - 1 / 1.2);
  EXPECT_LT(profit(mixed, 1), 0);
}

TEST(KerneletCauses, PredictedPairsKeepTheMeasuredRatio) {
  const CoRunTable mixed = predicted_pairs(two_ratios());
  EXPECT_DOUBLE_EQ(profit(mixed, 1), 1 - 1 / 1.3);
  EXPECT_LT(profit(mixed, 0), 0);
  const CoRun& run = mixed.pairs.at({"A", "B"}).at(1);
  EXPECT_DOUBLE_EQ(run.ipc[1] / run.ipc[0], 2) << "the balance is the measured one";
}

TEST(KerneletCauses, MeasuredRatesAreOptAndPairlessIsTheFastestCountOfEach) {
  const std::filesystem::path pairs = kRoot / "results/kernelet/pairs_c2050.json";
  const CoRunTables tables{read_co_runs(pairs, "predicted"), read_co_runs(pairs, "executed")};
  Scenario mi = read_scenario(kRoot / "configs/scenarios/kernelet_mi.toml");
  for (ScenarioJob& job : mi.jobs) job.launches = 4;
  const ScheduleTarget target = target_of(mi, read_machine(kRoot / "configs/machines/c2050.toml"),
                                          read_workload(kRoot / "configs/workloads/kernelet.toml"));
  const auto causes = kernelet_causes(mi, target, tables, {{"PC", {1, 1}}, {"SAD", {1, 4, 2}}, {"SPMV", {1}}, {"ST", {1}}});
  const auto of = [&](const std::string& what) { return *std::ranges::find(causes, what, &figures::Cause::what); };
  EXPECT_NEAR(of("all measured, pruned").seconds, of("all measured: OPT").seconds, 0.1) << "pruning leaves the best pairs";
  EXPECT_LT(of("all measured: OPT").seconds, of("all predicted: Kernelet").seconds);
  EXPECT_DOUBLE_EQ(of("no pairs, each with its best CTA count").seconds, 4 * 0.5 * (1 + 0.5 + 1 + 1));
}

}  // namespace
}  // namespace sluice
