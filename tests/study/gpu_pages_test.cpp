// SPDX-License-Identifier: Apache-2.0
// Pages of the papers' evaluations on a GPU, from lines as the experiments write them.
#include "study/gpu_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "study/gpu_effisha.h"
#include "study/gpu_variants.h"
#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "tests/study/page_folder.h"

namespace sluice::gpu {
namespace {

using nlohmann::json;

class GpuPages : public PageFolder {};

json job(const std::string& name, int priority, double arrived, double ended) {
  return {{"name", name},      {"priority", priority}, {"arrived_ms", arrived},
          {"ended_ms", ended}, {"began_ms", arrived},  {"evictions", 1}};
}
json run(const std::string& system, int repetition, double first_end, double second_end) {
  json line = {{"key", system + std::to_string(repetition)},
               {"setting", "sjf"},
               {"system", system},
               {"repetition", repetition},
               {"jobs", {job("NeuralNet", 1, 0, first_end), job("Sort", 4, 3, second_end)}}};
  if (system == "piv")
    line.update({{"decisions",
                  {{{"at_us", 1},
                    {"decide_us", 5},
                    {"send_us", 20},
                    {"events", {"arrived 0"}},
                    {"shares", json::array({{0, 4294967295, 0, 4294967295}})}}}},
                 {"violations", 0},
                 {"bit_identical", true}});
  return line;
}

TEST_F(GpuPages, AnOutcomeIsTheMedianOfItsRepetitions) {
  write("s.jsonl", {run("piv", 0, 20, 8), run("piv", 1, 26, 9), run("piv", 2, 21, 30)});
  const ScenarioOutcome o = read_outcomes(folder_ / "s.jsonl", "setting").at("sjf").at("piv");
  EXPECT_EQ(o.repetitions, 3U);
  EXPECT_EQ(o.launches[0].turnaround, 21);
  EXPECT_EQ(o.launches[1].turnaround, 6) << "since its arrival";
  EXPECT_EQ(o.makespans, (Values{20, 26, 30}));
  const std::map<std::string, double> alone = {{"NeuralNet", 14}, {"Sort", 5}};
  EXPECT_DOUBLE_EQ(antt(o, alone), (21.0 / 14 + 6.0 / 5) / 2);
  EXPECT_DOUBLE_EQ(stp(o, alone), 14.0 / 21 + 5.0 / 6);
}

TEST_F(GpuPages, TheFakeExecutorGetsTheSameLaunches) {
  write("s.jsonl", {run("piv", 0, 20, 8)});
  const ScenarioOutcome o = read_outcomes(folder_ / "s.jsonl", "setting").at("sjf").at("piv");
  const ScheduleRun fake = on_fake_executor(o, {{"NeuralNet", 14}, {"Sort", 5}}, "piv");
  EXPECT_NEAR(static_cast<double>(fake.jobs[0].turnaround.count()) * 1e-9, 19, 0.02) << "evicted once, for 5 ms";
  EXPECT_NEAR(static_cast<double>(fake.jobs[1].turnaround.count()) * 1e-9, 5, 0.02);
}

TEST_F(GpuPages, APageSaysWhatIsMissed) {
  const json alone = {
      {"key", "alone"},
      {"alone", {{"NeuralNet", {{"native_ms", {14}}, {"quota_ms", {14}}}}, {"Sort", {{"native_ms", {5}}, {"quota_ms", {5}}}}}}};
  write("effisha_schedules.jsonl", {alone, run("streams", 0, 19, 8), run("fcfs", 0, 14, 19), run("piv", 0, 19, 8)});
  EXPECT_EQ(write_paper_page(folder_), false) << "STP is not above that of streams";
  write("machine.json",
        {{{"name", "GPU X"}, {"sms", 132}, {"measured", {{"effisha_schedules", {{"commit", "c"}, {"date", "d"}}}}}}});
  EXPECT_EQ(write_paper_page(folder_), false);
  const json page = json::parse(read_file(folder_ / "figures.json"));
  EXPECT_EQ(page["meta"]["effisha_schedules"]["commit"], "c");
  std::size_t missed = 0, all = 0;
  for (const json& r : page["figures"]["required"]["data"]) {
    ++all;
    missed += r["holds"].get<bool>() ? 0 : 1;
  }
  EXPECT_EQ(missed, 1U) << page["figures"]["required"].dump(1);
  EXPECT_GE(all, 5U);
}

TEST_F(GpuPages, KernelsOfOtherPapersAreNoneOfItsFigures) {
  const json points = {{{"response_ms", 0.0625}, {"queued", 1}, {"pkm_ms", {1.5}}, {"native_ms", {1.0}}},
                       {{"response_ms", 0.0625}, {"queued", 2}, {"pkm_ms", {1.2}}, {"native_ms", {1.0}}}};
  std::vector<json> slices, overhead;
  for (const char* app : {"NN", "BO"}) {  // BO is SiM's
    slices.push_back({{"key", app}, {"app", app}, {"bit_identical", true}, {"points", points}});
    overhead.push_back({{"key", app}, {"app", app}, {"push_ms", {1.1}}, {"native_ms", {1.0}}});
  }
  std::vector<Requirement> required;
  write("effisha_overhead.jsonl", overhead);
  write("effisha_pkm.jsonl", slices);
  static_cast<void>(effisha_slices(folder_, required));
  ASSERT_FALSE(required.empty());
  EXPECT_EQ(required.front().measured, "1 of 1");
}

/// Two launches that arrive together.
json both(const std::string& scenario, const std::string& system, double first_end, double second_end) {
  return {{"key", scenario + system},
          {"scenario", scenario},
          {"system", system},
          {"repetition", 0},
          {"jobs", {job("A", 0, 0, first_end), job("B", 0, 0, second_end)}}};
}

TEST_F(GpuPages, FiveSystemsAreComparedWithLaunchesOneAfterTheOther) {
  json alone = both("A_B", "alone_first", 10, 10), alone_too = both("A_B", "alone_second", 10, 10),
       shared = both("A_B", "even", 12.5, 16);
  shared["violations"] = 0;
  write("five_pairs.jsonl", {alone, alone_too, both("A_B", "sequential", 10, 20), both("A_B", "mps", 10, 25), shared});
  EXPECT_EQ(write_paper_page(folder_), true);
  const json page = json::parse(read_file(folder_ / "figures.json"));
  const json& means = page["figures"]["five"]["data"];
  EXPECT_DOUBLE_EQ(means["even"]["gain"], 20.0 / 16);
  EXPECT_DOUBLE_EQ(means["even"]["stp"], 10 / 12.5 + 10.0 / 16);
  EXPECT_DOUBLE_EQ(means["even"]["antt"], (12.5 / 10 + 16.0 / 10) / 2);
  EXPECT_DOUBLE_EQ(means["mps"]["gain"], 0.8);
  EXPECT_FALSE(means.contains("adaptive")) << "was not measured";
  shared["violations"] = 1;
  write("five_pairs.jsonl", {alone, alone_too, both("A_B", "sequential", 10, 20), shared});
  EXPECT_EQ(write_paper_page(folder_), false);
}

TEST_F(GpuPages, WhatTheGpuOffersItselfHasAPageWithoutOurSystems) {
  write("five_own.jsonl",
        {both("A_B", "alone_first", 10, 10), both("A_B", "alone_second", 10, 10), both("A_B", "sequential", 10, 20),
         both("A_B", "streams", 10, 19), both("A_B", "green_halves", 20, 16), both("A_B", "mps", 10, 25)});
  EXPECT_TRUE(write_paper_page(folder_));
  const json page = json::parse(read_file(folder_ / "figures.json"))["figures"];
  EXPECT_DOUBLE_EQ(page["five"]["data"]["green_halves"]["gain"], 1);
  EXPECT_DOUBLE_EQ(page["five"]["data"]["green_halves"]["antt"], (2 + 1.6) / 2);
  EXPECT_FALSE(page["five"]["data"].contains("even"));
  EXPECT_EQ(page["pairs"]["measured"], "streams is faster in 1, green_halves is faster in 0, mps is faster in 0 of 1 pairs.");
}

TEST_F(GpuPages, KerneletsQueuesAreHeldAgainstBaseOptAndRandomPlans) {
  const auto line = [](const std::string& queue, const std::string& system, double end, int repetition = 0) {
    json l = {{"key", queue + system + std::to_string(repetition)}, {"queue", queue}, {"system", system}, {"end_ms", end}};
    if (system != "base" && system != "sequential")
      l.update({{"decide_ms", 0.1}, {"violations", system == "monte_carlo" ? 1 : 0}});
    return l;
  };
  std::vector<json> all = {line("mix", "sequential", 120), line("mix", "base", 110), line("mix", "kernelet", 102),
                           line("mix", "kernelet_opt", 100)};
  for (const char* system : {"sequential", "base", "kernelet", "kernelet_opt"}) all.push_back(line("mix_short", system, 50));
  all.push_back(line("mix_short", "monte_carlo", 49, 1));
  all.push_back(line("mix_short", "monte_carlo", 51, 2));
  write("kernelet_queues.jsonl", all);
  write("kernelet_slices.jsonl",
        {{{"key", "PC"},
          {"name", "PC"},
          {"bit_identical", true},
          {"points",
           {{{"waves", 1}, {"queued", 1}, {"native_ms", {10}}, {"sliced_ms", {15}}},
            {{"waves", 1}, {"queued", 2}, {"native_ms", {10}}, {"sliced_ms", {12}}, {"virtual_ms", {10.1}}}}}}});
  EXPECT_EQ(write_paper_page(folder_), false);
  const json page = json::parse(read_file(folder_ / "figures.json"));
  std::map<std::string, std::pair<std::string, bool>> required;
  for (const json& r : page["figures"]["required"]["data"]) required[r["what"]] = {r["measured"], r["holds"]};
  using Line = std::pair<std::string, bool>;
  EXPECT_EQ(required.at("queue mix, over base"), Line("+7.8 %", true));
  EXPECT_EQ(required.at("queue mix, from OPT"), Line("2.0 %", true));
  EXPECT_EQ(required.at("random plans better than Kernelet, of 2"), Line("1", false));
  EXPECT_EQ(required.at("slices of one wave by task limit, median of the kernels"), Line("+1.0 %", true));
  EXPECT_EQ(required.at("violations, random plans"), Line("2", false));
  EXPECT_EQ(required.at("violations, Kernelet and OPT"), Line("0", true));
  EXPECT_DOUBLE_EQ(page["figures"]["7"]["data"]["best_ms"], 49);
}

TEST_F(GpuPages, AFolderOfNoPaperIsLeftAlone) {
  EXPECT_EQ(write_paper_page(folder_), std::nullopt);
  write("sim_pairs.jsonl", {{{"key", "x"}, {"system", "adaptive"}}});
  EXPECT_THROW((void)write_paper_page(folder_), InputError) << "a line without its scenario";
}

TEST_F(GpuPages, FlagsAreComparedByTheirMediansAndAWrongOutputIsSaid) {
  const auto form = [](double under, bool same) {
    return json{{"native_ms", {2, 2, 9}},
                {"under_ms", {under, under, 50}},
                {"grids_us", {40, 50, 60}},
                {"violations", 0},
                {"bit_identical", same}};
  };
  const auto app = [&](bool same) {
    return json{{"key", "FFT"},
                {"app", "FFT"},
                {"between_looks", 8},
                {"forms",
                 {{"basic", form(200, true)},
                  {"leader", form(20, true)},
                  {"proxy", form(2.2, true)},
                  {"adaptive", form(2.1, same)},
                  {"pushed", form(2.1, true)}}}};
  };
  std::vector<Requirement> required;
  EXPECT_TRUE(effisha_flags(folder_, required).html.empty()) << "nothing was measured";
  EXPECT_TRUE(required.empty());
  write("effisha_flags.jsonl", {app(true)});
  const figures::Figure f = effisha_flags(folder_, required);
  EXPECT_NEAR(f.data["FFT"]["proxy"]["overhead"].get<double>(), 0.1, 1e-9);
  EXPECT_NE(f.html.find("x 100, 50 us"), std::string::npos) << f.html;
  EXPECT_TRUE(std::ranges::all_of(required, &Requirement::holds));
  write("effisha_flags.jsonl", {app(false)});
  required.clear();
  static_cast<void>(effisha_flags(folder_, required));
  EXPECT_FALSE(std::ranges::all_of(required, &Requirement::holds)) << "an output differs";
}

TEST_F(GpuPages, ThroughTheServiceEveryKernelCountsAlike) {
  const auto app = [](const char* name, double us, int violations) {
    return json{{"key", name},         {"app", name},           {"grids_us", Values(200, us)},
                {"decide_us", {3, 4}}, {"bit_identical", true}, {"counts", {{"violations", violations}}}};
  };
  std::vector<Requirement> required;
  write("effisha_service_latency.jsonl", {app("FFT", 40, 0), app("MD", 60, 0)});
  EXPECT_NE(effisha_service_latency(folder_, required).measured.find("50.0 us"), std::string::npos);
  EXPECT_TRUE(std::ranges::all_of(required, &Requirement::holds));
  write("effisha_service_latency.jsonl", {app("FFT", 40, 1), app("MD", 160, 0)});
  required.clear();
  static_cast<void>(effisha_service_latency(folder_, required));
  EXPECT_EQ(std::ranges::count_if(required, &Requirement::holds), 1) << "the decisions; not p50, p99, violations";
}

TEST_F(GpuPages, CopiesAndPairsThroughTheServiceAreTakenByTheirMedians) {
  std::vector<json> all;
  for (const auto& [variant, ms] : {std::pair("Y,Y", 60), std::pair("Y,N", 70), std::pair("N,Y", 90), std::pair("N,N", 100)})
    all.push_back({{"key", variant},
                   {"group", "ci"},
                   {"variant", variant},
                   {"end_ms", ms},
                   {"covered", 0.96},
                   {"copies_ms", 40},
                   {"violations", 0},
                   {"bit_identical", true}});
  write("kernelet_copies.jsonl", all);
  std::vector<Requirement> required;
  EXPECT_NE(kernelet_copies(folder_, required).html.find("40.0 %"), std::string::npos) << "less time than the worst";
  EXPECT_TRUE(std::ranges::all_of(required, &Requirement::holds));
  const auto pair = [](const char* system, double end) {
    return json{
        {"key", system}, {"scenario", "A_B"}, {"system", system}, {"jobs", {{{"ended_ms", end}}, {{"ended_ms", end / 2}}}}};
  };
  write("five_service.jsonl", {pair("mps", 30),
                               pair("even_service", 24),
                               {{"key", "end"}, {"ended", "x"}, {"bit_identical", true}, {"launches", {{"violations", 2}}}}});
  required.clear();
  EXPECT_DOUBLE_EQ(five_service(folder_, required).data["even_service"].get<double>(), 1.25);
  EXPECT_FALSE(required.front().holds) << "a violation";
}

}  // namespace
}  // namespace sluice::gpu
