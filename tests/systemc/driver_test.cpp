// SPDX-License-Identifier: Apache-2.0
// The driver programs the registers alike over AXI4-Lite pins and over a TLM-2.0 socket; the unit behind is the twin of
// sluice_csr with a stand-in for the dispatcher that takes launches and stops at once.
#include <gtest/gtest.h>

#include <functional>
#include <systemc>

#include "sw/driver/sluice_driver.h"
#include "systemc/unit/ports/register_socket.h"
#include "systemc/unit/twin/sluice_csr.h"

namespace sluice {
namespace {

class Unit {
 public:
  AxiLiteOut cycle(const AxiLiteIn& pins) {
    in.axi = pins;
    const SluiceCsrOut out = csr.cycle(in);
    config = out.config;
    for (unsigned k = 0; k < 4; ++k) {
      if (config.launch[k]) in.status.slot_state[k] = static_cast<std::uint8_t>(regs::SlotState::kRunning);
      if (config.stop[k]) in.status.slot_state[k] = static_cast<std::uint8_t>(regs::SlotState::kFree);
    }
    return out.axi;
  }
  SluiceCsrTwin csr{regs::Parameters{}};
  SluiceCsrIn in;
  SluiceConfig config;
};

/// A kernel's life through the driver; every call's effect is looked at in the unit's ports.
void program(SluiceDriver& driver, Unit& unit) {
  EXPECT_EQ(driver.parameters().num_sm, 16U);
  driver.configure_machine({1536, 32768, 49152, 8});
  driver.set_mode(Mode::Static);
  driver.configure_sequencer({1000, 2048, 7, 0.08, 1.2});
  driver.configure_monitor(true, 0.5, 4096, 3);
  driver.launch(2, {{250, 1000, 2048, 1}, 77, true});
  EXPECT_EQ(unit.config.capacity_warps, 48U);
  EXPECT_EQ(unit.config.mode, 4U);
  EXPECT_EQ(unit.config.window, 2048U);
  EXPECT_EQ(unit.config.epsilon, 1311U);
  EXPECT_EQ(unit.config.loss_limit, 19661U);
  EXPECT_EQ(unit.config.monitor_threshold, 8192U);
  EXPECT_EQ(unit.config.demand_warps[2], 8U);
  EXPECT_EQ(unit.config.grid[2], 77U);
  EXPECT_TRUE(unit.config.repeat[2]);
  EXPECT_EQ(driver.slot_report(2).state, regs::SlotState::kRunning);
  const std::vector<unsigned> sms{0, 3, 15};
  driver.set_mask(2, sms);
  driver.set_quota(2, 5);
  EXPECT_EQ(unit.config.mask[2][0], 0x8009U);
  EXPECT_EQ(unit.config.quota[2], 5U);
  driver.evict(2, 3);
  EXPECT_EQ(unit.config.evict_count, 3U);
  EXPECT_FALSE(driver.evicted(2));
  unit.in.status.evict_done[2] = true;  // a pulse: the driver may look much later
  (void)driver.sequencer_state();
  unit.in.status.evict_done[2] = false;
  (void)driver.sequencer_state();
  EXPECT_TRUE(driver.evicted(2));
  EXPECT_FALSE(driver.evicted(1));
  driver.evict(2, 1);
  EXPECT_FALSE(driver.evicted(2));
  EXPECT_EQ(driver.take_interrupts(), regs::kIrqStatusEvictDone.put(1));
  driver.stop(2);
  EXPECT_EQ(driver.slot_report(2).state, regs::SlotState::kFree);
  unit.in.status.error = 2;  // CANNOT_FIT of slot 1
  unit.in.status.error_kernel = 1;
  (void)driver.sequencer_state();
  unit.in.status.error = 0;
  EXPECT_EQ(driver.errors().first, "CANNOT_FIT");
  EXPECT_EQ(driver.errors().kernel, 1U);
  EXPECT_THROW(driver.require_no_error(), DeviceError);
  EXPECT_EQ(driver.take_interrupts(), regs::kIrqStatusError.put(1));
  driver.clear_errors();
  EXPECT_NO_THROW(driver.require_no_error());
  driver.test_interrupts(regs::kIrqStatusDecision.put(1));
  EXPECT_EQ(driver.take_interrupts(), regs::kIrqStatusDecision.put(1));
  EXPECT_EQ(driver.errors().bits, 0U) << "no event has happened";
  driver.lock_configuration();
  driver.configure_monitor(false, 0.5, 4096, 3);
  EXPECT_TRUE(unit.config.monitor_enable);
  EXPECT_EQ(driver.errors().first, "BAD_CONFIG");
}

TEST(SluiceDriver, ProgramsTheUnitOverAxiLitePins) {
  Unit unit;
  AxiLiteBus bus([&](const AxiLiteIn& pins) { return unit.cycle(pins); });
  SluiceDriver driver(bus);
  program(driver, unit);
  EXPECT_FALSE(bus.write32(regs::kId, 0)) << "read-only";
  EXPECT_FALSE(bus.read32(0xffc).has_value()) << "no register";
}

/// Clocks the unit while something is under way, runs a test body in a SystemC thread.
struct Bench : sc_core::sc_module {
  SC_HAS_PROCESS(Bench);
  explicit Bench(const sc_core::sc_module_name& name) : sc_module(name), target("target"), bus("bus") {
    bus.socket.bind(target.socket);
    SC_THREAD(clock);
    SC_THREAD(run);
  }
  void clock() {
    while (!done) {
      const AxiLiteIn pins = target.pins();
      target.observe(unit.cycle(pins));
      wait(1, sc_core::SC_NS);
    }
  }
  void run() {
    body();
    done = true;
  }
  RegisterSocket target;
  TlmRegisterBus bus;
  Unit unit;
  std::function<void()> body;
  bool done = false;
};

TEST(SluiceDriver, ProgramsTheUnitOverATlmSocket) {
  Bench bench("bench");
  bench.body = [&] {
    SluiceDriver driver(bench.bus);
    program(driver, bench.unit);
    EXPECT_FALSE(bench.bus.write32(regs::kId, 0)) << "read-only";
    EXPECT_FALSE(bench.bus.read32(0xffc).has_value()) << "no register";
    EXPECT_FALSE(bench.bus.read32(0x1000).has_value()) << "beyond the map";
  };
  sc_core::sc_start();
  EXPECT_TRUE(bench.done);
}

TEST(SluiceDriver, NamesTheBadArgumentAndItsRange) {
  Unit unit;
  AxiLiteBus bus([&](const AxiLiteIn& pins) { return unit.cycle(pins); });
  SluiceDriver driver(bus);
  const SluiceConfig before = unit.config;
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::exception& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message([&] { driver.configure_machine({1536, 32768, 49152, 9}); }), "SM CTA slots = 9: must be 1..8");
  EXPECT_EQ(message([&] { driver.launch(4, {{32, 0, 0, 1}, 1}); }), "kernel slot = 4: must be 0..3");
  EXPECT_EQ(message([&] { driver.launch(0, {{32 * 49, 0, 0, 1}, 1}); }), "CTA warps = 49: must be 1..48");
  EXPECT_EQ(message([&] { driver.launch(0, {{32, 0, 0, 1}, 0}); }), "grid CTAs = 0: must be 1..4294967295");
  EXPECT_EQ(message([&] { driver.set_quota(0, 9); }), "quota = 9: must be 0..8");
  EXPECT_EQ(message([&] { driver.configure_sequencer({.warm_up_cycles = 1048576}); }),
            "warm-up cycles = 1048576: must be 0..1048575");
  EXPECT_EQ(message([&] { driver.configure_sequencer({0, 1023}); }), "window cycles = 1023: must be 1024..65535");
  EXPECT_EQ(message([&] { driver.configure_sequencer({.epsilon = 1.5}); }), "epsilon = 1.5: must be 0..1");
  const std::vector<unsigned> sms{16};
  EXPECT_EQ(message([&] { driver.set_mask(0, sms); }), "SM = 16: must be 0..15");
  EXPECT_TRUE(unit.config == before) << "a refused call wrote something";
  driver.launch(0, {{32, 0, 0, 1}, 1});
  EXPECT_EQ(message([&] { driver.launch(0, {{32, 0, 0, 1}, 1}); }), "kernel slot 0 is not free");
  EXPECT_EQ(message([&] { driver.configure_machine({1536, 32768, 49152, 8}); }), "kernel slot 0 is not free");
}

TEST(SluiceDriver, RefusesSomethingElseOnTheBus) {
  AxiLiteBus silent([](const AxiLiteIn&) { return AxiLiteOut{}; });
  EXPECT_THROW(SluiceDriver{silent}, DeviceError);
  struct Zeros : IRegisterBus {
    std::optional<std::uint32_t> read32(std::uint32_t) override { return 0; }
    bool write32(std::uint32_t, std::uint32_t) override { return true; }
  } zeros;
  EXPECT_THROW(SluiceDriver{zeros}, DeviceError);
}

}  // namespace
}  // namespace sluice
