// SPDX-License-Identifier: Apache-2.0
// What of the GPU back end needs no GPU: the transformation of PTX, launch specifications, layouts, statistics.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <stdexcept>

#include "sw/core/errors.h"
#include "sw/gpu/apps/launch_spec.h"
#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/report/decide.h"
#include "sw/gpu/report/gpu_report.h"
#include "sw/gpu/report/stats.h"
#include "sw/gpu/rewrite/ptx.h"
#include "sw/gpu/rewrite/template.h"
#include "sw/gpu/rewrite/transform.h"
#include "sw/gpu/runtime/control.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {
namespace {

constexpr const char* kPtx =
    ".version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry other(\n\t.param .u64 other_param_0\n)\n{\n\tret;\n}\n"
    ".visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 128, 1, 1\n{\n\t.reg .b32 %r<3>;\n\tmov.u32 \t%r1, %ctaid.x;\n"
    "\tmov.u32 \t%r2, %nctaid.y;\n\tbar.sync \t0;\n\tret;\n}\n";
/// Shaped as the compiler makes them: declarations, parameters read at the top, the job by value.
constexpr const char* kRuntime =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .shared .align 128 .b8 sluice_rt_state[128];\n"
    ".visible .func sluice_rt_enter(\n\t.param .align 8 .b8 sluice_rt_enter_param_0[128]\n)\n{\n"
    "\tld.param.u64 \t%rd1, [sluice_rt_enter_param_0+8];\n\tret;\n}\n"
    ".visible .func sluice_rt_next(\n\t.param .b32 sluice_rt_next_param_1\n)\n{\n"
    "\tld.param.u32 \t%r1, [sluice_rt_next_param_1];\n\tld.param.u32 \t%rd7, [sluice_rt_next_param_2];\n\tret;\n}\n"
    ".visible .func sluice_rt_count(\n)\n{\n\tret;\n}\n.visible .func sluice_rt_leave(\n)\n{\n\tret;\n}\n";

/// What stands beside the kernel in the module, with what it shares with others of its kind.
std::string text_of(const std::string& ptx, const std::string& runtime, const TransformSpec& spec) {
  const Transformed t = transform(normalised(ptx), normalised(runtime), spec);
  std::string out;
  for (const std::string& line : t.declarations) out += line;
  return out + t.text;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Template, FillsPlaceholdersAndKeepsThePtxsOwnBrackets) {
  EXPECT_EQ(fill("\t.reg .b32 %r<3>;\n\tadd.u32 %r1, %r<a>, <b>;\n", {{"a", 2}, {"b", "%x"}}),
            "\t.reg .b32 %r<3>;\n\tadd.u32 %r1, %r2, %x;\n");
  EXPECT_EQ(fill("<lines>\n\tret;\n<none>\n", {{"lines", "\tone;\n\ttwo;\n"}, {"none", ""}}), "\tone;\n\ttwo;\n\tret;\n");
  EXPECT_EQ(fill("<a>\n", {{"a", "<b>\n"}}), "<b>\n") << "a value is no template";
  EXPECT_EQ(fill("[sluice_job+<SluiceJob.counts_runs>], <SluiceStage>"), "[sluice_job+88], 16");
}

TEST(Template, KeepsTheLinesOfAConditionThatHolds) {
  constexpr const char* kEither = "<if c>\n\tone;\n<else>\n\ttwo;\n<end>\n\tret;\n";
  EXPECT_EQ(fill(kEither, {{"c", true}}), "\tone;\n\tret;\n");
  EXPECT_EQ(fill(kEither, {{"c", false}}), "\ttwo;\n\tret;\n");
}

TEST(Template, RefusesWhatDoesNotMatch) {
  const auto refuses = [](const char* ptx, const std::vector<Value>& values) {
    EXPECT_THROW(static_cast<void>(fill(ptx, values)), std::logic_error) << ptx;
  };
  refuses("add <a>, <b>;\n", {{"a", 1}});
  refuses("add <a>;\n", {{"a", 1}, {"b", 1}});
  refuses("[sluice_job+<SluiceJob.grid_w>]\n", {});
  refuses("<if c>\n<b>\n<end>\n", {{"c", false}});
  refuses("<if c>\n<end>\n", {{"c", 1}});
  refuses("<if c>\n", {{"c", true}});
  refuses("<end>\n", {});
}

TEST(Transform, KeepsTheKernelAndReplacesOnlyTheBlockIndexAndTheReturn) {
  const std::string out = text_of(kPtx, kRuntime, {"k"});
  EXPECT_EQ(out.find("%ctaid.x"), std::string::npos);
  EXPECT_EQ(out.find("%nctaid"), std::string::npos);
  EXPECT_EQ(out.find("entry other"), std::string::npos);
  EXPECT_NE(out.find("bra $SLUICE_END;"), std::string::npos);
  EXPECT_EQ(count(out, "bar.sync \t0;"), 1U) << "the kernel's own barrier";
  EXPECT_EQ(count(out, "bar.sync 1;"), 2U) << "one after entering, one a block, not the kernel's own";
  EXPECT_NE(out.find(".param .u64 k_param_0"), std::string::npos);
  EXPECT_NE(out.find("mov.u32 %r1, %sluice_block0;"), std::string::npos);
  EXPECT_NE(out.find("redux.sync.or.b32 %sluice_block0"), std::string::npos);
  EXPECT_EQ(out.find("redux.sync.or.b32 %sluice_block1"), std::string::npos) << "an index that the kernel does not read";
  EXPECT_NE(out.find("ld.param.u32 %r2, [sluice_job+52];"), std::string::npos) << "gridDim.y is a parameter";
}

TEST(Transform, JoinsTheRuntimeWithoutACall) {
  const std::string out = text_of(kPtx, kRuntime, {"k"});
  EXPECT_EQ(out.find("call"), std::string::npos) << "a call from one thread's branch splits its warp";
  EXPECT_EQ(out.find(".func"), std::string::npos);
  EXPECT_NE(out.find("[sluice_job+8]"), std::string::npos);
  EXPECT_NE(out.find("mov.b32 \t%r1, %sluice_next;"), std::string::npos);
  EXPECT_NE(out.find("cvt.u64.u32 \t%rd7, %sluice_quota;"), std::string::npos);
  EXPECT_EQ(out.find("minnctapersm"), std::string::npos) << "no limit of ours";
  EXPECT_THROW(static_cast<void>(text_of(kPtx, "", {"k"})), InputError);
  std::string in_memory = kRuntime;
  in_memory.insert(in_memory.find("\tld.param.u64"), "\tld.local.u64 \t%rd2, [%rd1];\n");
  EXPECT_THROW(static_cast<void>(text_of(kPtx, in_memory, {"k"})), InputError)
      << "an argument too long for the compiler to keep in registers has no memory in the joined text";
}

TEST(Transform, CounterweightIsInTheTextAndNeverRuns) {
  const std::string out = text_of(kPtx, kRuntime, {"k"});
  const std::size_t skip = out.find("setp.le.u32 %sluice_go, %sluice_x, 1;"),
                    first = out.find("mad.lo.u32 %sluice_y, %sluice_y, %sluice_x");
  ASSERT_NE(skip, std::string::npos);
  EXPECT_LT(skip, first) << "behind a branch that is always taken";
  EXPECT_LT(out.find("$SLUICE_LEAVE:"), skip) << "not in the loop";
}

TEST(Transform, LimitsRegistersWhereTheyDecideHowManyCtasFit) {
  EXPECT_EQ(allotted(41), 48U);
  EXPECT_EQ(allotted(7), 32U) << "2,048 threads fit";
  TransformSpec spec{"k"};
  EXPECT_EQ(count(text_of(kPtx, kRuntime, spec), ".maxnreg"), 0U);
  spec.registers = 32;
  EXPECT_EQ(count(text_of(kPtx, kRuntime, spec), ".maxnreg 32"), 1U);
  spec.registers = 48;
  EXPECT_EQ(count(text_of(kPtx, kRuntime, spec), ".maxnreg 51"), 1U) << "with some slack";
  spec.slack = 0;
  EXPECT_EQ(count(text_of(kPtx, kRuntime, spec), ".maxnreg 48"), 1U);
  std::string bound = kPtx;
  bound.insert(bound.find("{", bound.find(".entry k")), ".minnctapersm 2\n");
  EXPECT_EQ(count(text_of(bound, kRuntime, spec), ".maxnreg"), 0U) << "it has a limit of its own";
}

TEST(Transform, KeepsTheStageInAPredicateWhereRegistersDecideHowManyThreadsFit) {
  const auto in_predicate = [](const std::string& ptx, const TransformSpec& spec) {
    return count(text_of(ptx, kRuntime, spec), "not.pred %sluice_odd, %sluice_odd;") == 1;
  };
  std::string bound = kPtx;
  bound.insert(bound.find("{", bound.find(".entry k")), ".minnctapersm 2\n");
  TransformSpec spec{"k"};
  EXPECT_FALSE(in_predicate(kPtx, spec)) << "no limit";
  EXPECT_TRUE(in_predicate(bound, spec)) << "the kernel's own limit";
  spec.registers = 32;
  EXPECT_FALSE(in_predicate(kPtx, spec)) << "2,048 threads fit";
  spec.registers = 40;
  EXPECT_TRUE(in_predicate(kPtx, spec));
}

TEST(Transform, FunctionsReadTheBlockIndexFromSharedMemory) {
  std::string ptx = kPtx;
  ptx.insert(ptx.find("\tbar.sync"), "\tcall.uni f, ();\n");
  ptx.insert(ptx.find(".visible .entry k"), ".func f()\n{\n\tmov.u32 \t%r9, %ctaid.z;\n\tmov.u32 \t%r8, %nctaid.x;\n\tret;\n}\n");
  const std::string out = text_of(ptx, kRuntime, {"k"});
  EXPECT_NE(out.find("ld.volatile.shared.u32 %r9, [sluice_rt_state+100];"), std::string::npos);
  EXPECT_NE(out.find("ld.volatile.shared.u32 %r8, [sluice_rt_state+48];"), std::string::npos);
  EXPECT_NE(out.find("st.volatile.shared.u32 [sluice_rt_state+100], %sluice_z;"), std::string::npos);
}

TEST(Transform, ThreadsThatReturnEarlyAreCountedOffAtTheBarriersOfTheOthers) {
  const std::string out = text_of(kPtx, kRuntime, {"k", true});
  EXPECT_EQ(out.find("bar.sync \t0;"), std::string::npos);
  const std::string threads = fmt::format("[sluice_rt_state+{}]", offsetof(SluiceState, threads));
  EXPECT_EQ(count(out, "mbarrier.arrive.shared.b64 %sluice_phase, " + threads), 1U) << "the kernel's barrier";
  EXPECT_EQ(count(out, "mbarrier.arrive_drop.shared.b64 %sluice_phase, " + threads), 1U) << "a thread is done";
  EXPECT_EQ(count(out, "mbarrier.init.shared.b64 " + threads), 2U) << "in the first block, and in each that follows";
  EXPECT_EQ(count(out, "barrier.cta.sync 1;"), 2U) << "before all count again, and after";
}

TEST(Transform, CountsParameters) {
  EXPECT_EQ(parameter_count(kPtx, "k"), 1U);
  EXPECT_EQ(parameter_count(".visible .entry none()\n{\n\tret;\n}\n", "none"), 0U);
}

TEST(LaunchSpec, ReadsTemplatesExtentsAndArguments) {
  const LaunchSpec s =
      parse_launch("a/b.cu:tile<16, 2>,grid=3x4,block=8x8x2,smem=512,args=in:f32:100:uniform:-1:1;out:u8:7;i32:-5");
  EXPECT_EQ(s.file, "a/b.cu");
  EXPECT_EQ(s.kernel, "tile<16, 2>");
  EXPECT_EQ(s.blocks(), 12U);
  EXPECT_EQ(s.block_threads(), 128U);
  ASSERT_EQ(s.arguments.size(), 3U);
  EXPECT_EQ(s.arguments[1].fill, SLUICE_FILL_POISON);
  EXPECT_EQ(s.arguments[2].value.size(), 4U);
  const ArgumentSpec chance = parse_launch("a.cu:k,args=in:u8:9:chance:0.25:0:3").arguments.at(0);
  EXPECT_EQ(std::tuple(chance.fill, chance.a, chance.seed), std::tuple(SLUICE_FILL_CHANCE, 0.25F, 3U));
  EXPECT_EQ(parse_launch("a.cu:k,args=in:u8:9:chance").arguments.at(0).a, 0.5F);
}

TEST(LaunchSpec, RefusesWithTheAllowedValues) {
  for (const char* bad : {"k", "a.cu:k,grid=0", "a.cu:k,block=2048", "a.cu:k,args=f33:1", "a.cu:k,args=in:f32",
                          "a.cu:k,args=in:u32:6:chase", "a.cu:k,what=1"})
    EXPECT_THROW(static_cast<void>(parse_launch(bad)), InputError) << bad;
}

TEST(Decisions, SumsThatFitAnSmNeedNotFitItsSubCores) {
  const SmResources capacity{2048, 65536, 233472, 32};
  const std::vector<SmResources> demand = {{128, 4096, 1152, 1}, {192, 7680, 1152, 1}};  // 4 warps of 1,024 registers; 6 of 1,280
  const std::vector<CtaCount> tight = {CtaCount(10), CtaCount(3)}, loose = {CtaCount(8), CtaCount(4)};
  EXPECT_TRUE(fits(demand[1], take(capacity, demand[0], tight[0]), tight[1]));
  EXPECT_FALSE(fits_sub_cores(demand, tight, capacity)) << "10 + ceil(18 / 4) warps: 10,240 + 6,400 of 16,384 registers";
  EXPECT_TRUE(fits_sub_cores(demand, loose, capacity));
}

/// Quotas in 32nds: a share that the service counts in CTAs of one kernel is exact for it, and never more of an SM for another,
/// but that one CTA of each may run.
TEST(Orders, AQuotaIsTheSamePartOfAnSmForEveryKernel) {
  for (unsigned fits = 1; fits <= 32; ++fits)
    for (unsigned ctas = 1; ctas <= fits; ++ctas) {
      const unsigned quota = sluice_quota(ctas, sluice_flags(fits, true));
      EXPECT_EQ(sluice_ctas(quota, sluice_flags(fits, true)), ctas);
      EXPECT_EQ(sluice_ctas(ctas, sluice_flags(fits, false)), ctas);
      EXPECT_LT((quota - 1) * fits, 32 * ctas) << "a smaller one would do";
      for (unsigned others = 1; others <= 32; ++others) {
        const unsigned theirs = sluice_ctas(quota, sluice_flags(others, true));
        EXPECT_TRUE(theirs == 1 || theirs * 32 <= quota * others) << ctas << " of " << fits << ": " << theirs << " of " << others;
      }
    }
  EXPECT_EQ(sluice_ctas(0, sluice_flags(7, true)), 0U);
  EXPECT_EQ(sluice_fits(0), 32U) << "by itself a quota is CTAs";
}

TEST(Orders, OrdersSayHowManyCtasAreWanted) {
  EXPECT_EQ(orders_of({0, 32, 32, 3}, 1).wanted[31], 67U);
  EXPECT_EQ(orders_of({0, 32, 32, 3}, 1).wanted[3], 11U) << "no more than fit";
  EXPECT_EQ(orders_of({0, 32, 32, 3}, 1).quota[4], 0U);
  EXPECT_EQ(orders_of({2, 2, 2, 2}, 1).quota[100], 2U) << "SMs of a part of a GPU may have any numbers";
  const SluiceOrders orders = orders_of({0, 16, 16, 3}, 7, true);
  EXPECT_EQ(orders.epoch, 7U);
  EXPECT_EQ(orders.wanted[31], 35U);
  EXPECT_EQ(orders.wanted[1], 3U) << "of 2 that fit, one on each SM";
  EXPECT_EQ(orders.wanted[5], 7U) << "of 6: 3, 3 and 1 for 0.56";
}

TEST(Stats, MedianIntervalAndRanks) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Interval i = bootstrap(x, [](std::span<const double> s) { return median(s); });
  EXPECT_LT(i.low, 5.5);
  EXPECT_GT(i.high, 5.5);
  EXPECT_DOUBLE_EQ(rank_correlation(x, x), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(x, std::vector<double>(x.rbegin(), x.rend())), -1);
}

