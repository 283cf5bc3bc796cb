// SPDX-License-Identifier: Apache-2.0
#include "sw/report/summary.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sw/report/eval_results.h"
#include "sw/report/eval_tables.h"

namespace sluice {
namespace {

Partition intra(std::uint32_t a, std::uint32_t b) { return on_every_sm(std::array{CtaCount(a), CtaCount(b)}); }
const Partition kSpatial = on_every_sm(std::array{CtaCount(8), CtaCount(8)}, Mode::Spatial);

EvalRun run(const std::string& kernel, const std::string& policy, const Partition& partition, double ipc) {
  EvalRun r;
  r.kernels = {kernel, "X"};
  r.category = "c";
  r.policy = policy;
  r.partition = partition;
  r.ipc = ipc;
  if (policy == "warped_slicer") r.decisions = {{1, 2, r.kernels, {}, partition}};
  return r;
}

/// Four mixes: the same decision, one CTA away, two CTAs away, Spatial against intra-SM.
EvalResults four() {
  EvalResults results;
  const Partition ours[] = {intra(4, 4), intra(5, 3), intra(6, 2), kSpatial};
  const double ipc[] = {1.0, 0.9, 0.8, 0.95};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string name(1, static_cast<char>('A' + i));
    results.runs.push_back(run(name, "warped_slicer", ours[i], 100 * ipc[i]));
    results.runs.push_back(run(name, "solo_curve", intra(4, 4), 100));
    if (i < 3) results.runs.push_back(run(name, "oracle", intra(4, 4), 100));
  }
  return results;
}

TEST(Agreement, CountsCtasOfEveryKernel) {
  EXPECT_TRUE(agree(intra(4, 4), intra(5, 3), 1));
  EXPECT_FALSE(agree(intra(4, 4), intra(5, 3), 0));
  EXPECT_FALSE(agree(intra(4, 4), intra(4, 2), 1));
  EXPECT_FALSE(agree(intra(8, 8), kSpatial, 1)) << "sharing an SM or not is no matter of a CTA";
  EXPECT_TRUE(agree(kSpatial, kSpatial, 0));
}

TEST(DecisionSummary, JudgesTheLastDecisionByTheSoloCurves) {
  EvalResults results = four();
  results.runs[0].decisions.insert(results.runs[0].decisions.begin(), {0, 1, results.runs[0].kernels, {}, kSpatial});
  const DecisionSummary s = summarize_decisions(results);
  EXPECT_EQ(s.warped_slicer.mixes, 4U);
  EXPECT_EQ(s.warped_slicer.same, 1U);
  EXPECT_EQ(s.warped_slicer.within_one, 2U);
  EXPECT_EQ(s.apart.size(), 2U);
}

TEST(DecisionSummary, AMixWithoutADecisionDoesNotAgree) {
  EvalResults results = four();
  results.runs[0].decisions.clear();
  const DecisionSummary s = summarize_decisions(results);
  EXPECT_EQ(s.warped_slicer.undecided, 1U);
  EXPECT_EQ(s.warped_slicer.within_one, 1U);
  EXPECT_NE(decision_report(s).find("(1 without a decision)"), std::string::npos);
}

TEST(DecisionSummary, ADecisionWithoutAProfileIsNone) {
  EvalResults results = four();
  results.runs[0].decisions[0].reason = DecisionReason::NoProfile;
  const DecisionSummary s = summarize_decisions(results);
  EXPECT_EQ(s.warped_slicer.undecided, 1U);
  EXPECT_EQ(s.warped_slicer.same, 0U);
}

TEST(DecisionSummary, RatiosAndTheWorstMixes) {
  const EvalResults results = four();
  const DecisionSummary s = summarize_decisions(results);
  EXPECT_NEAR(s.over_solo_curve.ipc_ratio, std::pow(1.0 * 0.9 * 0.8 * 0.95, 0.25), 1e-12);
  EXPECT_EQ(s.over_oracle.mixes, 3U);
  EXPECT_NEAR(s.over_oracle.ipc_ratio, std::cbrt(0.72), 1e-12);
  ASSERT_EQ(s.worst.size(), 2U) << "A is not below";
  EXPECT_EQ(s.worst[0].kernels[0], "C");
  EXPECT_EQ(s.worst[1].kernels[0], "B");
  const std::string text = decision_report(s);
  for (const char* part : {"the same in 1 of 4 mixes, within one CTA in 2 of 4", "solo curves' partition: 0.9",
                           "C_X (6,2), D_X Spatial.", "Warped-Slicer over the Oracle: 0.896 (geometric mean of 3 mixes)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_NE(terminal_report(results).find(text), std::string::npos);
  const auto json = to_json(results)["decisions"];
  EXPECT_EQ(json["warped_slicer"]["within_one_cta"], 2);
  EXPECT_EQ(json["worst"][0]["oracle"]["ctas"], nlohmann::ordered_json::parse("[4,4]"));
  EXPECT_EQ(json["scalings"].size(), 0U);
}

TEST(DecisionSummary, SaysNothingWithoutAReference) {
  EvalResults results;
  results.runs.push_back(run("A", "warped_slicer", intra(4, 4), 1));
  EXPECT_EQ(decision_report(summarize_decisions(results)), "");
}

ProfileSample sample(std::uint32_t kernel, std::uint32_t sm, std::uint32_t ctas, std::uint64_t insts, std::uint64_t requests) {
  ProfileSample s;
  s.kernel = KernelId(kernel);
  s.sm = SmId(sm);
  s.ctas = s.resident_min = s.resident_max = CtaCount(ctas);
  s.warp_instructions = insts;
  s.requests = requests;
  return s;
}

/// Kernel A scales; X floods the memory: sampled it rises with every CTA, but with all SMs alike one CTA takes all there is.
TEST(GoldenDecisions, OnlyTheCeilingSeesThatTheMemoryIsFull) {
  EvalResults results;
  results.runs.push_back(run("A", "warped_slicer", intra(2, 2), 1));
  results.runs.push_back(run("A", "solo_curve", intra(3, 1), 1));
  for (std::uint32_t n = 1; n <= 4; ++n) {
    results.runs[0].decisions[0].samples.push_back(sample(0, n - 1, n, 1000 * n, 0));
    results.runs[0].decisions[0].samples.push_back(sample(1, n + 3, n, 100 * n, 50 * n));
  }
  results.runs[0].decisions[0].samples[0].foreign = CtaCount(2);
  MachineConfig machine;
  machine.num_sms = 8;
  machine.sm.capacity = {1536, 32768, 49152, 4};
  KernelDescriptor a, x;
  a.name = "A";
  x.name = "X";
  const std::vector<KernelDescriptor> kernels{a, x};
  machine.partitioner.lines_per_cycle = 50.0 * 8 / machine.partitioner.profile_cycles;  // one CTA of X draws the share of an SM
  add_golden_decisions(results, machine, kernels);
  const DecisionRecord& decision = results.runs[0].decisions[0];
  ASSERT_EQ(decision.golden.size(), 5U);
  EXPECT_EQ(decision.golden[0].first, "none");
  EXPECT_EQ(decision.golden[0].second, intra(2, 2));
  EXPECT_EQ(decision.golden[3].first, "ceiling");
  EXPECT_EQ(decision.golden[3].second, intra(3, 1));
  const DecisionSummary s = summarize_decisions(results);
  EXPECT_EQ(s.samples, 8U);
  EXPECT_EQ(s.clean_samples, 7U);
  ASSERT_EQ(s.scalings.size(), 5U);
  EXPECT_EQ(s.scalings[0].second.same, 0U);
  EXPECT_EQ(s.scalings[3].second.same, 1U);
  EXPECT_NE(decision_report(s).find("scaling ceiling"), std::string::npos);
}

TEST(Spread, HasTheMedianOfOddAndEvenNumbers) {
  EXPECT_EQ(spread_of({3, 1, 2}).median, 2);
  EXPECT_EQ(spread_of({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(spread_of({4, std::nan(""), 2}).max, 4);
  EXPECT_TRUE(std::isnan(spread_of({}).median));
}

/// One mix, three seeds: the decisions are those of the solo curves, one CTA away and three away.
EvalResults three_seeds() {
  EvalResults results;
  const Partition decided[] = {intra(4, 4), intra(5, 3), intra(7, 1)};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EvalResults one;
    for (const char* policy : {"left_over", "warped_slicer", "solo_curve"}) {
      EvalRun& run = one.runs.emplace_back();
      run.kernels = {"A", "B"};
      run.policy = policy;
      run.ipc = run.policy == "left_over" ? 100 : 100 + 10.0 * static_cast<double>(seed);
      run.partition = intra(4, 4);
    }
    one.runs[1].decisions = {{1, 2, {"A", "B"}, {}, decided[seed - 1]}};
    normalize_to_left_over(one);
    if (seed == 1) results = one;
    for (SeedRun& run : seed_runs(seed, one)) results.seeds.push_back(std::move(run));
  }
  return results;
}

TEST(SeedSummary, CountsSeedsInWhichTheDecisionIsThatOfTheSoloCurves) {
  const auto mixes = mix_spreads(three_seeds());
  ASSERT_EQ(mixes.size(), 1U);
  EXPECT_EQ(mixes[0].judged, 3U);
  EXPECT_EQ(mixes[0].agreeing, 2U);
  EXPECT_EQ(mixes[0].decisions.size(), 3U);
  EXPECT_EQ(mixes[0].ipc.at(1).second.min, 110);
  EXPECT_EQ(mixes[0].ipc.at(1).second.median, 120);
  EXPECT_EQ(mixes[0].ipc.at(1).second.max, 130);
}

TEST(SeedSummary, SummarisesEverySeed) {
  const auto seeds = seed_summaries(three_seeds());
  ASSERT_EQ(seeds.size(), 3U);
  EXPECT_EQ(seeds[2].seed, 3U);
  EXPECT_EQ(seeds[2].agreeing, 0U);
  EXPECT_NEAR(seeds[2].over_left_over, 1.3, 1e-12);
  EXPECT_NEAR(seeds[2].over_solo_curve, 1.0, 1e-12);
}

TEST(SeedSummary, ARunWithoutADecisionDoesNotAgree) {
  EvalResults results = three_seeds();
  results.seeds[1].partition.reset();
  EXPECT_EQ(mix_spreads(results)[0].agreeing, 1U);
  EXPECT_EQ(mix_spreads(results)[0].decisions.size(), 2U);
  const EvalResults read = results_from_json(to_json(results), "x");
  EXPECT_FALSE(read.seeds[1].partition.has_value());
}

TEST(SeedSummary, IsPrintedAndKept) {
  const EvalResults results = three_seeds();
  const std::string text = terminal_report(results);
  for (const char* part : {"110.0 120.0 130.0", "(4,4) x1", "2 of 3 seeds", "seed 3"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = to_json(results);
  EXPECT_EQ(json["seeds"].size(), 9U);
  EXPECT_EQ(json["spread"]["mixes"][0]["within_one_cta"], 2);
  EXPECT_EQ(to_json(results_from_json(json, "x")), json);
  EXPECT_FALSE(to_json(EvalResults{}).contains("seeds"));
}

}  // namespace
}  // namespace sluice
