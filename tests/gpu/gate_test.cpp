// SPDX-License-Identifier: Apache-2.0
// Which kernels are transformed and which run natively, why, and that what is transformed assembles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "sw/core/errors.h"
#include "sw/gpu/rewrite/barriers.h"
#include "sw/gpu/rewrite/behaviour.h"
#include "sw/gpu/rewrite/gate.h"
#include "sw/io/atomic_file.h"

namespace sluice::gpu {
namespace {

/// A kernel with this body, whose registers are its own.
std::string kernel(const std::string& body, const std::string& before = "") {
  return normalised(
      ".version 7.0\n.target sm_52\n.address_size 64\n" + before +
      ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u32 k_param_1\n)\n{\n\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n"
      "\t.reg .b64 %rd<9>;\n\tld.param.u64 %rd1, [k_param_0];\n\tld.param.u32 %r8, [k_param_1];\n\tmov.u32 %r1, %tid.x;\n" +
      body + "\tret;\n}\n");
}
Behaviour behaviour(const std::string& ptx) {
  const std::vector<Item> items = items_of(ptx);
  return behaviour_of(ptx, reach_of(ptx, items, "k"));
}
std::optional<GateRule> refused(const std::string& body, const std::string& before = "") {
  const auto r = study_kernel(kernel(body, before), "k").refusal;
  return r ? std::optional(r->rule) : std::nullopt;
}

TEST(Text, LosesCommentsStringsAndDebugInformation) {
  const std::string out = normalised(
      ".version 9.0\n.target sm_90, debug\n.address_size 64\n.file 1 \"a.entry k {\"\n// .entry no {\n/* } */\n.visible .entry "
      "k()\n{\n"
      "\t.pragma \"nounroll\";\n\t.loc 1 2 3\n\tret ;\n}\n.section .debug_str { .b8 1 }\n");
  EXPECT_EQ(items_of(out).size(), 1U) << out;
  EXPECT_EQ(find_entry(out, "k").name, "k");
  EXPECT_NE(out.find("\"nounroll\""), std::string::npos);
  EXPECT_NE(out.find("ret;"), std::string::npos);
  for (const char* gone : {"debug", ".loc", ".file", "entry no"}) EXPECT_EQ(out.find(gone), std::string::npos) << gone;
  EXPECT_THROW(static_cast<void>(normalised("/* ")), InputError);
}

TEST(Text, HeaderIsRaisedAndKeepsATargetOfItsOwn) {
  const std::string runtime = ".version 9.0\n.target sm_90\n.address_size 64\n";
  EXPECT_EQ(raised_header(".version 7.0\n.target sm_52\n.address_size 64\n", runtime),
            ".version 9.0\n.target sm_90\n.address_size 64");
  EXPECT_EQ(raised_header(".version 9.1\n.target sm_90a\n.address_size 64\n", runtime),
            ".version 9.1\n.target sm_90a\n.address_size 64");
}

TEST(Barriers, AreBypassedOnlyByBranchesThatDifferFromThreadToThread) {
  EXPECT_TRUE(behaviour(kernel("\tsetp.gt.u32 %p1, %r1, 9;\n\t@%p1 bra L;\n\tbar.sync 0;\nL:\n")).bypassed_barrier);
  EXPECT_TRUE(behaviour(kernel("\tsetp.gt.u32 %p1, %r1, 9;\n\t@%p1 ret;\n\tbar.sync 0;\n")).bypassed_barrier)
      << "a predicated return";
  EXPECT_TRUE(behaviour(kernel("\tld.global.u32 %r2, [%rd1];\n\tsetp.gt.u32 %p1, %r2, 9;\n\t@%p1 bra L;\n\tbar.sync 0;\nL:\n"))
                  .bypassed_barrier)
      << "memory may change between two threads' readings";
  EXPECT_FALSE(behaviour(kernel("\tsetp.gt.u32 %p1, %r8, 9;\n\t@%p1 bra L;\n\tbar.sync 0;\nL:\n")).bypassed_barrier)
      << "a parameter";
  EXPECT_FALSE(
      behaviour(
          kernel("\tmov.u32 %r2, 0;\nL:\n\tbar.sync 0;\n\tadd.u32 %r2, %r2, 1;\n\tsetp.lt.u32 %p1, %r2, %r8;\n\t@%p1 bra L;\n"))
          .bypassed_barrier)
      << "a counted loop";
  EXPECT_TRUE(
      behaviour(
          kernel("\tmov.u32 %r2, %r1;\nL:\n\tbar.sync 0;\n\tadd.u32 %r2, %r2, 1;\n\tsetp.lt.u32 %p1, %r2, %r8;\n\t@%p1 bra L;\n"))
          .bypassed_barrier)
      << "a loop of as many rounds as the thread's number says";
  EXPECT_FALSE(
      behaviour(kernel("\tsetp.gt.u32 %p1, %r1, 9;\n\t@%p1 bra L;\n\tmov.u32 %r3, 1;\nL:\n\tbar.sync 0;\n")).bypassed_barrier);
  const std::string function = ".func f()\n{\n\tbar.sync 0;\n\tret;\n}\n";
  EXPECT_TRUE(behaviour(kernel("\tsetp.gt.u32 %p1, %r1, 9;\n\t@%p1 bra L;\n\tcall f, ();\nL:\n", function)).bypassed_barrier);
  EXPECT_FALSE(behaviour(kernel("\tcall f, ();\n", function)).bypassed_barrier);
}

TEST(Waiting, IsALoopThatLooksAtWhatItRereads) {
  const char* exit = "\tsetp.eq.s32 %p1, %r2, 0;\n\t@%p1 bra L;\n";
  for (const char* read :
       {"ld.volatile.global.u32 %r2, [%rd1];", "ld.acquire.gpu.u32 %r2, [%rd1];", "ld.global.cv.u32 %r2, [%rd1];",
        "ld.global.cg.u32 %r2, [%rd1];", "atom.global.add.u32 %r2, [%rd1], 1;", "ld.global.u32 %r2, [%rd1];\n\tmembar.gl;"})
    EXPECT_TRUE(behaviour(kernel(fmt::format("L:\n\t{}\n{}", read, exit))).waits) << read;
  for (const char* read : {"ld.global.u32 %r2, [%rd1];", "ld.volatile.shared.u32 %r2, [%r3];", "add.u32 %r2, %r2, 1;"})
    EXPECT_FALSE(behaviour(kernel(fmt::format("L:\n\t{}\n{}", read, exit))).waits) << read;
  EXPECT_FALSE(
      behaviour(
          kernel(
              "L:\n\tatom.global.add.u32 %r3, [%rd1], 1;\n\tadd.u32 %r2, %r2, 1;\n\tsetp.lt.u32 %p1, %r2, %r8;\n\t@%p1 bra L;\n"))
          .waits)
      << "a histogram";
  EXPECT_TRUE(behaviour(kernel("L:\n\tld.volatile.global.u32 %r2, [%rd1];\n\tst.shared.u32 [%r3], %r2;\n\tbar.sync 0;\n"
                               "\tld.shared.u32 %r4, [%r3];\n\tsetp.eq.s32 %p1, %r4, 0;\n\t@%p1 bra L;\n"))
                  .waits)
      << "by way of shared memory";
}

TEST(Waiting, MayLieInsideALoopThatCounts) {
  const std::string spin = "\tld.volatile.global.u32 %r2, [%rd1];\n\tsetp.eq.s32 %p1, %r2, 0;\n\t@%p1 bra ",
                    counts = ";\n\tadd.u32 %r3, %r3, 1;\n\tsetp.lt.u32 %p2, %r3, %r8;\n\t@%p2 bra L;\n";
  EXPECT_TRUE(behaviour(kernel("L:\n\tadd.u32 %r4, %r4, 2;\nM:\n" + spin + "M" + counts)).waits);
  EXPECT_TRUE(behaviour(kernel("L:\n" + spin + "L" + counts)).waits) << "both begin at one label";
  EXPECT_TRUE(behaviour(kernel("K:\nL:\n\tadd.u32 %r4, %r4, 2;\nM:\n" + spin + "M" + counts +
                               "\tadd.u32 %r5, %r5, 1;\n\tsetp.lt.u32 %p3, %r5, %r8;\n\t@%p3 bra K;\n"))
                  .waits)
      << "two loops around it";
  EXPECT_FALSE(behaviour(kernel("L:\n\tadd.u32 %r4, %r4, 2;\n\tld.volatile.global.u32 %r2, [%rd1];\nM:\n"
                                "\tadd.u32 %r5, %r5, 1;\n\tsetp.lt.u32 %p1, %r5, 8;\n\t@%p1 bra M" +
                                counts))
                   .waits)
      << "what is read decides nothing";
}

TEST(Gate, NamesTheRuleThatAKernelBreaks) {
  using R = GateRule;
  EXPECT_EQ(refused("\tbar.sync 0;\n"), std::nullopt);
  EXPECT_EQ(refused("\texit ;\n"), R::ThreadExit);
  EXPECT_EQ(refused("\ttrap; exit;\n"), std::nullopt) << "as LLVM ends what cannot be reached";
  EXPECT_EQ(refused("\tmov.u32 %r1, %envreg2;\n"), R::GridSync);
  EXPECT_EQ(refused("\tmov.u32 %r1, %clusterid.x;\n"), R::Clusters);
  EXPECT_EQ(refused("\tmapa.u64 %rd2, %rd1, 0;\n"), R::Clusters);
  EXPECT_EQ(refused("\tcall (retval0), __cudaCDP2LaunchDeviceV2, (param0);\n",
                    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a);\n"),
            R::DynamicParallelism);
  for (const std::string call : {"cudaGraphLaunch", "cudaGraphSetConditional", "cudaGraphKernelNodeSetParam"})
    EXPECT_EQ(
        refused("\tcall (retval0), " + call + ", (param0);\n", ".extern .func (.param .b32 r) " + call + " (.param .b64 a);\n"),
        R::DynamicParallelism)
        << call << ": a later grid stands outside the graph";
  EXPECT_EQ(refused("", ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a);\n"), std::nullopt)
      << "a symbol that the kernel does not use";
  EXPECT_EQ(refused("\tsetmaxnreg.dec.sync.aligned.u32 24;\n"), R::SetMaxRegisters);
  EXPECT_EQ(refused("\tmov.u64 %rd1, %gridid;\n"), R::GridIdentity);
  EXPECT_EQ(refused("\tcall.uni __assertfail, (param0);\n", ".extern .func __assertfail (.param .b64 a);\n"), R::Assert);
  EXPECT_EQ(refused("\ttex.1d.v4.u32.s32 {%r1,%r2,%r3,%r4}, [t, {%r5}];\n", ".global .texref t;\n"), R::BoundTexture);
  EXPECT_EQ(refused("\tbar.arrive 3, 64;\n"), R::BarrierArrive);
  EXPECT_EQ(refused("\tbar.sync 0, 32;\n"), R::BarrierCount);
  EXPECT_EQ(refused("\tbar.sync %r1, 32;\n"), R::BarrierName);
  EXPECT_EQ(refused("\tmov.b32 %r1, %ctaid.x;\n"), std::nullopt);
  EXPECT_EQ(refused("\tadd.u32 %r1, %ctaid.x, 1;\n"), R::BlockIndex);
  EXPECT_EQ(refused("\tmov.u32 %r1, %total_smem_size;\n"), R::SharedSize);
  EXPECT_EQ(refused("\tst.async.weak.b32 [%rd1], %r1, [%rd2];\n"), R::RemoteAsync);
  EXPECT_EQ(refused("\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2], 16, [%rd3];\n"),
            R::CopyWithoutWait);
  const std::string reads = ".func f()\n{\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, %ctaid.x;\n\tret;\n}\n";
  EXPECT_EQ(refused("\tcall %rd1, (), p;\n", reads), R::FunctionPointer);
  EXPECT_EQ(refused("\tcall f, ();\n", reads), std::nullopt);
  EXPECT_EQ(refused("\t.global .u32 mine;\n"), R::OwnVariable);
  EXPECT_EQ(refused("\tsetp.gt.u32 %p1, %r1, 9;\n\t@%p1 ret;\n\tbar.sync 0;\n\tbar.red.popc.u32 %r2, 0, %p1;\n"),
            R::BypassedBarrier);
  EXPECT_EQ(refused("\tbar.red.popc.u32 %r2, 0, %p1;\n"), std::nullopt);
  EXPECT_EQ(refused("\tsetp.gt.u32 %p1, %r1, 31;\n\t@%p1 ret;\n\tbar.sync 1, 32;\n"), std::nullopt)
      << "it counts those that come";
}

TEST(Gate, LooksAtTheLaunch) {
  ModuleKernel plain, waiting;
  plain.shared_behind = 256;
  waiting.waits = true;
  const DeviceFacts device{132, 8, 4096};
  const auto rule = [&](const ModuleKernel& k, const LaunchFacts& l, const DeviceFacts& d) {
    const auto r = refuse_launch(k, l, d);
    return r ? std::optional(r->rule) : std::nullopt;
  };
  LaunchFacts large;
  large.grid = {40000, 1, 1};
  EXPECT_EQ(rule(plain, large, device), std::nullopt);
  EXPECT_EQ(rule(waiting, large, device), std::nullopt);
  using Three = std::array<std::uint32_t, 3>;
  for (const auto& [grid, block] : std::vector<std::pair<Three, Three>>{{{1, 65536, 1}, {64, 1, 1}},
                                                                        {{1, 1, 65536}, {64, 1, 1}},
                                                                        {{1U << 31, 1, 1}, {32, 1, 1}},
                                                                        {{0, 1, 1}, {32, 1, 1}},
                                                                        {{40000, 1, 1}, {1025, 1, 1}},
                                                                        {{40000, 1, 1}, {64, 32, 1}},
                                                                        {{40000, 1, 1}, {1, 1, 65}}})
    EXPECT_EQ(rule(plain, {grid, block}, device), GateRule::Refused) << grid[0] << " " << grid[1] << " " << block[0];
  LaunchFacts other = large;
  other.cooperative = true;
  EXPECT_EQ(rule(plain, other, device), GateRule::Cooperative);
  other = large;
  other.cluster = true;
  EXPECT_EQ(rule(plain, other, device), GateRule::ClusterLaunch);
  other = large;
  other.programmatic = true;
  EXPECT_EQ(rule(plain, other, device), GateRule::ProgrammaticLaunch);
  EXPECT_EQ(rule(plain, large, {132, 8, 255}), GateRule::SharedRoom);
  other.programmatic = false;
  other.grid = {65536, 65535, 2};
  EXPECT_EQ(rule(plain, other, device), GateRule::GridSize);
  other.grid = {1056, 1, 1};
  EXPECT_EQ(rule(waiting, other, device), GateRule::WaitsForAll);
  EXPECT_EQ(rule(plain, other, device), std::nullopt);
}

TEST(Gate, DocumentHasTheCodesTable) {
  const std::string page = read_file(std::filesystem::path(SLUICE_SOURCE_DIR) / "docs/reference/how_sharing_works.md");
  std::string table;
  for (const GateRow& row : gate_table()) table += fmt::format("| {} | {} |\n", row.name, row.native);
  EXPECT_NE(page.find(table), std::string::npos) << "the page must have these rows, in this order:\n" << table;
}

#ifdef SLUICE_PTXAS
/// Assembles for sm_90. @throws InputError with the assembler's first line
std::vector<char> assemble(const std::string& ptx) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / fmt::format("sluice_gate_{}.ptx", std::hash<std::string>()(ptx));
  std::ofstream(file) << ptx;
  const std::string log = file.string() + ".log";
  const int code = std::system(fmt::format("{} -arch=sm_90 -O1 {} -o /dev/null 2> {}", SLUICE_PTXAS, file.string(), log).c_str());
  const std::string said = read_file(log);
  if (code != 0) throw InputError(said.substr(0, 300));
  std::filesystem::remove(file);
  std::filesystem::remove(log);
  return {};
}
std::string runtime() { return read_file(SLUICE_PTX_DIR "/runtime.ptx"); }

TEST(Module, OldPtxHasItsKernelsAndTheTransformedOnesBesideThem) {
  const RewrittenModule module = rewrite_module(read_file(SLUICE_PTX_DIR "/gate_set.ptx"), runtime(), assemble);
  const std::map<std::string, std::optional<GateRule>> expected = {{"lookback", {}},
                                                                   {"grid_barrier_by_hand", {}},
                                                                   {"shared_base", {}},
                                                                   {"conditional_barrier", {}},
                                                                   {"exit_with_a_space", GateRule::ThreadExit},
                                                                   {"stack_by_size", {}},
                                                                   {"copy_left_open", {}},
                                                                   {"module_variable", {}},
                                                                   {"counted_barrier", {}},
                                                                   {"counted_barrier_0", GateRule::BarrierCount},
                                                                   {"arrive_and_go", GateRule::BarrierArrive},
                                                                   {"all_static_shared", {}},
                                                                   {"barrier_in_a_function", {}}};
  EXPECT_EQ(module.kernels.size(), expected.size());
  for (const auto& [name, rule] : expected) {
    const ModuleKernel& k = module.kernels.at(name);
    EXPECT_EQ(k.refusal ? std::optional(k.refusal->rule) : std::nullopt, rule)
        << name << (k.refusal ? ": " + k.refusal->reason : "");
  }
  EXPECT_TRUE(module.kernels.at("lookback").waits);
  EXPECT_TRUE(module.kernels.at("grid_barrier_by_hand").waits);
  EXPECT_FALSE(module.kernels.at("module_variable").waits);
  std::size_t counters = 0;
  for (const Item& item : items_of(module.text)) counters += item.name == "shared_counter" ? 1U : 0U;
  EXPECT_EQ(counters, 1U) << "native and transformed launches see one variable";
  static_cast<void>(find_entry(module.text, "module_variable"));
  const std::string body = function_body(module.text, "module_variable__sluice");
  EXPECT_NE(body.find("shared_counter"), std::string::npos);
  EXPECT_NE(module.text.find(".target sm_90"), std::string::npos) << "nvcc wrote sm_75";
}

TEST(Module, SharedMemoryKeepsItsPlaceAndCopiesAreWaitedFor) {
  const std::string ptx = normalised(read_file(SLUICE_PTX_DIR "/gate_set.ptx")), own = normalised(runtime());
  const auto of = [&](const char* name) { return transform(ptx, own, {name}); };
  const Transformed base = of("shared_base");
  EXPECT_EQ(base.shared_behind, kSharedBehind);
  EXPECT_TRUE(base.declarations.empty()) << "no static shared memory in front of the kernel's";
  EXPECT_NE(base.text.find("mov.u32 %sluice_state, dynamic_part;"), std::string::npos);
  EXPECT_EQ(base.text.find("sluice_rt_state"), std::string::npos);
  EXPECT_EQ(of("module_variable").shared_behind, 0U) << "no shared memory: none to keep in place";
  const std::string open = of("copy_left_open").text;
  EXPECT_LT(open.find("$SLUICE_END:"), open.find("cp.async.wait_all;"));
  EXPECT_NE(of("stack_by_size").text.find("stackrestore.u64"), std::string::npos);
  const Transformed late = transform(ptx, own, {"barrier_in_a_function", true});
  EXPECT_NO_THROW(assemble(combined(ptx, own, {base, late, of("all_static_shared")})));
}

/// Launches follow each other closely: a grid's CTAs may be placed before the grid in front of it has ended.
TEST(Module, NothingIsReadBeforeTheGridInFrontHasEnded) {
  const std::string ptx = normalised(read_file(SLUICE_PTX_DIR "/gate_set.ptx")), own = normalised(runtime());
  const std::string text = transform(ptx, own, {"module_variable"}).text;
  const std::size_t waits = text.find("griddepcontrol.wait;");
  ASSERT_NE(waits, std::string::npos);
  for (const char* access : {".global", "atom.", "red."}) EXPECT_LT(waits, text.find(access)) << access;
}

TEST(Module, AKernelThatDoesNotAssembleLeavesTheOthersAlone) {
  const std::string ptx = read_file(SLUICE_PTX_DIR "/gate_set.ptx");
  const RewrittenModule module = rewrite_module(ptx, runtime(), [](const std::string& text) {
    if (text.find("copy_left_open__sluice") != std::string::npos) throw InputError("line 7: no");
    return std::vector<char>{};
  });
  EXPECT_EQ(module.kernels.at("copy_left_open").refusal->rule, GateRule::Assembles);
  EXPECT_FALSE(module.kernels.at("lookback").refusal);
  EXPECT_NE(module.text.find("lookback__sluice"), std::string::npos);
}

TEST(Module, TransformedKernelsTakeNoMoreRegistersThanAsked) {
  const std::string ptx = read_file(SLUICE_PTX_DIR "/gate_set.ptx");
  const auto limits = [&](std::uint32_t registers) {
    const RewrittenModule module = rewrite_module(
        ptx, runtime(), [](const std::string&) { return std::vector<char>{}; }, registers);
    std::size_t transformed = 0, limited = 0;
    for (const auto& [name, kernel] : module.kernels) transformed += kernel.refusal ? 0 : 1;
    for (std::size_t at = module.text.find(".maxnreg 43"); at != std::string::npos; at = module.text.find(".maxnreg 43", at + 1))
      ++limited;
    return std::pair(limited, transformed);
  };
  EXPECT_EQ(limits(0).first, 0U);
  EXPECT_EQ(limits(40).first, limits(40).second);
  EXPECT_GT(limits(40).second, 5U);
}

// Memory orders, which quota_interleavings_test.cpp cannot see. A slot's next holder acquires it and reads its cell: who wrote
// the cell has fenced that before anything tells of it. And a slot is given once the answer has come that counts the CTA out.
TEST(Runtime, WhatASlotsNextHolderReadsIsFencedBeforeTheSlotIsGiven) {
  const std::string text = normalised(runtime());
  const std::string leave = function_body(text, "sluice_rt_leave"), enter = function_body(text, "sluice_rt_enter");
  const std::regex cell_then_slot(
      R"(st\.relaxed\.gpu\.global\.u64(?:(?!red\.relaxed\.gpu\.global\.and)[^])*?fence\.acq_rel\.gpu[^]*?red\.relaxed\.gpu\.global\.and)");
  EXPECT_TRUE(std::regex_search(leave, cell_then_slot)) << leave;
  EXPECT_TRUE(std::regex_search(enter, std::regex(R"(st\.relaxed\.gpu\.global\.u64[^]*?fence\.acq_rel\.gpu)"))) << enter;
  // One answer comes before it, of the count.
  const std::string before = leave.substr(0, leave.find("red.relaxed.gpu.global.and"));
  const std::regex answered(R"(atom\.relaxed\.gpu\.global\.add\.u32)");
  EXPECT_EQ(std::distance(std::sregex_iterator(before.begin(), before.end(), answered), std::sregex_iterator()), 1) << leave;
}
#endif

}  // namespace
}  // namespace sluice::gpu
