// SPDX-License-Identifier: Apache-2.0
// Bench of the unit with mode BALANCE: RTL and twin are compared at every port in every cycle, while kernels come, are measured,
// end, and are measured anew. What the registers say of it is held against each other. SLUICE_FULL=1: 200 scenes.
#include <Vsluice_top_balance.h>
#include <Vsluice_top_balance_alone.h>
#include <Vsluice_top_balance_few.h>
#include <gtest/gtest.h>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr regs::Parameters kParameters{16, 4, 8, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1},
    kFew{5, 3, 32, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}, kAlone{16, 4, 8, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2};

/// Both are given the same, and have to answer the same.
class Beside : public ISluiceTop {
 public:
  Beside(std::unique_ptr<ISluiceTop> rtl, std::unique_ptr<ISluiceTop> twin) : rtl_(std::move(rtl)), twin_(std::move(twin)) {}
  [[nodiscard]] const SluiceTopOut& outputs() const override { return rtl_->outputs(); }
  void clock(const SluiceTopIn& in) override {
    rtl_->clock(in);
    twin_->clock(in);
    ++cycles_;
    if (testing::Test::HasFailure()) return;
    EXPECT_EQ(port_difference(rtl_->outputs(), twin_->outputs()), "") << "cycle " << cycles_;
  }
  void skip(std::uint64_t cycles) override {
    rtl_->skip(cycles);
    twin_->skip(cycles);
  }
  [[nodiscard]] bool counts_activity() const override { return true; }

 private:
  std::unique_ptr<ISluiceTop> rtl_, twin_;
  std::uint64_t cycles_ = 0;
};

class Scene {
 public:
  Scene(std::unique_ptr<ISluiceTop> unit, const regs::Parameters& parameters, Random& random, Coverage& coverage)
      : world_(std::move(unit), random.word()),
        parameters_(parameters),
        random_(random),
        coverage_(coverage),
        tables_(random.word()) {}

  void run() {
    begin();
    for (unsigned event = 0; event < 4; ++event) {
      if (!decided()) return;
      look();
      something_happens();
    }
  }

 private:
  void write(std::uint32_t address, std::uint32_t value) { ASSERT_TRUE(world_.bus().write32(address, value)) << address; }
  std::uint32_t read(std::uint32_t address) { return world_.bus().read32(address).value_or(0xdeadbeef); }

  void begin() {
    const std::uint32_t warps = random_.in(8, 48);
    registers_ = random_.in(4096, 32768);
    warps_ = warps;
    SluiceDriver& driver = world_.driver();
    driver.configure_machine({warps * kWarpSize, registers_, 49152, random_.in(2, parameters_.max_ctas)});
    driver.configure_sequencer({.warm_up_cycles = random_.in(0, 600), .window_cycles = random_.in(1024, 1300)});
    write(regs::kDrainLimit, random_.in(0, 2));
    write(regs::kLossLimit, random_.chance(0.5) ? 0 : 19661);  // the loss guard has no say
    write(regs::kRequestShare, random_.chance(0.5) ? 0 : random_.in(20, 400));
    write(regs::kBalance, regs::kBalanceKeep.put(random_.chance(0.5) ? 1U << 15U : random_.in(0, 1U << 17U)) |
                              regs::kBalanceCandidates.put(random_.chance(0.7) ? 7 : random_.in(0, 15)));
    write(regs::kIrqEnable, regs::kIrqStatusDecision.put(1));
    world_.let_ctas_last(random_.in(300, 3000));
    const std::uint32_t schedulers = parameters_.num_sched, silent = random_.chance(0.2) ? 0 : parameters_.max_kernels;
    world_.let_sms_act(parameters_.num_sm, [this, schedulers, silent](std::uint64_t now, std::vector<SmActivity>& sms) {
      for (std::size_t m = 0; m < sms.size(); ++m) {
        const std::uint32_t word = random_.word();
        // Each SM has its own pace for some thousand cycles.
        const std::uint64_t pace = (tables_ + m * 77 + (now >> 13U) * 1313) * 0x9E3779B97F4A7C15ULL >> 40U;
        sms[m].issue_valid = static_cast<std::uint8_t>(word & (word >> 4U | pace) & ((1U << schedulers) - 1));
        for (std::uint32_t s = 0; s < schedulers; ++s) {
          sms[m].issue_kernel[s] = static_cast<std::uint8_t>((word >> (8 + 2 * s) & 3U) % parameters_.max_kernels);
          if (sms[m].issue_kernel[s] == silent) sms[m].issue_valid &= static_cast<std::uint8_t>(~(1U << s));
        }
        sms[m].request = (word >> 24U & 31U) < (pace & 15U);
      }
    });
    write(regs::kMode, static_cast<std::uint32_t>(Mode::Balance));
    half_ = random_.chance(0.2);
    for (unsigned k = half_ ? 2 : random_.in(2, parameters_.max_kernels); k-- > 0;) launch(k);
  }