TEST(Report, RebuildsTheCommittedResultsFromTheirMeasurements) {
  const std::filesystem::path committed = std::filesystem::path(SLUICE_SOURCE_DIR) / "results/h200",
                              folder = std::filesystem::path(testing::TempDir()) / "sluice_gpu_report";
  std::filesystem::remove_all(folder);
  std::filesystem::copy(committed, folder, std::filesystem::copy_options::recursive);
  for (const char* made : {"overhead.json", "preemption.json", "pairs.json", "ranges.json", "index.html"})
    std::filesystem::remove(folder / made);
  EXPECT_EQ(write_report(folder, true), 0) << "a check of the measurements fails";
  for (const char* made : {"overhead.json", "preemption.json", "pairs.json", "ranges.json"})
    EXPECT_EQ(read_file(folder / made), read_file(committed / made)) << made;
  EXPECT_GT(std::filesystem::file_size(folder / "index.html"), 10000U);
  std::filesystem::remove(folder / "machine.json");
  EXPECT_THROW(static_cast<void>(write_report(folder, true)), InputError);
  std::filesystem::remove_all(folder);
}

TEST(Report, AGateThatDecidesOtherwiseFails) {
  const std::filesystem::path committed = std::filesystem::path(SLUICE_SOURCE_DIR) / "results/h200/service",
                              folder = std::filesystem::path(testing::TempDir()) / "sluice_service_report";
  std::filesystem::remove_all(folder);
  std::filesystem::copy(committed, folder, std::filesystem::copy_options::recursive);
  EXPECT_EQ(write_report(folder, true), 0);
  EXPECT_EQ(read_file(folder / "index.html"), read_file(committed / "index.html"));
  std::string gate = read_packed(folder / "gate.jsonl");
  const std::string native = "\"decided\":\"waits for all\"";
  ASSERT_NE(gate.find(native), std::string::npos);
  write_file_atomically(folder / "gate.jsonl", gate.replace(gate.find(native), native.size(), "\"decided\":\"\""));
  EXPECT_EQ(write_report(folder, true), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sluice::gpu
