// SPDX-License-Identifier: Apache-2.0
// Recorded kernels as a workload: import, read back, launched again.
#include "sw/trace/trace_import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "sw/core/resources.h"
#include "sw/trace/kernel_list.h"
#include "sw/trace/repeated_trace.h"
#include "sw/trace/trace_source.h"
#include "sw/workload/machine_file.h"
#include "sw/workload/workload_file.h"
#include "tests/support.h"
#include "tests/trace/sample_traces.h"

namespace sluice {
namespace {

class TraceWorkload : public test::Scratch {
 protected:
  void SetUp() override {
    write("BLK/kernelslist.g", "kernel-1.traceg\n");
    std::string text = sample::header(2, 64);
    for (unsigned cta = 0; cta < 2; ++cta)
      text += sample::cta(cta, {fmt::format("0000 ffffffff 1 R{} MOV 0 0 1", 4 + cta), "0010 ffffffff 0 EXIT 0 0 0"}, 2);
    write("BLK/kernel-1.traceg", text);
  }
  static Workload table2() { return read_workload(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/workloads/table2.toml"); }
  std::filesystem::path written(const Workload& workload) { return write("w.toml", format_workload(workload, "")); }
  Workload imported() {
    Workload workload = import_traces({folder_ / "BLK"}, table2(), 64);
    workload.name = "w";
    workload.kernels[0].trace->file = "BLK/kernel-1.traceg";
    return workload;
  }
};

TEST_F(TraceWorkload, TakesGeometryFromTheTraceAndFiguresFromTheOther) {
  const KernelDescriptor k = imported().kernels.at(0);
  EXPECT_EQ(k.grid_ctas, 2U);
  EXPECT_EQ(k.block_threads, 64U);
  EXPECT_EQ(k.registers_per_cta, 2U * 512);
  EXPECT_EQ(k.shared_bytes_per_cta, 0U);
  EXPECT_EQ(k.behaviour.warp_instructions, 2U);
  EXPECT_EQ(k.full_name, table2().kernels[0].full_name);
  EXPECT_TRUE(k.reference.has_value());
  EXPECT_NE(test::refusal([&] { (void)import_traces({folder_}, table2(), 64); }).find("no kernel of table2 is named sluice_"),
            std::string::npos);
}

TEST_F(TraceWorkload, IsReadBackAndRefusedWhenTheTraceIsAnother) {
  const std::filesystem::path file = written(imported());
  const Workload again = read_workload(file);
  EXPECT_EQ(format_workload(again, ""), format_workload(imported(), ""));
  std::ofstream(folder_ / "BLK/kernel-1.traceg", std::ios::app) << "\n";
  EXPECT_NE(test::refusal([&] { (void)read_workload(file); }).find("hash"), std::string::npos);
  std::filesystem::remove(folder_ / "BLK/kernel-1.traceg");
  EXPECT_NE(test::refusal([&] { (void)read_workload(file); }).find("kernel-1.traceg"), std::string::npos);
}

TEST_F(TraceWorkload, AKernelThatIsLaunchedAgainOrHasALargerGridRunsItsTraceAgain) {
  KernelDescriptor larger = imported().kernels.at(0);
  larger.grid_ctas = 5;
  larger.trace->ctas = 2;
  for (const KernelDescriptor& k : {imported().kernels.at(0), larger}) {
    TraceSource source(k.trace->path, 0);
    for (std::uint32_t cta = 0; cta < 5; ++cta) {
      WarpCursor cursor{cta, 1, 0, source.begin_cta(cta), 0, 0};
      EXPECT_EQ(source.next(cursor).dst, 4 + cta % 2) << "grid of " << k.grid_ctas;
      source.end_cta(cursor.handle);
    }
  }
}

TEST_F(TraceWorkload, CtasOfTheLaunchBeforeRunOnWhenTheKernelIsLaunchedAgain) {
  const KernelDescriptor k = imported().kernels.at(0);
  TraceSource source(k.trace->path, 0);
  source.begin_cta(0);
  WarpCursor last{1, 0, 0, source.begin_cta(1), 0, 0};
  source.begin_cta(2);
  EXPECT_EQ(source.next(last).dst, 5);
}

TEST_F(TraceWorkload, TakesGeometryFromTheOtherWhereItIsWanted) {
  Workload like = table2();
  EXPECT_NE(test::refusal([&] {
              (void)import_traces({folder_ / "BLK"}, like, 64, TraceGeometry::Like);
            }).find("CTAs of 64 threads, but table2 has CTAs of 128"),
            std::string::npos);
  like.kernels[0].block_threads = 64;
  Workload workload = import_traces({folder_ / "BLK"}, like, 64, TraceGeometry::Like);
  const KernelDescriptor& k = workload.kernels.at(0);
  EXPECT_EQ(k.grid_ctas, like.kernels[0].grid_ctas);
  EXPECT_EQ(k.demand(), like.kernels[0].demand());
  EXPECT_EQ(k.trace->ctas, 2U);
  workload.kernels[0].trace->file = "BLK/kernel-1.traceg";
  workload.name = "w";
  EXPECT_EQ(read_workload(written(workload)).kernels.at(0).trace->ctas, 2U);
}

TEST_F(TraceWorkload, ItsProcessIsReadBackAndHasItsOwnMemory) {
  std::string text =
      sample::header(1, 32) + sample::cta(0, {"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4", "0010 ffffffff 0 EXIT 0 0 0"});
  write("BLK/kernel-1.traceg", text);
  Workload workload = imported();
  workload.kernels[0].trace->process = 3;
  const KernelDescriptor k = read_workload(written(workload)).kernels.at(0);
  EXPECT_EQ(k.trace->process, 3U);
  const auto source = trace_source(k, 0);
  WarpCursor cursor{0, 0, 0, source->begin_cta(0), 0, 0};
  (void)source->next(cursor);
  std::vector<LineAccess> lines;
  source->lines(cursor, 0, lines);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].address, 0x1000U | 3ULL << 48);
}

TEST_F(TraceWorkload, AnotherGridIsRefused) {
  KernelDescriptor k = imported().kernels.at(0);
  k.grid_ctas = 3;
  EXPECT_NE(
      test::refusal([&] { (void)trace_source(k, 0); }).find("2 CTAs of 64 threads, but kernel BLK of the workload has 3 of 64"),
      std::string::npos);
}

TEST(LlmWorkload, IsTheLaunchesOfItsListsAndTheTwoProgramsShareNoMemory) {
  const std::filesystem::path folder = std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/workloads";
  const Workload workload = read_workload(folder / "llm.toml");
  std::size_t k = 0;
  for (const std::string program : {"prefill", "decode"})
    for (const ListedKernel& listed : read_kernel_list(folder / "llm" / (program + ".g"))) {
      const KernelDescriptor& kernel = workload.kernels.at(k++);
      EXPECT_TRUE(std::filesystem::equivalent(kernel.trace->path, listed.file)) << kernel.name;
      EXPECT_EQ(kernel.demand(), describe(listed.header, 256).demand()) << kernel.name;
      EXPECT_EQ(kernel.trace->process, program == "decode" ? 1U : 0U) << kernel.name;
      EXPECT_NO_THROW((void)trace_source(kernel, 0)) << kernel.name;  // the grid is the recorded one
    }
  EXPECT_EQ(workload.kernels.size(), k);
}

// `table2_published`: recorded code with the geometry and the resources that Warped-Slicer's table II prints.

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
    TraceSource source(k.trace->path, 0);
    WarpCursor cursor{0, 0, 0, source.begin_cta(0), 0, 0};
    EXPECT_NE(source.next(cursor).op, OpClass::Exit) << k.name;
  }
}

}  // namespace
}  // namespace sluice