  void launch(unsigned k) {
    const std::uint32_t part = half_ ? 2 : random_.in(2, 9);
    write(regs::slot(k, regs::kSlotWish), regs::kSlotWishFloor.put(random_.chance(0.2) ? random_.in(0, 8000) : 0) |
                                              regs::kSlotWishWeight.put(random_.in(1, 127)));
    const bool ends = random_.chance(0.2);
    world_.driver().launch(k, {{std::max(1U, warps_ / part) * kWarpSize, registers_ / random_.in(2, 9), 0, 1},
                               ends ? random_.in(500, 5000) : 100000,
                               !ends});
  }

  /// Waits for the interrupt. @return false: there is nothing to decide
  bool decided() {
    write(regs::kIrqStatus, ~0U);
    for (unsigned waited = 0; waited < 6000; ++waited) {
      if ((read(regs::kIrqStatus) & regs::kIrqStatusDecision.put(1)) != 0) return true;
      const std::uint32_t status = read(regs::kStatus);
      if (regs::kStatusPresent.get(status) < 2 || testing::Test::HasFailure()) return false;
      if (regs::kStatusFellBack.get(status) != 0 && regs::kStatusSequencer.get(status) == 0)
        return false;  // no SM ranges to profile in
      world_.run(200);
      if (random_.chance(0.05)) set_while_it_decides();
    }
    ADD_FAILURE() << "no decision";
    return false;
  }

  /// What a decision goes by stays as it is while it is made.
  void set_while_it_decides() {
    const std::uint32_t before = read(regs::kBalance), state = regs::kStatusSequencer.get(read(regs::kStatus));
    if (state == static_cast<std::uint32_t>(regs::SequencerState::kIdle) ||
        state == static_cast<std::uint32_t>(regs::SequencerState::kMonitor))
      return;
    write(regs::kError, ~0U);
    write(regs::kBalance, before ^ regs::kBalanceKeep.put(random_.in(1, 100)));
    if (regs::kErrorBadConfig.get(read(regs::kError)) == 0) return;  // it was decided meanwhile
    coverage_.hit("a setting is refused while it decides");
    EXPECT_EQ(read(regs::kBalance), before);
  }

