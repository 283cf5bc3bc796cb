// SPDX-License-Identifier: Apache-2.0
// `table2_published`: recorded code with the geometry and the resources that Warped-Slicer's table II prints.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "sw/core/resources.h"
#include "sw/trace/trace_source.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"

namespace sluice {
namespace {

const std::filesystem::path kConfigs = std::filesystem::path(SLUICE_SOURCE_DIR) / "configs";
const Workload kPublished = read_workload(kConfigs / "workloads/table2_published.toml");

TEST(PublishedResources, GridThreadsRegistersAndSharedMemoryAreThoseOfTheFittedWorkload) {
  const Workload fitted = read_workload(kConfigs / "workloads/table2.toml");
  ASSERT_EQ(kPublished.kernels.size(), fitted.kernels.size());
  for (std::size_t i = 0; i < fitted.kernels.size(); ++i) {
    const KernelDescriptor &is = kPublished.kernels[i], &table = fitted.kernels[i];
    EXPECT_EQ(is.name, table.name);
    EXPECT_EQ(is.demand(), table.demand()) << is.name;
    EXPECT_EQ(is.grid_ctas, table.grid_ctas) << is.name;
    EXPECT_EQ(is.block_threads, table.block_threads) << is.name;
  }
}

TEST(PublishedResources, AsManyCtasFitAsInThePaper) {
  const std::map<std::string, std::uint32_t> most = {{"BLK", 8}, {"BFS", 3}, {"DXT", 8}, {"HOT", 3}, {"IMG", 8},
                                                     {"KNN", 6}, {"LBM", 7}, {"MM", 5},  {"MVP", 8}, {"NN", 8}};
  const MachineConfig fermi = read_machine(kConfigs / "machines/fermi_table1.toml");
  for (const KernelDescriptor& k : kPublished.kernels)
    EXPECT_EQ(occupancy(k.demand(), fermi.sm.capacity).value(), most.at(k.name)) << k.name;
}

TEST(PublishedResources, EveryKernelRunsRecordedCode) {
  for (const KernelDescriptor& k : kPublished.kernels) {
    ASSERT_TRUE(k.trace.has_value()) << k.name;
    TraceSource source(k, 0);
    WarpCursor cursor{0, 0, 0, source.begin_cta(0), 0, 0};
    EXPECT_NE(source.next(cursor).op, OpClass::Exit) << k.name;
  }
}

}  // namespace
}  // namespace sluice
