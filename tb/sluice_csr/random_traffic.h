// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random AXI4-Lite traffic and random status hold the Verilated sluice_csr and its twin against each other in every cycle, a
// protocol monitor watches the pins, a scoreboard predicts responses and register contents from the register map.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/sluice_csr/axi_lite_traffic.h"
#include "tb/sluice_csr/register_scoreboard.h"
#include "tb/sluice_csr/rtl_sluice_csr.h"

namespace sluice::tb {

/// Addresses and values that meet every rule of the map and break it now and then.
class Stimulus {
 public:
  Stimulus(Random& random, const regs::Parameters& parameters)
      : random_(random), parameters_(parameters), registers_(regs::registers(parameters)) {}

  AxiWrite write() {
    AxiWrite w;
    w.address = address();
    w.data = random_.word();
    for (const regs::RegisterInfo& info : registers_) {
      if (info.address == w.address && !random_.chance(0.1)) w.data = value(info);
    }
    if (random_.chance(0.03)) w.strobe = static_cast<std::uint8_t>(random_.in(0, 14));
    return w;
  }
  std::uint32_t address() {
    if (random_.chance(0.05)) return random_.in(0, 4095);
    if (random_.chance(0.02)) return regs::slot(random_.in(parameters_.max_kernels - 1, 7), 4 * random_.in(0, 31));
    if (random_.chance(0.02)) return regs::kControl;  // GO, with launches that wait
    if (random_.chance(0.05)) return regs::slot(random_.in(0, parameters_.max_kernels - 1), regs::kSlotCtrl);
    const auto any = [&] { return registers_[random_.in(0, static_cast<std::uint32_t>(registers_.size()) - 1)].address; };
    const std::uint32_t chosen = any();
    return chosen == regs::kLock && random_.chance(0.9) ? any() : chosen;  // what is locked stays so until a reset
  }

  std::optional<SluiceCsrTake> take() {
    if (parameters_.launch_queue == 0 || !random_.chance(0.02)) return std::nullopt;
    return SluiceCsrTake{random_.in(0, parameters_.max_kernels - 1),
                         random_.in(0, 127),
                         random_.word() & 0x1ffff,
                         random_.word() & 0x3ffff,
                         random_.word(),
                         random_.in(0, 7)};
  }
  SluiceCsrStatus status() {
    if (random_.chance(0.02)) {  // otherwise the slots' states hold for a while
      const bool idle = random_.chance(0.5);
      for (unsigned k = 0; k < parameters_.max_kernels; ++k)
        status_.slot_state[k] = static_cast<std::uint8_t>(idle ? 0 : random_.in(0, 2));
      status_.sequencer_state = static_cast<std::uint8_t>(random_.in(0, 15));
    }
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
      status_.resident[k] = static_cast<std::uint16_t>(random_.word());
      status_.dispatched[k] = random_.word();
      status_.evict_done[k] = random_.chance(0.02);
      status_.kernel_done[k] = random_.chance(0.01);
      status_.ctas[k] = static_cast<std::uint8_t>(random_.in(0, 63));
    }
    for (unsigned k = 0; k < parameters_.max_kernels; ++k)
      status_.tags[k] = regs::kSlotTagsContext.put(random_.chance(0.7) ? random_.in(0, 1) : random_.word()) |
                        regs::kSlotTagsPriority.put(random_.word());
    status_.num_present = static_cast<std::uint8_t>(random_.in(0, 15));
    status_.queue = random_.in(0, 15);
    for (unsigned m = 0; m < parameters_.num_sm; ++m) status_.sm_busy[m] = random_.chance(0.5);
    status_.decision = random_.chance(0.01);
    status_.spatial = random_.chance(0.5);
    status_.no_fit = random_.chance(0.5);
    status_.dropped = random_.chance(0.5);
    status_.no_profile = random_.chance(0.5);
    status_.error = static_cast<std::uint8_t>(random_.chance(0.02) ? random_.in(0, 31) : 0);
    status_.error_kernel = static_cast<std::uint8_t>(random_.in(0, 7));
    status_.error_sm = static_cast<std::uint8_t>(random_.in(0, 255));
    status_.error_slot = static_cast<std::uint8_t>(random_.in(0, 31));
    status_.fell_back = random_.chance(0.5);
    return status_;
  }

 private:
  std::uint32_t value(const regs::RegisterInfo& info) {
    if (info.name.ends_with(".CTRL")) {
      constexpr std::array<std::uint32_t, 5> kCommands{1, 2, 4, 8, regs::kSlotCtrlFlush.put(1)};
      const std::uint32_t command = random_.chance(0.1) ? random_.in(0, 15) : kCommands[random_.in(0, 4)];
      return (random_.word() & (random_.chance(0.05) ? 0xfffffff0U : 0xffffffb0U)) | command;
    }
    std::uint32_t word = 0;
    for (const regs::FieldInfo& field : info.fields) {
      std::uint32_t v = random_.in(field.min, field.max);
      if (random_.chance(0.2)) v = random_.chance(0.5) ? field.min : field.max;
      if (random_.chance(0.1)) v = random_.chance(0.5) ? field.min - 1 : field.max + 1;
      word |= field.bits.put(v);
    }
    if (random_.chance(0.05)) word |= 1U << random_.in(0, 31);
    return word;
  }

  Random& random_;
  regs::Parameters parameters_;
  std::vector<regs::RegisterInfo> registers_;
  SluiceCsrStatus status_;
};

template <class Model>
void random_traffic(const regs::Parameters& parameters, std::uint64_t cycles) {
  Random random(seed());
  Coverage coverage("sluice_csr");
  RtlSluiceCsr<Model> rtl(parameters);
  SluiceCsrTwin twin(parameters);
  Stimulus stimulus(random, parameters);
  AxiLiteTraffic traffic(
      random, [&] { return stimulus.write(); }, [&] { return stimulus.address(); });
  AxiLiteMonitor monitor;
  Scoreboard scoreboard(parameters, coverage);
  SluiceCsrIn in;
  in.rst_n = false;
  ASSERT_EQ(rtl.cycle(in), twin.cycle(in)) << "in reset";
  for (std::uint64_t cycle = 0; cycle < cycles && !testing::Test::HasFatalFailure(); ++cycle) {
    in.rst_n = !random.chance(0.0005);
    in.axi = traffic.next();
    in.status = stimulus.status();
    in.take = stimulus.take();
    const bool idle = twin.idle();
    const SluiceCsrOut a = rtl.cycle(in), b = twin.cycle(in);
    ASSERT_TRUE(!in.rst_n || rtl.idle() == idle) << "idle_o, cycle " << cycle;
    ASSERT_EQ(a.axi, b.axi) << "cycle " << cycle;
    ASSERT_EQ(a.irq, b.irq) << "cycle " << cycle;
    ASSERT_TRUE(a.config == b.config) << "configuration ports differ, cycle " << cycle;
    monitor.check(in.axi, a.axi, in.rst_n);
    scoreboard.check(in, a);
    traffic.observe(a.axi, in.rst_n);
  }
  std::printf("%llu cycles compared\n", static_cast<unsigned long long>(cycles));
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{}) << "a campaign that misses a bin proves nothing about it";
}

}  // namespace sluice::tb
