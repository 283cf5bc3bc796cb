// SPDX-License-Identifier: Apache-2.0
// Pages of the papers' evaluations on a GPU, from lines as the experiments write them.
#include "study/gpu_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sw/gpu/apps/apps.h"
#include "sw/gpu/report/output.h"
#include "sw/io/atomic_file.h"
#include "sw/policy/corun_table.h"
#include "tests/support.h"

namespace sluice::gpu {
namespace {

using nlohmann::json;

/// A folder of measured lines, for pages made from it.
class GpuPages : public test::Scratch {
 protected:
  void write(const std::string& name, const std::vector<json>& all) const {
    std::string text;
    for (const json& line : all) text += line.dump() + "\n";
    Scratch::write(name, text);
  }
};

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
  EXPECT_EQ(o.launches[0].turnaround, 21);
  EXPECT_EQ(o.launches[1].turnaround, 6) << "since its arrival";
  EXPECT_EQ(o.makespans, (Values{20, 26, 30}));
  const std::map<std::string, double> alone = {{"NeuralNet", 14}, {"Sort", 5}};
  EXPECT_DOUBLE_EQ(antt(o, alone), (21.0 / 14 + 6.0 / 5) / 2);
  EXPECT_DOUBLE_EQ(stp(o, alone), 14.0 / 21 + 5.0 / 6);
}

TEST_F(GpuPages, APageSaysWhatEachSystemCostsAndWhereItsLinesAreFrom) {
  const json alone = {
      {"key", "alone"},
      {"alone", {{"NeuralNet", {{"native_ms", {14}}, {"quota_ms", {14}}}}, {"Sort", {{"native_ms", {5}}, {"quota_ms", {5}}}}}}};
  write("effisha_schedules.jsonl", {alone, run("streams", 0, 19, 8), run("fcfs", 0, 14, 19), run("piv", 0, 19, 8)});
  write("machine.json",
        {{{"name", "GPU X"}, {"sms", 132}, {"measured", {{"effisha_schedules", {{"commit", "c"}, {"date", "d"}}}}}}});
  EXPECT_EQ(write_paper_page(folder_), true);
  const json page = json::parse(read_file(folder_ / "figures.json"));
  EXPECT_EQ(page["meta"]["effisha_schedules"]["commit"], "c");
  const json& sjf = page["figures"]["14 sjf"];
  EXPECT_DOUBLE_EQ(sjf["data"]["piv"]["makespan_over_default"], 0);
  EXPECT_NE(sjf["measured"].get<std::string>().find("Until all are done, over the better of streams: piv +0.0 %."),
            std::string::npos)
      << sjf["measured"];
}

TEST_F(GpuPages, AnOutputThatDiffersIsWrongWhateverTheFigureShows) {
  json wrong = run("piv", 0, 19, 8);
  wrong["bit_identical"] = false;
  write(
      "effisha_schedules.jsonl",
      {{{"key", "alone"},
        {"alone", {{"NeuralNet", {{"native_ms", {14}}, {"quota_ms", {14}}}}, {"Sort", {{"native_ms", {5}}, {"quota_ms", {5}}}}}}},
       run("streams", 0, 19, 8),
       wrong});
  EXPECT_EQ(write_paper_page(folder_), false);
}

TEST_F(GpuPages, KernelsOfOtherPapersAreNoneOfItsFigures) {
  std::vector<json> all;
  for (const char* app : {"NN", "BO"})  // BO is SiM's
    all.push_back({{"key", app}, {"app", app}, {"last_cta_us", {30}}, {"grids_us", {60}}, {"back_us", {20}}});
  write("effisha_latency.jsonl", all);
  EXPECT_EQ(effisha_latency(folder_).data.size(), 1U);
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

TEST_F(GpuPages, WhatRanInAnotherSessionIsHeldAgainstThatSessionsOwnLaunches) {
  json alone = both("A_B", "alone_first", 10, 10), alone_too = both("A_B", "alone_second", 10, 10);
  write("five_pairs.jsonl", {alone, alone_too, both("A_B", "sequential", 10, 20), both("A_B", "slate_measured", 10, 16)});
  alone = both("A_B", "alone_first", 11, 11), alone_too = both("A_B", "alone_second", 11, 11);
  write("five_printed.jsonl", {alone, alone_too, both("A_B", "sequential", 11, 22), both("A_B", "slate", 11, 20),
                               both("A_B", "slate_measured", 11, 17.6)});
  EXPECT_EQ(write_paper_page(folder_), true);
  const json means = json::parse(read_file(folder_ / "figures.json"))["figures"]["five"]["data"];
  EXPECT_DOUBLE_EQ(means["slate"]["gain"], 1.1);
  EXPECT_DOUBLE_EQ(means["slate"]["stp"], 1 + 11.0 / 20);
  EXPECT_DOUBLE_EQ(means["slate_measured"]["gain"], 1.25) << "as in the first session";
  EXPECT_DOUBLE_EQ(means["other_session"]["sequential"], 1.1);
  EXPECT_DOUBLE_EQ(means["other_session"]["slate_measured"], 1.1);
}

TEST_F(GpuPages, ThePapersPtIsARowOfItsOwnBesideOneAfterTheOther) {
  json adaptive = both("FD_BO", "adaptive", 10, 16);
  adaptive.update({{"violations", 0}, {"decisions", json::array()}});
  write("sim_pairs.jsonl", {both("FD_BO", "sequential", 10, 20), both("FD_BO", "arrival", 10, 25), adaptive});
  write("sim_pt.jsonl", {both("FD_BO", "sequential", 10, 22), both("FD_BO", "arrival", 10, 24), both("FD_BO", "pt", 10, 20)});
  EXPECT_EQ(write_paper_page(folder_), true);
  const json figure = json::parse(read_file(folder_ / "figures.json"))["figures"]["10"]["data"];
  EXPECT_DOUBLE_EQ(figure["pt"]["low"], 1.1) << "over its own session's sequential launches";
  EXPECT_DOUBLE_EQ(figure["arrival"]["low"], 0.8) << "of the session of the pairs";
  EXPECT_DOUBLE_EQ(figure["compared"]["adaptive_over_pt_low"], 1.25 / 1.1);
  EXPECT_DOUBLE_EQ(figure["compared"]["adaptive_over_arrival_low"], 1.25 / 0.8);
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
  EXPECT_EQ(write_paper_page(folder_), false) << "random plans exceed a quota";
  const json page = json::parse(read_file(folder_ / "figures.json"));
  EXPECT_EQ(page["figures"]["6"]["data"]["mix"]["base_ms"], 110);
  EXPECT_EQ(page["figures"]["6"]["data"]["mix"]["kernelet_ms"], 102);
  EXPECT_EQ(page["figures"]["7"]["data"]["better_than_kernelet"], 1);
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
  RunChecks checks;
  EXPECT_TRUE(effisha_flags(folder_, checks).blocks.empty()) << "nothing was measured";
  write("effisha_flags.jsonl", {app(true)});
  const figures::Figure f = effisha_flags(folder_, checks);
  EXPECT_NEAR(f.data["FFT"]["proxy"]["overhead"].get<double>(), 0.1, 1e-9);
  EXPECT_DOUBLE_EQ(f.data["FFT"]["basic"]["overhead"].get<double>(), 99);
  EXPECT_DOUBLE_EQ(f.data["FFT"]["basic"]["evict_us"].get<double>(), 50);
  EXPECT_TRUE(checks.right());
  write("effisha_flags.jsonl", {app(false)});
  checks = {};
  static_cast<void>(effisha_flags(folder_, checks));
  EXPECT_FALSE(checks.right()) << "an output differs";
}

TEST_F(GpuPages, ThroughTheServiceEveryKernelCountsAlike) {
  const auto app = [](const char* name, double us, int violations) {
    return json{{"key", name},         {"app", name},           {"grids_us", Values(200, us)},
                {"decide_us", {3, 4}}, {"bit_identical", true}, {"counts", {{"violations", violations}}}};
  };
  RunChecks checks;
  write("effisha_service_latency.jsonl", {app("FFT", 40, 0), app("MD", 60, 0)});
  EXPECT_NE(effisha_service_latency(folder_, checks).measured.find("50.0 us"), std::string::npos);
  EXPECT_TRUE(checks.right());
  write("effisha_service_latency.jsonl", {app("FFT", 40, 1), app("MD", 160, 0)});
  checks = {};
  static_cast<void>(effisha_service_latency(folder_, checks));
  EXPECT_FALSE(checks.right()) << "a violation";
}

TEST_F(GpuPages, PairsThroughTheServiceAreTakenByTheirMedians) {
  const auto pair = [](const char* system, double end) {
    return json{
        {"key", system}, {"scenario", "A_B"}, {"system", system}, {"jobs", {{{"ended_ms", end}}, {{"ended_ms", end / 2}}}}};
  };
  write("five_service.jsonl", {pair("mps", 30),
                               pair("even_service", 24),
                               {{"key", "end"}, {"ended", "x"}, {"bit_identical", true}, {"launches", {{"violations", 2}}}}});
  RunChecks checks;
  EXPECT_DOUBLE_EQ(five_service(folder_, checks).data["even_service"].get<double>(), 1.25);
  EXPECT_FALSE(checks.right()) << "a violation";
}

const std::filesystem::path kRoot = SLUICE_SOURCE_DIR;

/// What a CTA takes decides which ratios fit an SM: those that the GPU was measured at.
TEST(KerneletPrediction, KernelsTakeWhatTheyTookOnTheGpu) {
  const std::filesystem::path results = kRoot / "results/h200";
  const auto known = measured_kernels(results);
  const SmResources sm{2048, 65536, 233472, 32};
  std::size_t pairs = 0;
  for (const auto& [file, paper] :
       {std::pair("five/five_rates.jsonl", "table2"), std::pair("kernelet/kernelet_pairs.jsonl", "kernelet")})
    for (const json& line : lines(results / file)) {
      if (!line.contains("runs")) continue;
      const auto demand = [&](const std::string& name) {
        return known.at(std::ranges::find(paper_kernels(paper), name, &PaperKernel::name)->app).demand();
      };
      std::vector<std::array<std::uint32_t, 2>> fit, measured;
      for (const auto& ctas : slice_ratios(demand(line["first"]), demand(line["second"]), sm))
        fit.push_back({ctas[0].value(), ctas[1].value()});
      for (const json& run : line["runs"]) measured.push_back(run["ctas"]);
      EXPECT_EQ(fit, measured) << line["key"];
      ++pairs;
    }
  EXPECT_EQ(pairs, 45U + 28U);
}

/// A shell completes a folder's name with a slash. The figure reads files beside the folder.
TEST(KerneletPrediction, AFolderMayEndInASlash) {
  const std::filesystem::path folder = kRoot / "results/h200/kernelet";
  const json machine = json::parse(read_file(folder / "machine.json"));
  const figures::Figure figure = kernelet_prediction(folder / "", machine);
  EXPECT_FALSE(figure.blocks.empty());
  EXPECT_EQ(figure.data, kernelet_prediction(folder, machine).data);
}

TEST(KerneletPrediction, IsEmptyWithoutMeasurements) {
  EXPECT_TRUE(kernelet_prediction(testing::TempDir(), {{"sm", json::object()}}).blocks.empty());
  EXPECT_TRUE(kernelet_prediction(kRoot / "results/h200/kernelet", json::object()).blocks.empty());
}

}  // namespace
}  // namespace sluice::gpu
