// SPDX-License-Identifier: Apache-2.0
// Which issues the phase monitor counts: of each kernel of a decision, on the first SM of its range where kernels have SMs of
// their own, on SM 0 where they share all, or on the next that is enabled (docs/reference/blocks/phase_monitor.md). Random
// traffic hardly tells: what is missing from every window alike changes no comparison.
#include <Vsluice_top_small.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/random.h"

namespace sluice {
namespace {

constexpr unsigned kSms = 5, kKernels = 3, kSchedulers = 2;
constexpr std::uint32_t kWindow = 64, kRound = kWindow + 32 * kKernels;  ///< cycles of a window and of its judging

/// Issue slots of the unit: [SM][scheduler] -> the kernel that has it in each of three cycles that repeat, kNobody for none.
constexpr std::uint8_t kNobody = kKernels;
using Pattern = std::array<std::array<std::array<std::uint8_t, 3>, kSchedulers>, kSms>;

class WatchedSms : public testing::Test {
 protected:
  WatchedSms() : world_(std::make_unique<RtlSluiceTop<Vsluice_top_small, 2>>("", 1000, kSms), 1), random_(tb::seed()) {
    world_.let_ctas_last(500);
    world_.driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
  }

  /// What is decided about from now on: kernels in the order of their launches, with SMs of their own or without.
  void decide(const std::vector<std::uint8_t>& kernels, bool whole_sms) {
    kernels_ = kernels;
    whole_sms_ = whole_sms;
    decide();
  }

  /// A restart of the sequencer: the next thing is a decision.
  void enable(std::uint32_t sms) { EXPECT_TRUE(world_.bus().write32(regs::kSmEnable, sms)); }

  void issue(const Pattern& pattern, std::uint32_t cycles) {
    world_.let_sms_act(kSms, [pattern](std::uint64_t now, std::vector<SmActivity>& sms) {
      for (std::size_t m = 0; m < kSms; ++m) {
        sms[m].issue_valid = 0;
        for (std::size_t s = 0; s < kSchedulers; ++s) {
          sms[m].issue_kernel[s] = pattern[m][s][now % 3];
          if (sms[m].issue_kernel[s] != kNobody) sms[m].issue_valid |= static_cast<std::uint8_t>(1U << s);
        }
      }
    });
    world_.run(cycles);
  }

  /// Settles on `steady`, goes over to `other`. @return whether the monitor asked for a new profile, and not before
  bool asks(const Pattern& steady, const Pattern& other) {
    if (world_.driver().sequencer_state() != regs::SequencerState::kMonitor) decide();
    issue(steady, 4 * kRound);
    EXPECT_EQ(world_.driver().sequencer_state(), regs::SequencerState::kMonitor) << "asked although nothing changed";
    issue(other, 3 * kRound);
    const bool asked = world_.driver().sequencer_state() != regs::SequencerState::kMonitor;
    if (!asked) issue(steady, 2 * kRound);
    return asked;
  }

  /// Lets DYNAMIC mode decide while SMs issue at random; then it monitors.
  void decide() {
    SluiceDriver& driver = world_.driver();
    for (unsigned k = 0; k < kKernels; ++k)
      if (driver.slot_report(k).state != regs::SlotState::kFree) driver.stop(k);
    world_.run(3000);
    driver.configure_sequencer({300, 1024, 0, 0, whole_sms_ ? 0 : 3.9});
    driver.configure_monitor(true, 0.125, kWindow, 1);
    driver.set_mode(Mode::Dynamic);
    for (const unsigned k : kernels_) driver.launch(k, {{32 * (k + 1), 512, 256, 1}, 1000000, true});
    world_.let_sms_act(kSms, [this](std::uint64_t, std::vector<SmActivity>& sms) {
      for (std::size_t m = 0; m < kSms; ++m) {
        sms[m].issue_valid = random_() % 8 < m ? 3 : 0;
        for (std::size_t s = 0; s < kSchedulers; ++s) sms[m].issue_kernel[s] = static_cast<std::uint8_t>(random_() % kKernels);
        sms[m].request = random_() % 4 == 0;
      }
    });
    for (int c = 0; c < 2000 && driver.sequencer_state() != regs::SequencerState::kMonitor; ++c) world_.run(16);
    ASSERT_EQ(driver.sequencer_state(), regs::SequencerState::kMonitor);
    const DecisionReport decided = driver.last_decision();
    ASSERT_FALSE(decided.no_profile || decided.no_fit);
    ASSERT_EQ(decided.spatial, whole_sms_);
  }

