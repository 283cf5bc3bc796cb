// SPDX-License-Identifier: Apache-2.0
// The scoreboard of samples, on windows that are written here: it must accept the longest refill that it derives, and nothing
// longer; and refuse labels that the SM did not hold. Four SMs, two of each kernel, so the room of an SM is known within 12
// cycles.
#include <gtest/gtest.h>

#include "tb/sluice_top/sample_scoreboard.h"

namespace sluice::tb {
namespace {

constexpr std::uint32_t kWindow = 200, kEntryOf200 = 5 * 4096 + 6400 - 4096;
constexpr std::uint32_t kLongest = 6 + 2 * (4 - 1) + 1;  // from the report of the end to the port

/// SM m holds a CTA (SMs 0 and 2) or two (1 and 3) when a window of 200 cycles begins; SM 0 and 1 are of kernel 0, the older one.
class Samples : public testing::Test {
 protected:
  explicit Samples(std::uint32_t sm_ready = 0) : scoreboard_({4, 2, 4, 1, 0, 0, sm_ready}) {
    for (const int sm : {0, 1, 1, 2, 3, 3}) start(sm, sm / 2);
    for (std::uint32_t c = 0; c < kLongest; ++c) pass();
    out_.profile_window = true;
  }

  /// One cycle, in which every SM issues for its owner.
  void pass() {
    SluiceTopIn in = in_;
    in.sms.resize(4);
    for (std::size_t m = 0; m < 4; ++m) {
      in.sms[m].issue_valid = 1;
      in.sms[m].issue_kernel[0] = static_cast<std::uint8_t>(m / 2);
    }
    if (out_.profile_window) ++cycle_;
    const std::string wrong = scoreboard_.observe(out_, in, {0, 1}, 0, priority_);
    if (wrong_.empty()) wrong_ = wrong;
    in_.done_valid = false;
  }
  void pass_until(std::uint32_t cycle) {
    while (cycle_ < cycle) pass();
  }
  /// A CTA at the port, which is taken in the same cycle.
  void start(int sm, int kernel) {
    out_.dispatch_valid = true;
    out_.dispatch_sm = static_cast<std::uint8_t>(sm);
    out_.dispatch_kernel = static_cast<std::uint8_t>(kernel);
    out_.dispatch_slot = slots_.at(static_cast<std::size_t>(sm))++;
    pass();
    out_.dispatch_valid = false;
  }
  /// The end of the CTA in the lowest slot.
  void end(int sm) {
    in_.done_valid = true;
    in_.done_sm = static_cast<std::uint8_t>(sm);
    in_.done_slot = 0;
    pass();
  }
  /// @return what is wrong with the window and the sample of so many CTAs of a kernel
  std::string sample(int kernel, int ctas) {
    pass_until(kWindow);
    out_.profile_window = false;
    pass();
    out_.profile_valid = true;
    out_.profile_kernel = static_cast<std::uint8_t>(kernel);
    out_.profile_ctas = static_cast<std::uint8_t>(ctas);
    out_.profile_scaled = kEntryOf200;
    pass();
    return wrong_;
  }
  /// The end is reported in cycle 50 of the window.
  std::string refilled_after(std::uint32_t cycles) {
    pass_until(50);
    end(1);
    pass_until(50 + cycles);
    start(1, 0);
    return sample(0, 2);
  }

  SampleScoreboard scoreboard_;
  SluiceTopIn in_;
  SluiceTopOut out_;
  std::uint32_t cycle_ = 0;
  std::array<std::uint8_t, 4> slots_{};
  std::array<std::uint8_t, kMaxKernelSlots> priority_{};
  std::string wrong_;
};

class SamplesWithReady : public Samples {
 protected:
  SamplesWithReady() : Samples(1) {}
};

TEST_F(Samples, ALabelThatItsSmHeldIsRight) { EXPECT_EQ(sample(0, 2), ""); }
TEST_F(Samples, ALabelOfOneMoreIsRefused) {  // of SM 0, which had a CTA
  EXPECT_NE(sample(0, 3).find("nobody was picked"), std::string::npos) << wrong_;
}
TEST_F(Samples, ALabelOfOneFewerIsRefused) {
  pass_until(20);
  start(0, 0);
  EXPECT_NE(sample(0, 1).find("held 2 of them"), std::string::npos) << wrong_;
}
TEST_F(Samples, AForeignCtaIsRefused) {
  pass_until(20);
  start(1, 1);
  EXPECT_NE(sample(0, 2).find("1 of others"), std::string::npos) << wrong_;
}
TEST_F(Samples, TheLongestRefillIsAccepted) {
  EXPECT_EQ(refilled_after(kLongest), "");
  EXPECT_EQ(scoreboard_.longest_refill(), kLongest - 2);  // the last pick that it missed
}
TEST_F(Samples, ARefillThatIsACycleLongerIsRefused) {
  EXPECT_NE(refilled_after(kLongest + 1).find("nobody was picked"), std::string::npos) << wrong_;
}
TEST_F(Samples, ACtaThatWaitsAtThePortExcusesTheOthers) {
  pass_until(50);
  end(1);
  in_.dispatch_ready = false;
  start(3, 1);
  out_.dispatch_valid = true;  // it is still there
  pass_until(150);
  in_.dispatch_ready = true;
  pass();
  start(1, 0);
  EXPECT_EQ(sample(0, 2), "");
}
TEST_F(Samples, AYoungerKernelDoesNotGoFirst) {
  pass_until(50);
  end(1);
  for (std::uint32_t c = 0; c < kLongest; ++c) start(3, 1);
  start(1, 0);
  EXPECT_NE(sample(0, 2).find("a kernel that goes behind it was picked"), std::string::npos) << wrong_;
}
TEST_F(Samples, AYoungerKernelOfHigherPriorityMayGoFirst) {
  priority_ = {0, 1};
  pass_until(50);
  end(1);
  for (std::uint32_t c = 0; c < kLongest; ++c) start(3, 1);
  start(1, 0);
  EXPECT_EQ(sample(0, 2), "");
}
TEST_F(Samples, AnOlderKernelOfLowerPriorityDoesNotGoFirst) {
  priority_ = {0, 1};
  pass_until(50);
  end(3);
  for (std::uint32_t c = 0; c < kLongest; ++c) {
    slots_[0] = static_cast<std::uint8_t>(c % 2);
    start(0, 0);
  }
  start(3, 1);
  EXPECT_NE(sample(1, 2).find("a kernel that goes behind it was picked"), std::string::npos) << wrong_;
}
TEST_F(Samples, AnOlderKernelMayGoFirst) {
  pass_until(50);
  end(3);
  for (int c = 0; c < 100; ++c) {
    slots_[0] = static_cast<std::uint8_t>(c % 2);
    start(0, 0);
  }
  start(3, 1);
  EXPECT_EQ(sample(1, 2), "");
}
TEST_F(SamplesWithReady, AnSmThatIsNotReadyIsNotWaitedFor) {
  pass_until(50);
  in_.sm_ready[1] = false;
  end(1);
  pass_until(150);
  in_.sm_ready[1] = true;
  pass();
  start(1, 0);
  EXPECT_EQ(sample(0, 2), "");
}
TEST_F(SamplesWithReady, AnSmThatIsReadyIsWaitedFor) {
  EXPECT_NE(refilled_after(kLongest + 1).find("nobody was picked"), std::string::npos) << wrong_;
}

}  // namespace
}  // namespace sluice::tb
