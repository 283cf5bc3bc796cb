// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sw/io/atomic_file.h"
#include "sw/report/chrome_trace.h"
#include "sw/report/eval_results.h"
#include "sw/report/eval_tables.h"
#include "sw/report/summary.h"
#include "sw/report/svg.h"
#include "synthetic_results.h"
#include "tests/support.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using test::synthetic_results;

/// What the system's error says.
std::string disk_error(const auto& work) {
  try {
    work();
  } catch (const SystemError& error) {
    return error.what();
  }
  return "accepted";
}

using AtomicFile = test::Scratch;
using ChromeTraces = test::Scratch;
using ResultsFile = test::Scratch;

/// A left_over run and one of another policy, with given IPCs.
void add_pair(EvalResults& results, const std::string& name, const std::string& category, double base_ipc, double ipc) {
  for (const bool base : {true, false}) {
    EvalRun& run = results.runs.emplace_back();
    run.kernels = {name, "X"};
    run.category = category;
    run.policy = base ? "left_over" : "warped_slicer";
    run.ipc = base ? base_ipc : ipc;
    run.stp = base ? 1.0 : 1.5;
    run.antt = base ? 2.0 : 1.25;
    run.min_speedup = base ? 0.5 : 0.8;
    run.cycles = base ? 1000 : 800;
    run.per_kernel.resize(2);
    for (KernelOutcome& k : run.per_kernel) {
      k.finish_cycle = run.cycles - 200;  // alone: 600 or 480 cycles
      k.speedup = base ? 0.75 : 0.8;
    }
  }
}

TEST(ResultsJson, SurvivesARoundTrip) {
  const std::string text = results_text(synthetic_results());
  const EvalResults read = results_from_json(nlohmann::ordered_json::parse(text), "x");
  EXPECT_EQ(results_text(read), text);
  EXPECT_EQ(read.runs.size(), synthetic_results().runs.size());
}

TEST(ResultsJson, KeepsWhatBalanceMeasured) {
  EvalResults results = synthetic_results();
  DecisionRecord& decision = results.runs[4].decisions.at(0);
  decision.reason = DecisionReason::Measured;
  decision.balance = {{{{CtaCount(2), CtaCount(3)}, {0.5, 0.75}, 1.25}, {{}, {0.25, 1.0}, 1.25, true}}, 1};
  auto json = to_json(results);
  auto& written = json["runs"][4]["decisions"][0];
  EXPECT_EQ(written["candidates"][0],
            nlohmann::ordered_json::parse(R"({"ctas":[2,3],"sms":null,"rates":[0.5,0.75],"score":1.25,"tried":"side_by_side"})"));
  EXPECT_EQ(written["candidates"][1]["tried"], "confirmed");
  EXPECT_TRUE(written["candidates"][1]["ctas"].is_null()) << "no quotas";
  EXPECT_EQ(written["kept"], 1U);
  const DecisionRecord read = results_from_json(json, "x").runs[4].decisions.at(0);
  EXPECT_EQ(read.balance.candidates, decision.balance.candidates);
  EXPECT_EQ(read.balance.kept, 1);
  EXPECT_EQ(read.reason, DecisionReason::Measured);
  written["kept"] = 2U;
  EXPECT_EQ(test::refusal([&] { (void)results_from_json(json, "r.json"); }),
            "r.json: runs[4].decisions[0].kept: must be an index of candidates");
  written["kept"] = nullptr;
  EXPECT_LT(results_from_json(json, "x").runs[4].decisions.at(0).balance.kept, 0);
}

