// SPDX-License-Identifier: Apache-2.0
#include "sw/report/seed_summary.h"

#include <gtest/gtest.h>

#include <array>

#include <cmath>

#include "sw/report/eval_tables.h"
#include "sw/report/results_json.h"

namespace sluice {
namespace {

Partition intra(std::uint32_t a, std::uint32_t b) { return on_every_sm(std::array{CtaCount(a), CtaCount(b)}); }

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
