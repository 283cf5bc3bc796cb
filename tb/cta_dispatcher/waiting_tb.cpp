// SPDX-License-Identifier: Apache-2.0
// No kernel waits for ever (docs/reference/blocks/cta_dispatcher.md, Waiting): a kernel that others keep out gets its CTA within
// the bound of that page, in every order but launch order, where none is kept out.
#include <Vcta_dispatcher_16.h>
#include <Vcta_dispatcher_counts.h>
#include <Vcta_dispatcher_small.h>
#include <gtest/gtest.h>

#include "tb/cta_dispatcher/directed.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"

namespace sluice {
namespace {

constexpr CtaDispatcherParams kOff{16, 4, 8, 64, true, true, 1, 0, true};
constexpr CtaDispatcherParams kSmall{2, 2, 4, 16, true, true, 3, 5};
constexpr CtaDispatcherParams kCounts{5, 8, 5, 0, false, false, 0, 5, true, true};

/// A machine whose CTAs last so many cycles, and longer where several end at once.
class Crowd {
 public:
  Crowd(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params, unsigned life)
      : bench(rtl, params), params_(params), life_(life) {
    bench.steps(3);
  }
  void launch(unsigned kernel) {
    bench.cycle.in.launch = static_cast<std::uint8_t>(1U << kernel);
    bench.step();
  }
  void step() {
    for (; timed_ < bench.started.size(); ++timed_) since(bench.started[timed_]) = now_;
    for (std::size_t i = 0; i < bench.started.size(); ++i) {
      if (hung == bench.started[i].dispatch_sm || now_ - since(bench.started[i]) < life_) continue;
      bench.end(i);
      --timed_;
      break;
    }
    bench.step();
    ++now_;
  }
  /// Cycles until the kernel has its next CTA, at most so many.
  unsigned waits(unsigned kernel, unsigned most) {
    const std::uint32_t before = bench.outputs().dispatched[kernel];
    unsigned cycles = 0;
    while (cycles < most && bench.outputs().dispatched[kernel] == before && !testing::Test::HasFatalFailure()) {
      step();
      ++cycles;
    }
    return cycles;
  }
  /// The bound, with one claim before the own one: urgent; claims, each until an SM is read, is empty and known.
  [[nodiscard]] unsigned bound(unsigned claims) const {
    const unsigned others = 2 * (params_.num_sms - 1), drain = life_ + params_.num_sms * params_.ctas;
    return (2U << params_.patience) + claims * (4 + others + drain + 6 + others + 4);
  }

  /// It is not ready any more, and its CTAs don't end.
  void hang(unsigned sm) {
    bench.cycle.in.sm_ready[sm] = false;
    hung = sm;
  }

  DirectedDispatch bench;
  std::optional<unsigned> hung;

 private:
  std::uint64_t& since(const CtaDispatcherOut& cta) { return since_.at(cta.dispatch_sm).at(cta.dispatch_slot); }
  CtaDispatcherParams params_;
  unsigned life_;
  std::uint64_t now_ = 0;
  std::size_t timed_ = 0;
  std::array<std::array<std::uint64_t, kMaxCtaSlots>, kMaxSms> since_{};
};

/// Kernel 0 keeps every SM in pieces; a CTA of kernel 1 needs a whole one.
void keep_out(Crowd& crowd, std::optional<unsigned> hangs = std::nullopt) {
  CtaDispatcherIn& in = crowd.bench.cycle.in;
  in.demand_warps[0] = 12;
  in.demand_warps[1] = 48;
  crowd.launch(0);
  for (int c = 0; c < 200; ++c) crowd.step();
  if (hangs) crowd.hang(*hangs);
  crowd.launch(1);
}

TEST(Waiting, WithoutTheGuardALargeCtaIsKeptOut) {
  RtlCtaDispatcher<Vcta_dispatcher_16> rtl(kOff);
  Crowd crowd(rtl, kOff, 130);
  crowd.bench.cycle.in.round_robin = crowd.bench.cycle.in.regions = true;
  crowd.bench.cycle.in.quota_changed = true;
  keep_out(crowd);
  EXPECT_EQ(crowd.waits(1, 100000), 100000U);
}

TEST(Waiting, FcfsGivesALargeCtaItsTurnInTime) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  Crowd crowd(rtl, kSmall, 130);
  crowd.bench.cycle.in.round_robin = crowd.bench.cycle.in.regions = true;
  crowd.bench.cycle.in.quota_changed = true;
  keep_out(crowd);
  for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1));
}