TEST(ResultsJson, KeepsSamplesAndGoldenDecisions) {
  EvalResults results = synthetic_results();
  DecisionRecord& decision = results.runs[4].decisions.at(0);
  decision.reason = DecisionReason::NoProfile;
  decision.samples = {{KernelId(0), SmId(3), CtaCount(4), 900, 120, 45, CtaCount(4), CtaCount(5), CtaCount(1)},
                      {KernelId(1), SmId(9), CtaCount(1), 0, 5120, 0, CtaCount(1), CtaCount(1), CtaCount(0)}};
  decision.golden = {{"none", on_every_sm(std::array{CtaCount(2), CtaCount(3)})},
                     {"ceiling", on_every_sm(std::array{CtaCount(8), CtaCount(8)}, Mode::Spatial)}};
  const auto json = to_json(results);
  EXPECT_EQ(json["runs"][4]["decisions"][0]["samples"][0],
            nlohmann::ordered_json::parse(R"({"kernel":"DXT","sm":3,"label":4,"resident_min":4,"resident_max":5,"foreign":1,)"
                                          R"("warp_instructions":900,"stall_cycles":120,"requests":45})"));
  const DecisionRecord read = results_from_json(json, "x").runs[4].decisions.at(0);
  EXPECT_EQ(read.samples, decision.samples);
  EXPECT_EQ(read.golden, decision.golden);
  EXPECT_EQ(read.reason, DecisionReason::NoProfile);
  auto wrong = json;
  wrong["runs"][4]["decisions"][0]["samples"][0]["kernel"] = "FOO";
  EXPECT_EQ(test::refusal([&] { (void)results_from_json(wrong, "r.json"); }),
            "r.json: runs[4].decisions[0].samples[0].kernel: must be one of the decision's kernels");
}

TEST(ResultsJson, SamplesOfARunAreKeptByTheKernelsName) {
  RunResult result;
  result.cycles = Cycles(10);
  result.kernels.resize(3);
  Decision& decision = result.decisions.emplace_back();
  decision.kernels = {KernelId(0), KernelId(2)};
  decision.samples.resize(1);
  decision.samples[0].kernel = KernelId(2);
  const Cycles alone[] = {Cycles(10), Cycles(10), Cycles(10)};
  MachineConfig machine;
  const EvalRun run = make_eval_run({{"A", "B", "C"}, "c", "warped_slicer", "twin", {}, 0}, machine, result, alone);
  EXPECT_EQ(run.decisions[0].kernels.at(run.decisions[0].samples.at(0).kernel.value()), "C");
}

TEST(Oracle, IsTheBestOfEveryPolicyThatRan) {
  EvalResults results;
  add_pair(results, "A", "c", 100, 120);
  add_pair(results, "B", "c", 100, 120);
  for (const auto& [name, ipc] : {std::pair{"A", 110.0}, {"B", 130.0}}) {
    EvalRun& run = results.runs.emplace_back();
    run.kernels = {name, "X"};
    run.policy = "oracle";
    run.partitioner = "twin";
    run.ipc = ipc;
    run.oracle_candidates = 20;
  }
  results.runs[1].partitioner = "rtl";
  results.runs[1].partition.mode = Mode::Spatial;
  results.runs[1].decisions.resize(1);
  give_oracle_the_best(results);
  const EvalRun &taken = results.runs[4], &own = results.runs[5];
  EXPECT_EQ(taken.ipc, 120);
  EXPECT_EQ(taken.policy, "oracle");
  EXPECT_EQ(taken.taken_from, "warped_slicer");
  EXPECT_EQ(taken.partitioner, "rtl");
  EXPECT_EQ(taken.partition.mode, Mode::Spatial);
  EXPECT_EQ(taken.oracle_candidates, 20U);
  EXPECT_TRUE(taken.decisions.empty());
  EXPECT_EQ(own.ipc, 130);
  EXPECT_EQ(own.taken_from, "");
  EXPECT_EQ(own.partitioner, "twin");
  EXPECT_EQ(results_from_json(to_json(results), "x").runs[4].taken_from, "warped_slicer");
}

TEST(EvalRun, TheLastJointDecisionHasEveryKernel) {
  EvalRun run;
  run.kernels = {"A", "B", "C"};
  EXPECT_EQ(last_joint_decision(run), nullptr);
  run.decisions = {{1, 2, run.kernels, {}, {}}, {3, 4, run.kernels, {}, {}}, {5, 6, {"A", "B"}, {}, {}}};
  ASSERT_NE(last_joint_decision(run), nullptr);
  EXPECT_EQ(last_joint_decision(run)->decided_at, 4U);
}

