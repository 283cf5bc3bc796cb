// SPDX-License-Identifier: Apache-2.0
// RTL and twin side by side: where they differ, the run fails with the port and the clock, also from within SystemC.
#include <gtest/gtest.h>

#include <systemc>

#include "study/run_pool.h"
#include "sw/core/errors.h"
#include "systemc/sim/run_simulation.h"
#include "systemc/unit/ports/i_sluice_top.h"

namespace sluice {
namespace {

constexpr regs::Parameters kParameters{16, 4, 32, 2, 64};

/// A twin whose interrupt rises by itself in its fifth clock.
class Wrong : public ISluiceTop {
 public:
  [[nodiscard]] const SluiceTopOut& outputs() const override { return out_; }
  void clock(const SluiceTopIn& in) override {
    unit_->clock(in);
    out_ = unit_->outputs();
    out_.irq = ++clocks_ == 5;
  }
  void skip(std::uint64_t cycles) override { unit_->skip(cycles); }
  [[nodiscard]] bool counts_activity() const override { return unit_->counts_activity(); }

 private:
  std::unique_ptr<ISluiceTop> unit_ = make_twin_sluice_top(kParameters);
  SluiceTopOut out_;
  unsigned clocks_ = 0;
};

std::unique_ptr<ISluiceTop> pair_that_differs() {
  return make_lockstep_of(make_twin_sluice_top(kParameters), std::make_unique<Wrong>());
}

TEST(Lockstep, NamesThePortAndTheClock) {
  const auto pair = pair_that_differs();
  const SluiceTopIn in;
  for (int i = 0; i < 4; ++i) pair->clock(in);
  try {
    pair->clock(in);
    FAIL();
  } catch (const CheckFailed& e) {
    EXPECT_STREQ(e.what(), "RTL and twin differ at irq_o after 5 clocks");
  }
}

struct Clocked : sc_core::sc_module {
  SC_HAS_PROCESS(Clocked);
  explicit Clocked(const sc_core::sc_module_name& name) : sc_module(name) { SC_METHOD(tick); }
  void tick() {
    pair->clock(SluiceTopIn());
    next_trigger(1, sc_core::SC_NS);
  }
  std::unique_ptr<ISluiceTop> pair = pair_that_differs();
};

class Simulated : public IDevice {
 public:
  RunResult run(const RunSpec&) override {
    Clocked clocked("clocked");
    run_simulation(sc_core::sc_time(1, sc_core::SC_US));
    return {};
  }
};

TEST(Lockstep, FailsASimulationAsACheck) {
  const RunPool pool([] { return std::make_unique<Simulated>(); }, 1);
  try {
    pool.run({RunSpec{}}, [](std::size_t, const RunResult&, const HostCost&) {});
    FAIL();
  } catch (const CheckFailed& e) {
    EXPECT_STREQ(e.what(), "RTL and twin differ at irq_o after 5 clocks");
  }
}

}  // namespace
}  // namespace sluice