// Oldest first, no quotas: as STATIC with its registers as they are after a reset.
TEST(Waiting, ByAgeALargeCtaOfTheYoungerKernelGetsItsTurnInTime) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  Crowd crowd(rtl, kSmall, 130);
  keep_out(crowd);
  for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1));
}

TEST(Waiting, AMaskIsKept) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  Crowd crowd(rtl, kSmall, 130);
  crowd.bench.cycle.quota[0][1] = 0;  // kernel 1 on SM 1 only: golden model and twin see that it comes nowhere else
  crowd.bench.cycle.in.quota_changed = true;
  keep_out(crowd);
  for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1));
}

// An SM that hangs is reserved for two periods at most, and then not again: the bound holds on the others.
TEST(Waiting, AnSmThatHangsCostsTwoPeriodsOnce) {
  for (const unsigned sm : {0U, 1U}) {
    RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
    Crowd crowd(rtl, kSmall, 130);
    keep_out(crowd, sm);
    EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1) + (2U << kSmall.patience)) << sm;
    for (int i = 0; i < 20; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + crowd.bound(1)) << sm;
    crowd.hung.reset();  // it shows life, and is reserved again: the kernel may be on no other
    crowd.bench.cycle.in.sm_ready[sm] = true;
    crowd.bench.cycle.quota[1 - sm][1] = 0;
    crowd.bench.cycle.in.quota_changed = true;
    for (int i = 0; i < 3; ++i) EXPECT_LE(crowd.waits(1, 100000), 130 + 10 + 2 * crowd.bound(1)) << sm;
  }
}

// A kernel that may be nowhere, and one that fits nowhere: the claim of the first passes on.
TEST(Waiting, AClaimWithoutAnSmPassesOn) {
  RtlCtaDispatcher<Vcta_dispatcher_counts> rtl(kCounts);
  Crowd crowd(rtl, kCounts, 130);
  for (auto& sm : crowd.bench.cycle.quota) sm[2] = 0;
  crowd.bench.cycle.in.quota_changed = true;
  crowd.launch(2);
  keep_out(crowd);
  EXPECT_LE(crowd.waits(1, 100000), crowd.bound(1) + 2 * (1U << kCounts.patience));
  EXPECT_EQ(crowd.bench.outputs().dispatched[2], 0U);
}

// The older kernel takes a CTA in every cycle: the port has no cycle for the younger ones, though they have room.
TEST(Waiting, AFullPortLetsTheYoungerIn) {
  RtlCtaDispatcher<Vcta_dispatcher_counts> rtl(kCounts);
  Crowd crowd(rtl, kCounts, 4);
  for (auto& sm : crowd.bench.cycle.quota) sm.fill(1);
  for (auto& sm : crowd.bench.cycle.quota) sm[0] = 4;
  crowd.bench.cycle.in.quota_changed = true;
  crowd.launch(0);
  for (int c = 0; c < 200; ++c) crowd.step();
  for (unsigned k = 1; k < 8; ++k) crowd.launch(k);
  for (unsigned k = 1; k < 8; ++k) EXPECT_LE(crowd.waits(k, 100000), crowd.bound(7)) << k;
}

// A kernel with a CTA somewhere does not wait: its quota may be all it is to have. Nobody is held up for it.
TEST(Waiting, NobodyIsHeldUpForAKernelThatRuns) {
  RtlCtaDispatcher<Vcta_dispatcher_small> rtl(kSmall);
  DirectedDispatch bench(rtl, kSmall);
  bench.steps(3);
  bench.cycle.quota[0] = {3, 1};
  bench.cycle.quota[1] = {4, 0};
  bench.cycle.in.quota_changed = true;
  bench.cycle.in.launch = 3;
  bench.steps(100);
  ASSERT_EQ(bench.outputs().resident[0], 7U);
  ASSERT_EQ(bench.outputs().resident[1], 1U);
  for (int i = 0; i < 1000; ++i) {  // CTAs of kernel 0 end, and are replaced; that of kernel 1 stays
    const auto first = std::ranges::find_if(bench.started, [](const CtaDispatcherOut& c) { return c.dispatch_kernel == 0; });
    bench.end(static_cast<std::size_t>(first - bench.started.begin()));
    bench.steps(12);
    ASSERT_EQ(bench.outputs().resident[0], 7U);
  }
}

}  // namespace
}  // namespace sluice