TEST(ResultsJson, HasTheDocumentedShape) {
  const auto json = to_json(synthetic_results());
  for (const char* key : {"meta", "solo", "runs", "summary"}) EXPECT_TRUE(json.contains(key)) << key;
  const auto& run = json["runs"][4];
  EXPECT_EQ(run["policy"], "warped_slicer");
  EXPECT_EQ(run["partition"]["mode"], "intra_sm");
  EXPECT_EQ(run["partition"]["ctas"].size(), 2U);
  EXPECT_EQ(run["decisions"][0]["profiles"][1][1], 0.125);
  for (const char* key : {"kernels", "category", "partitioner", "cycles", "ipc", "normalized_ipc", "stp", "antt", "min_speedup"})
    EXPECT_TRUE(run.contains(key)) << key;
}

TEST(ResultsJson, UnknownNumbersAreNull) {
  EvalResults results;
  EvalRun& run = results.runs.emplace_back();
  run.kernels = {"A"};
  run.policy = "even";
  run.ipc = 1;
  normalize_to_left_over(results);
  const auto json = to_json(results);
  EXPECT_TRUE(json["runs"][0]["normalized_ipc"].is_null());
  EXPECT_TRUE(std::isnan(results_from_json(json, "x").runs[0].normalized_ipc));
}

TEST(ResultsJson, ComplaintsNameFileAndField) {
  auto json = to_json(synthetic_results());
  json["runs"][3]["partition"]["mode"] = "sideways";
  EXPECT_EQ(test::refusal([&] { (void)results_from_json(json, "r.json"); }),
            "r.json: runs[3].partition.mode: \"sideways\": must be one of left_over, fcfs, intra_sm, spatial");
  json["runs"][3].erase("partition");
  EXPECT_EQ(test::refusal([&] { (void)results_from_json(json, "r.json"); }), "r.json: runs[3].partition: missing");
  json.erase("meta");
  EXPECT_EQ(test::refusal([&] { (void)results_from_json(json, "r.json"); }), "r.json: meta: missing");
  EXPECT_EQ(test::refusal([&] { (void)results_from_json(nlohmann::ordered_json(3), "r.json"); }), "r.json: meta: missing");
}

