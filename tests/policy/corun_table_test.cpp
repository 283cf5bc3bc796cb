// SPDX-License-Identifier: Apache-2.0
#include "sw/policy/corun_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "tests/scheduler/jobs.h"
#include "tests/support.h"

namespace sluice {
namespace {

MachineConfig machine() {
  MachineConfig m = small_machine(2, {1024, 32768, 49152, 8});
  m.sm.schedulers = 2;
  return m;
}

KernelDescriptor kernel(const std::string& name, std::uint32_t threads) {
  KernelDescriptor k;
  k.name = name;
  k.grid_ctas = 100;
  k.block_threads = threads;
  return k;
}

const std::vector<KernelDescriptor> kMix{kernel("A", 128), kernel("B", 256)};
const std::map<std::string, CoRunKernel> kAlone{{"A", {1, 4000, 0.5, 0.9}}, {"B", {1, 4000, 0.9, 0.1}}};

CoRunTable predicted() {
  return predicted_co_runs(kMix, std::vector<MarkovKernel>{{.waits = {{0.1, 400, 4, 8}}}, {.waits = {{0.01, 400, 4, 1}}}}, kAlone,
                           machine());
}

TEST(CoRunTable, RatiosLeaveRoomForNobody) {
  const bool ok = rc::check([] {
    const SmResources capacity{1024, 32768, 49152, 8};
    const auto cta = [] {
      return SmResources{32 * *rc::gen::inRange(1U, 12U), *rc::gen::inRange(0U, 9000U), *rc::gen::inRange(0U, 9000U), 1};
    };
    const SmResources a = cta(), b = cta();
    const auto ratios = slice_ratios(a, b, capacity);
    for (const auto& [n, m] : ratios) {
      RC_ASSERT(fits(a, capacity, n));
      const SmResources left = take(capacity, a, n);
      RC_ASSERT(fits(b, left, m));
      RC_ASSERT(!fits(a, take(left, b, m)));
      RC_ASSERT(!fits(b, take(left, b, m)));
    }
    // Whatever fits together is a part of one of them.
    for (CtaCount n(1); fits(a, capacity, n); n += CtaCount(1)) {
      const CtaCount m = occupancy(b, take(capacity, a, n));
      RC_ASSERT(m == CtaCount(0) || std::ranges::any_of(ratios, [&](const auto& r) { return r[0] >= n && r[1] >= m; }));
    }
  });
  EXPECT_TRUE(ok);
}

TEST(CoRunTable, PredictsEveryRatioByTheMarkovModel) {
  const CoRunTable t = predicted();
  EXPECT_NO_THROW(check_complete(t, kMix, machine()));
  const std::vector<CoRun> runs = t.of("A", "B");
  ASSERT_EQ(runs.size(), slice_ratios(kMix[0].demand(), kMix[1].demand(), machine().sm.capacity).size());
  const std::vector<MarkovKernel> models{{.waits = {{0.1, 400, 4, 8}}}, {.waits = {{0.01, 400, 4, 1}}}};
  const std::vector<unsigned> warps{4 * runs[0].ctas[0].value(), 8 * runs[0].ctas[1].value()};
  EXPECT_EQ(runs[0].ipc[1], markov_sm_ipc(models, warps, 2)[1]);
  const std::vector<CoRun> swapped = t.of("B", "A");
  ASSERT_EQ(swapped.size(), runs.size());
  EXPECT_EQ(swapped.back().ctas, (std::array{runs[0].ctas[1], runs[0].ctas[0]}));
  EXPECT_EQ(swapped.back().ipc, (std::array{runs[0].ipc[1], runs[0].ipc[0]}));
  EXPECT_TRUE(t.of("A", "unknown").empty());
}

TEST(CoRunTable, RefusesWhatIsNoneInOneLine) {
  const auto refusal = [](auto&& spoil) {
    CoRunTable t = predicted();
    spoil(t);
    return test::refusal([&] { check_complete(t, kMix, machine()); });
  };
  EXPECT_EQ(refusal([](CoRunTable& t) { t.pairs.begin()->second.pop_back(); }), "pair A and B: no figures with 6 and 1 CTAs");
  EXPECT_EQ(refusal([](CoRunTable& t) { t.kernels.erase("B"); }), "pair A and B: kernel B: no figures alone");
  EXPECT_EQ(refusal([](CoRunTable& t) { t.kernels.at("A").ipc = 0; }), "kernel A: ipc = 0: must be above 0");
  EXPECT_EQ(refusal([](CoRunTable& t) { t.kernels.at("A").memory_utilisation = 1.5; }),
            "kernel A: memory_utilisation = 1.5: must be at least 0, at most 1");
  EXPECT_NE(refusal([](CoRunTable& t) {
              t.kernels.at("A").instructions_per_block = std::numeric_limits<double>::quiet_NaN();
            }).find("kernel A: instructions_per_block = nan"),
            std::string::npos);
  EXPECT_NE(refusal([](CoRunTable& t) { t.pairs.begin()->second[0].ipc[1] = -1; }).find("ipc = -1"), std::string::npos);
  EXPECT_NE(refusal([](CoRunTable& t) { t.pairs.begin()->second[0].ctas[1] = CtaCount(0); }).find("ctas = 0"), std::string::npos);
}

}  // namespace
}  // namespace sluice
