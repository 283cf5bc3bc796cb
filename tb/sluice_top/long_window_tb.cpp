// SPDX-License-Identifier: Apache-2.0
// Windows as long as there are: each sample must be the instructions that its SM issued, in all bits. Random traffic has few
// windows of more than 2,000 cycles in which nobody interrupts.
#include <Vsluice_top_small.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/random.h"
#include "tb/sluice_top/sample_scoreboard.h"

namespace sluice::tb {
namespace {

constexpr regs::Parameters kSmall{5, 3, 4, 2, 16, 1, 1, 2, 5, 7, 1, 6};

/// The unit, with the scoreboard of samples at its ports. Kernel slot 0 is older than slot 1, and there is no other.
class JudgedTop : public ISluiceTop {
 public:
  [[nodiscard]] const SluiceTopOut& outputs() const override { return rtl_.outputs(); }
  void clock(const SluiceTopIn& in) override {
    const std::string wrong = samples_.observe(rtl_.outputs(), in, {0, 1}, 0);
    ASSERT_EQ(wrong, "");
    rtl_.clock(in);
  }
  void skip(std::uint64_t cycles) override { rtl_.skip(cycles); }
  [[nodiscard]] bool counts_activity() const override { return rtl_.counts_activity(); }
  [[nodiscard]] std::uint64_t samples() const { return samples_.clean(); }

 private:
  RtlSluiceTop<Vsluice_top_small, 2> rtl_{"", 1000, 5};
  SampleScoreboard samples_{kSmall};
};

TEST(SluiceTop, ASampleOfALongWindowIsWhatItsSmIssued) {
  Random random(seed());
  for (const std::uint32_t window : {65535U, 43690U, 21845U}) {
    auto top = std::make_unique<JudgedTop>();
    const JudgedTop& judged = *top;
    UnitWorld world(std::move(top), seed());
    world.let_ctas_last(2000, 1000);
    world.let_sms_act(5, [&random](std::uint64_t, std::vector<SmActivity>& sms) {
      for (std::uint32_t m = 0; m < sms.size(); ++m) {  // the last SM of either range in all cycles, the others less
        sms[m].issue_valid = static_cast<std::uint8_t>(m == 2 || m == 4 || random.chance(0.3 * (m + 1)) ? 3 : random.in(0, 3));
        sms[m].issue_kernel.fill(m < 3 ? 0 : 1);
      }
    });
    SluiceDriver& driver = world.driver();
    driver.configure_machine({48 * kWarpSize, 32768, 49152, 4});
    driver.configure_sequencer({300, window, 0, 0, 3.9});
    driver.set_mode(Mode::Dynamic);
    for (const unsigned k : {0U, 1U}) driver.launch(k, {{32, 512, 256, 1}, 1000000, true});
    for (unsigned c = 0; c < 4 * window && driver.sequencer_state() != regs::SequencerState::kMonitor; c += 1000) world.run(1000);
    EXPECT_EQ(driver.sequencer_state(), regs::SequencerState::kMonitor);
    EXPECT_EQ(judged.samples(), 8U) << "of four levels of two kernels, in windows of " << window;
  }
}

}  // namespace
}  // namespace sluice::tb