TEST_F(ResultsFile, TruncatedIsOneClearLine) {
  std::ofstream(folder_ / "results.json") << results_text(synthetic_results()).substr(0, 5000);
  const std::string message = test::refusal([&] { (void)read_results(folder_ / "results.json"); });
  EXPECT_NE(message.find("not JSON, or cut short, at byte"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Summary, MeansEqualThoseWorkedOutByHand) {
  EvalResults results;
  add_pair(results, "A", "compute+cache", 100, 400);   // 4
  add_pair(results, "B", "compute+memory", 100, 100);  // 1
  add_pair(results, "C", "compute+memory", 100, 100);  // 1
  normalize_to_left_over(results);
  const Summary summary = summarize(results);
  const PolicySummary* all = summary.find("warped_slicer", "all");
  ASSERT_NE(all, nullptr);
  EXPECT_NEAR(all->normalized_ipc, std::cbrt(4.0), 1e-12);
  EXPECT_NEAR(all->category_mean, 2.0, 1e-12);
  EXPECT_DOUBLE_EQ(all->antt, 1.25);
  EXPECT_NEAR(all->fairness, 1.6, 1e-12);
  EXPECT_NEAR(all->serial_gain, 960.0 / 800.0, 1e-12);
  EXPECT_NEAR(summary.find("left_over", "all")->serial_gain, 1.2, 1e-12);
  EXPECT_EQ(all->mixes, 3U);
  EXPECT_NEAR(summary.find_ratio("left_over", "compute+cache")->ipc_ratio, 4.0, 1e-12);
  EXPECT_EQ(summary.find_ratio("even", "all"), nullptr);
}

TEST(Summary, MeansSkipUnknownAndRefuseNonPositive) {
  const double nan = std::nan("");
  EXPECT_DOUBLE_EQ(geometric_mean_of_known(std::vector{2.0, nan, 8.0}), 4.0);
  EXPECT_TRUE(std::isnan(geometric_mean_of_known(std::vector{2.0, 0.0})));
  EXPECT_TRUE(std::isnan(geometric_mean_of_known({})));
  EXPECT_DOUBLE_EQ(mean_of_known(std::vector{1.0, nan, 2.0}), 1.5);
}

TEST(EvalRun, DerivesFiguresFromCounters) {
  MachineConfig machine;
  machine.sm.alu_pipes = 2;
  machine.sm.capacity = {1536, 32768, 0, 8};
  RunResult result;
  result.cycles = Cycles(1000);
  result.sm_cycles = 16000;
  result.kernels.resize(2);
  result.kernels[0].finish_cycle = 500;
  result.kernels[1].finish_cycle = 1000;
  result.total.thread_instructions = 64000;
  result.total.alu_busy = 8000;
  result.total.l1_accesses = 10;
  result.total.l1_misses = 4;
  result.threads_resident = 1536 * 8000ULL;
  result.stalls.long_memory = 4000;
  const Cycles alone[] = {Cycles(400), Cycles(400)};
  const EvalRun run = make_eval_run({{"A", "B"}, "c", "even", "twin", {}, 0}, machine, result, alone);
  EXPECT_DOUBLE_EQ(run.ipc, 64);
  EXPECT_DOUBLE_EQ(run.stp, 0.8 + 0.4);
  EXPECT_DOUBLE_EQ(run.antt, (1.25 + 2.5) / 2);
  EXPECT_DOUBLE_EQ(run.min_speedup, 0.4);
  EXPECT_DOUBLE_EQ(run.utilization.alu, 0.25);
  EXPECT_DOUBLE_EQ(run.utilization.threads, 0.5);
  EXPECT_DOUBLE_EQ(run.stalls.long_memory, 0.25);
  EXPECT_DOUBLE_EQ(run.l1_miss_rate, 0.4);
  EXPECT_TRUE(std::isnan(run.utilization.shared_memory)) << "a machine without scratchpad";
  result.kernels[1].finish_cycle = 0;
  EXPECT_TRUE(std::isnan(make_eval_run({{"A", "B"}, "c", "even", "twin", {}, 0}, machine, result, alone).antt));
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(report::csv_field("plain"), "plain");
  EXPECT_EQ(report::csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(report::csv_field("say \"hi\"\n"), "\"say \"\"hi\"\"\n\"");
}

TEST(Csv, EveryLineHasTheHeadersFields) {
  std::istringstream in(runs_table(synthetic_results()).csv());
  std::string line;
  std::set<std::ptrdiff_t> commas;
  std::size_t lines = 0;
  for (; std::getline(in, line); ++lines) commas.insert(std::count(line.begin(), line.end(), ','));
  EXPECT_EQ(commas.size(), 1U);
  EXPECT_EQ(lines, synthetic_results().runs.size() + 1);
}

TEST(Csv, GivesTheSamePageAsTheResultsButForWhatItDoesNotHold) {
  EvalResults results = synthetic_results();
  results.solo.clear();
  for (EvalRun& run : results.runs) run.decisions.clear(), run.sms.clear();
  const std::string csv = runs_table(results).csv();
  EvalResults read = results_from_csv(csv, "results.csv");
  read.meta = results.meta;
  EXPECT_EQ(runs_table(read).csv(), csv);
  EXPECT_EQ(report::html(eval_page(read)), report::html(eval_page(results)));
}

TEST(Csv, NamesTheLineAndTheFieldThatIsWrong) {
  std::string csv = runs_table(synthetic_results()).csv();
  EXPECT_EQ(test::refusal([&] { (void)results_from_csv(csv.substr(0, csv.find('\n') + 1) + "A_B,c,even\n", "r.csv"); }),
            "r.csv:2: partitioner: missing");
  EXPECT_EQ(test::refusal([&] { (void)results_from_csv("", "r.csv"); }), "r.csv: no header");
}

TEST_F(AtomicFile, ReplacesAndLeavesNoTemporary) {
  write_file_atomically(folder_ / "f", "old");
  write_file_atomically(folder_ / "f", "new");
  EXPECT_EQ(read_file(folder_ / "f"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(AtomicFile, NamesFileAndReasonWhenItFails) {
  const fs::path missing = folder_ / "missing" / "f";
  EXPECT_EQ(test::refusal([&] { write_file_atomically(missing, "x"); }),
            missing.string() + ": cannot write: No such file or directory");
  EXPECT_EQ(test::refusal([&] { write_file_atomically(folder_, "x"); }), folder_.string() + ": cannot write: Is a directory");
  write_file_atomically(folder_ / "f", "x");
  EXPECT_NE(test::refusal([&] { make_folder(folder_ / "f"); }), "accepted");
  EXPECT_NE(test::refusal([&] { make_folder(folder_ / "f" / "g"); }), "accepted");
}

TEST_F(AtomicFile, ReportsAnUnwritableFolder) {
  // Root may write anywhere except where the kernel itself refuses.
  const fs::path path = "/proc/sluice_test";
  if (!fs::exists("/proc/self")) GTEST_SKIP() << "no /proc";
  EXPECT_EQ(test::refusal([&] { write_file_atomically(path, "x"); }).rfind("/proc/sluice_test: cannot write: ", 0), 0U);
}

TEST_F(AtomicFile, ReportsAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(disk_error([] { write_file_atomically("/dev/full", "x"); }), "/dev/full: cannot write: No space left on device");
}

TEST(EvalPage, ShowsEveryMixAndReachesForNothingOutside) {
  const EvalResults results = synthetic_results();
  const std::string page = report::html(eval_page(results));
  for (const EvalRun& run : results.runs)
    EXPECT_NE(page.find(">" + mix_name(run.kernels) + "<"), std::string::npos) << mix_name(run.kernels);
  for (const SoloRun& solo : results.solo) EXPECT_NE(page.find(">" + solo.kernel + "<"), std::string::npos) << solo.kernel;
  for (const char* outside : {"http", "src=", "href=\"h", "@import", "url(", "<script"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(page.find(">nan<"), std::string::npos);
  EXPECT_NE(page.find(" of invented; the paper has 23 % on its 30</title>"), std::string::npos);
}

TEST(EvalPage, EscapesNames) {
  EvalResults results = synthetic_results();
  for (EvalRun& run : results.runs) run.kernels[0] = "<b>&\"'";
  results.solo[0].kernel = "<script>alert(1)</script>";
  results.meta["command"] = "</code><img>";
  const std::string page = report::html(eval_page(results));
  for (const char* raw : {"<b>", "<script", "<img>"}) EXPECT_EQ(page.find(raw), std::string::npos) << raw;
  EXPECT_NE(page.find("&lt;b&gt;&amp;&quot;&#39;_"), std::string::npos);
}

TEST(EvalPage, CopesWithLittle) {
  EvalResults results;
  EXPECT_NE(report::html(eval_page(results)).find("No mix ran"), std::string::npos);
  EvalRun& run = results.runs.emplace_back();
  run.kernels = {"A", "B", "C"};
  run.category = "odd";
  run.policy = "home_made";
  run.ipc = run.normalized_ipc = std::nan("");
  EXPECT_NE(report::html(eval_page(results)).find("A_B_C"), std::string::npos);
  EXPECT_NE(terminal_report(results).find("A_B_C"), std::string::npos);
}

TEST(Ticks, CoverTheMaximumInRoundSteps) {
  EXPECT_EQ(svg::ticks(1.34), (std::vector{0.0, 0.5, 1.0, 1.5}));
  EXPECT_EQ(svg::ticks(100), (std::vector{0.0, 20.0, 40.0, 60.0, 80.0, 100.0}));
  EXPECT_GE(svg::ticks(std::nan("")).size(), 2U);
  EXPECT_GE(svg::ticks(0).back(), 1.0);
}

TEST_F(ChromeTraces, IsACompleteArrayAtEveryMoment) {
  const fs::path path = folder_ / "trace.json";
  ChromeTrace trace(path, 2);
  EXPECT_TRUE(nlohmann::json::accept(read_file(path))) << "before the first event";
  for (std::uint64_t i = 0; i < 5000; ++i) trace.cta(1, 3, "K\"1", i, 10 * i, 10 * i + 7);
  EXPECT_TRUE(nlohmann::json::accept(read_file(path))) << "in the middle";
  trace.marker("decision", 42);
  trace.close();
  const auto json = nlohmann::json::parse(read_file(path));
  std::size_t slices = 0;
  for (const auto& event : json)
    if (event["ph"] == "X") {
      ++slices;
      EXPECT_EQ(event["pid"], 1);
      EXPECT_EQ(event["tid"], 3);
      EXPECT_EQ(event["dur"], 7);
    }
  EXPECT_EQ(slices, 5000U);
  EXPECT_EQ(json.back()["ph"], "i");
}

TEST_F(ChromeTraces, ReportsAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(disk_error([] { ChromeTrace trace("/dev/full", 1); }), "/dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace sluice