  UnitWorld world_;
  std::mt19937_64 random_;
  std::vector<std::uint8_t> kernels_;
  bool whole_sms_ = false;
};

/// Two kernels have three and two SMs, three kernels two, two and one.
constexpr std::array<std::array<std::size_t, kSms>, 2> kRangeOf{{{0, 0, 0, 1, 1}, {0, 0, 1, 1, 2}}};

TEST_F(WatchedSms, AreTheFirstOfEachRange) {
  std::vector<std::uint8_t> order{0, 1, 2};
  do {
    for (const std::size_t present : {2U, 3U}) {
      const std::vector<std::uint8_t> kernels(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(present));
      const auto owner = [&](std::size_t m) { return kernels[kRangeOf[present - 2][m]]; };
      Pattern steady;
      for (std::size_t m = 0; m < kSms; ++m)
        for (auto& slots : steady[m]) slots = {owner(m), owner(m), kNobody};
      decide(kernels, true);
      for (std::size_t m = 0; m < kSms; ++m) {
        const bool first = m == 0 || owner(m - 1) != owner(m);
        for (std::size_t s = 0; s < kSchedulers; ++s) {
          for (std::uint8_t k = 0; k <= kNobody; ++k) {  // a slot more for some kernel, or one less for its own
            Pattern other = steady;
            other[m][s][k == kNobody ? 0 : 2] = k;
            ASSERT_EQ(asks(steady, other), first && (k == kNobody || k == owner(m)))
                << present << " kernels, SM " << m << ", scheduler " << s << ", kernel " << int{k};
            if (HasFatalFailure()) return;  // no decision
          }
        }
      }
    }
  } while (std::ranges::next_permutation(order).found);
}

/// Two kernels, and SMs that are disabled; the third slot is free, and what its number issues on a watched SM is nobody's.
TEST_F(WatchedSms, AreTheFirstThatAreEnabled) {
  constexpr std::uint32_t kAll = (1U << kSms) - 1;
  std::vector<std::uint8_t> order{0, 1, 2};
  do {
    const std::vector<std::uint8_t> kernels(order.begin(), order.begin() + 2);
    const auto owner = [&](std::size_t m) { return kernels[kRangeOf[0][m]]; };
    Pattern steady;
    for (std::size_t m = 0; m < kSms; ++m)
      for (auto& slots : steady[m]) slots = {owner(m), owner(m), kNobody};
    for (const std::uint32_t disabled : {1U, 3U, 8U, 9U, 11U}) {
      enable(kAll & ~disabled);
      decide(kernels, true);
      for (std::size_t m = 0; m < kSms; ++m) {
        const bool disabled_before = m == 0 || owner(m - 1) != owner(m) || (disabled >> (m - 1) & 1) != 0;
        const bool first = disabled_before && (disabled >> m & 1) == 0;
        for (const std::uint8_t k : order) {
          Pattern other = steady;
          other[m][random_() % kSchedulers][2] = k;
          ASSERT_EQ(asks(steady, other), first && k == owner(m))
              << "SM " << m << ", kernel " << int{k} << ", disabled " << disabled;
          if (HasFatalFailure()) return;
        }
      }
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST_F(WatchedSms, AreTheFirstOfAllWhereSmsAreShared) {
  Pattern steady;
  for (auto& sm : steady)
    for (auto& slots : sm) slots = {0, 1, 2};
  for (const std::size_t disabled : {0U, 1U}) {  // SMs, from the first on: each range keeps one for the profile
    enable((1U << kSms) - (1U << disabled));
    decide({2, 0, 1}, false);
    for (std::size_t m = 0; m < kSms; ++m)
      for (std::size_t s = 0; s < kSchedulers; ++s)
        for (std::uint8_t k = 0; k < kKernels; ++k) {
          Pattern other = steady;
          other[m][s][k] = kNobody;
          ASSERT_EQ(asks(steady, other), m == disabled)
              << "SM " << m << ", scheduler " << s << ", kernel " << int{k} << ", " << disabled << " disabled";
          if (HasFatalFailure()) return;
        }
  }
}

}  // namespace
}  // namespace sluice
