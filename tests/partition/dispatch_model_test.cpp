// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/dispatch_model.h"

#include <gtest/gtest.h>

#include <string>

#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::string kConfigs = std::string(SLUICE_SOURCE_DIR) + "/configs";

TEST(DispatchModel, RegionsOfTheDefaultSizeKeepTheOccupancyOfTableTwo) {
  const SmResources capacity = read_machine(kConfigs + "/machines/fermi_table1.toml").sm.capacity;
  for (const KernelDescriptor& kernel : read_workload(kConfigs + "/workloads/table2.toml").kernels) {
    DispatchModel model(1, capacity, 1, 64);
    ASSERT_EQ(model.launch(0, {kernel.demand(), 1000}), DispatchModel::Verdict::Taken);
    std::uint32_t placed = 0;
    for (; model.admissible(0, 0, CtaCount(1000), true); ++placed) {
      (void)model.admit(0, 0, false, false);
      ASSERT_TRUE(model.place(0, model.seat(0, 0))) << kernel.name;
    }
    EXPECT_EQ(placed, occupancy(kernel.demand(), capacity).value()) << kernel.name;
  }
}

TEST(DispatchModel, RefusesWhatDoesNotFitOrExist) {
  DispatchModel model(2, {1536, 32768, 49152, 8}, 2, 64);
  EXPECT_EQ(model.launch(0, {{64, 40000, 0, 1}, 1}), DispatchModel::Verdict::CannotFit);
  EXPECT_EQ(model.launch(0, {{64, 100, 0, 1}, 0}), DispatchModel::Verdict::CannotFit);
  EXPECT_EQ(model.stop(0), DispatchModel::Verdict::BadKernel);
  EXPECT_EQ(model.launch(0, {{64, 100, 0, 1}, 1}), DispatchModel::Verdict::Taken);
  EXPECT_EQ(model.launch(0, {{64, 100, 0, 1}, 1}), DispatchModel::Verdict::SlotBusy);
  EXPECT_EQ(model.done(0, 0), std::nullopt);
  EXPECT_EQ(model.done(7, 0), std::nullopt);
}

TEST(DispatchModel, EndsWhenTheLastCtaOfTheGridHasEnded) {
  DispatchModel model(1, {1536, 32768, 49152, 8}, 1, 64);
  ASSERT_EQ(model.launch(0, {{64, 100, 1024, 1}, 2}), DispatchModel::Verdict::Taken);
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    EXPECT_EQ(model.admit(0, 0, false, false), cta);
    ASSERT_TRUE(model.place(0, model.seat(0, 0)));
  }
  EXPECT_FALSE(model.admissible(0, 0, CtaCount(8), true));
  EXPECT_EQ(model.done(0, 0), 0U);
  model.leave(0, 0);
  model.count_end(0);
  EXPECT_FALSE(model.ending(0));
  EXPECT_EQ(model.done(0, 1), 0U);
  EXPECT_FALSE(model.holds(0, 1));
  model.leave(0, 1);
  EXPECT_FALSE(model.ending(0));
  model.count_end(0);
  ASSERT_TRUE(model.ending(0));
  EXPECT_EQ(model.free(0), (SmResources{1536, 32768, 49152, 8}));
  EXPECT_EQ(model.registers(0).free_units(), 64U);
}

}  // namespace
}  // namespace sluice