  void look() {
    const std::uint32_t status = read(regs::kBalanceStatus), kept = regs::kBalanceStatusKept.get(status);
    const std::uint32_t state = regs::kStatusSequencer.get(read(regs::kStatus));
    if (state != static_cast<std::uint32_t>(regs::SequencerState::kMonitor) || kept == 0) return;  // of SM ranges, or over
    constexpr std::array<const char*, 4> kWhat{"", "a partition is kept", "CTAs in turn are kept", "kernels run in order"};
    coverage_.hit(kWhat.at(kept));
    if (regs::kBalanceStatusChanged.get(status) != 0) coverage_.hit("it is not Warped-Slicer's");
    if (regs::kBalanceScoreMeasured.get(read(regs::kBalanceScore)) == 0) {
      coverage_.hit("nothing was measured");
      EXPECT_EQ(regs::kBalanceStatusFloors.get(status), 0U);
    }
    EXPECT_TRUE(kept == 1 || regs::kBalanceStatusChanged.get(status) != 0);
    EXPECT_GE(regs::kBalanceStatusRounds.get(status), 1U);
    std::uint32_t sum = 0;
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) sum += read(regs::slot(k, regs::kSlotCtas));
    EXPECT_EQ(sum == parameters_.max_kernels * parameters_.max_ctas, kept != 1) << "quotas";
    for (std::uint32_t e = 0; e < 16; ++e) read(regs::kBalanceScore + 4 * e);
  }

  void something_happens() {
    const unsigned k = random_.in(0, parameters_.max_kernels - 1);
    world_.run(random_.in(1, 3000));
    switch (random_.in(0, 5)) {
      case 0: write(regs::kControl, regs::kControlReprofile.put(1)); break;
      case 1: write(regs::kMode, static_cast<std::uint32_t>(Mode::Balance)); break;
      case 2: another_mode(); break;
      case 3: world_.driver().stop(k); break;
      case 4:
        if (parameters_.sm_enable != 0) write(regs::kSmEnable, random_.word() | 1U);
        break;
      default: break;
    }
    if (read(regs::slot(k, regs::kSlotStatus)) == static_cast<std::uint32_t>(regs::SlotState::kFree)) launch(k);
    write(regs::kMode, static_cast<std::uint32_t>(Mode::Balance));
  }

  /// The unit with this mode alone refuses DYNAMIC.
  void another_mode() {
    const auto before = read(regs::kMode), dynamic = static_cast<std::uint32_t>(Mode::Dynamic);
    write(regs::kMode, dynamic);
    EXPECT_EQ(read(regs::kMode), parameters_.balance == 2 ? before : dynamic);
    EXPECT_EQ(regs::kErrorBadMode.get(read(regs::kError)) != 0, parameters_.balance == 2);
    write(regs::kError, ~0U);
    if (parameters_.balance == 2) {
      EXPECT_EQ(read(regs::kRequestShare), 0U) << "nothing looks at it";
    }
  }

  UnitWorld world_;
  regs::Parameters parameters_;
  Random& random_;
  Coverage& coverage_;
  std::uint64_t tables_;
  std::uint32_t registers_ = 0, warps_ = 0;
  bool half_ = false;  ///< CTAs are so large that a partition has no neighbours
};

template <class Model, unsigned kSchedulers>
void scenes(const char* name, const regs::Parameters& parameters, std::uint64_t number) {
  Random random(seed());
  Coverage coverage(name);
  coverage.declare("a partition is kept", "the base of the last round");
  coverage.declare("it is not Warped-Slicer's", "a step was taken");
  coverage.declare("CTAs in turn are kept", "of a base without neighbours");
  coverage.declare("kernels run in order", "sharing is not worth it");
  coverage.declare("nothing was measured", "a kernel issues nothing");
  coverage.declare("a setting is refused while it decides", "BALANCE is written");
  for (std::uint64_t i = 0; i < number && !testing::Test::HasFailure(); ++i) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, "scene " + std::to_string(i));
    Scene(std::make_unique<Beside>(std::make_unique<RtlSluiceTop<Model, kSchedulers>>(waveform(name), 1000),
                                   make_twin_sluice_top(parameters)),
          parameters, random, coverage)
        .run();
  }
  if (campaign(0, 1) == 1) {
    EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
  }
}

TEST(BalanceUnit, RtlAndTwinAgreeInEveryCycle) { scenes<Vsluice_top_balance, 2>("balance_unit", kParameters, campaign(4, 200)); }
TEST(BalanceUnit, RtlAndTwinAgreeWithoutDynamic) {
  scenes<Vsluice_top_balance_alone, 2>("balance_unit_alone", kAlone, campaign(4, 200));
}
TEST(BalanceUnit, RtlAndTwinAgreeOnFiveSms) { scenes<Vsluice_top_balance_few, 4>("balance_unit_few", kFew, campaign(4, 200)); }

}  // namespace
}  // namespace sluice::tb
