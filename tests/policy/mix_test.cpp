// SPDX-License-Identifier: Apache-2.0
#include "sw/workload/mix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/policy/sample_mix.h"
#include "tests/support.h"

namespace sluice {
namespace {

using test::fermi;

/// Types and order of Warped-Slicer table II; geometry only where a test needs it.
Workload table_two() {
  using enum KernelType;
  Workload w{"table2", {}};
  for (const auto& [name, type] : {std::pair{"BLK", Memory},
                                   {"BFS", Memory},
                                   {"DXT", Compute},
                                   {"HOT", Compute},
                                   {"IMG", Compute},
                                   {"KNN", Memory},
                                   {"LBM", Memory},
                                   {"MM", Compute},
                                   {"MVP", Cache},
                                   {"NN", Cache}}) {
    w.kernels.push_back(test::kernel(name, type, 64, 1024));
  }
  return w;
}

std::vector<std::string> names(const std::vector<Mix>& mixes) {
  std::vector<std::string> result;
  for (const Mix& mix : mixes) result.push_back(mix.name());
  return result;
}

TEST(Mixes, AllAreTheThirtyPublishedPairs) {
  const auto mixes = parse_mixes(table_two(), fermi(), "all");
  EXPECT_EQ(mixes.size(), 30U);
  const auto in = [&](const char* category) { return std::ranges::count(mixes, category, &Mix::category); };
  EXPECT_EQ(in("compute+cache"), 8);
  EXPECT_EQ(in("compute+memory"), 16);
  EXPECT_EQ(in("compute+compute"), 6);
}

TEST(Mixes, AllHaveNoPairTwiceAndTheComputeKernelFirst) {
  const auto mixes = parse_mixes(table_two(), fermi(), "all");
  auto list = names(mixes);
  std::ranges::sort(list);
  EXPECT_EQ(std::ranges::adjacent_find(list), list.end());
  for (const Mix& mix : mixes) EXPECT_EQ(mix.kernels.front().type, KernelType::Compute) << mix.name();
  EXPECT_FALSE(std::ranges::binary_search(list, "HOT_DXT")) << "file order puts DXT first";
}

TEST(Mixes, TriplesAreTwoComputeKernelsAndAnotherThatFit) {
  Workload w = table_two();
  EXPECT_EQ(parse_mixes(w, fermi(), "triples").size(), 36U);
  w.kernels[3].registers_per_cta = 31000;  // HOT: too large for three
  w.kernels[1].in_triples = false;         // BFS
  EXPECT_EQ(parse_mixes(w, fermi(), "triples").size(), 15U);
  EXPECT_EQ(parse_mixes(w, fermi(), "all_triples").size(), 18U);
  w.kernels[1].in_triples = true;
  const auto mixes = parse_mixes(w, fermi(), "triples");
  EXPECT_EQ(mixes.size(), 18U);
  EXPECT_EQ(mixes.front().name(), "DXT_IMG_BLK");
  EXPECT_EQ(mixes.front().category, "compute+compute+memory");
}

TEST(Mixes, ComputeTriplesAreEveryThreeWithAComputeKernel) {
  Workload w = table_two();
  for (KernelDescriptor& k : w.kernels) k.in_triples = k.name != "BFS" && k.name != "HOT";
  const auto mixes = parse_mixes(w, fermi(), "compute_triples");
  EXPECT_EQ(mixes.size(), 46U) << "8 over 3, less the 10 without a compute kernel";
  auto list = names(mixes);
  std::ranges::sort(list);
  EXPECT_EQ(std::ranges::adjacent_find(list), list.end());
  for (const Mix& mix : mixes) EXPECT_EQ(mix.kernels.front().type, KernelType::Compute) << mix.name();
  EXPECT_TRUE(std::ranges::binary_search(list, "DXT_IMG_MM")) << "three compute kernels";
  EXPECT_TRUE(std::ranges::binary_search(list, "MM_BLK_NN")) << "one compute kernel";
  for (const std::string& triple : names(parse_mixes(w, fermi(), "triples")))
    EXPECT_TRUE(std::ranges::binary_search(list, triple)) << triple;
  w.kernels.resize(2);
  EXPECT_THROW((void)parse_mixes(w, fermi(), "compute_triples"), InputError);
}

TEST(Mixes, NamesKeepTheirOrder) {
  EXPECT_EQ(names(parse_mixes(table_two(), fermi(), "HOT_DXT,MVP_DXT_NN")), (std::vector<std::string>{"HOT_DXT", "MVP_DXT_NN"}));
}

TEST(Mixes, AKernelMayRunBesideItself) { EXPECT_EQ(parse_mixes(table_two(), fermi(), "MM_MM").front().kernels.size(), 2U); }

TEST(Mixes, AnUnknownKernelIsNamedBesideTheKnownOnes) {
  const std::string said = test::refusal([] { (void)parse_mixes(table_two(), fermi(), "DXT_FOO"); });
  EXPECT_NE(said.find("FOO"), std::string::npos) << said;
  EXPECT_NE(said.find("BLK, BFS, DXT"), std::string::npos) << said;
}

TEST(Mixes, AnEmptyRequestIsAnError) {
  EXPECT_THROW((void)parse_mixes(table_two(), fermi(), ""), InputError);
  EXPECT_THROW((void)parse_mixes(table_two(), fermi(), "DXT_MVP,,MM_NN"), InputError);
  EXPECT_THROW((void)parse_mixes(table_two(), fermi(), "DXT__MVP"), InputError);
}

}  // namespace
}  // namespace sluice
