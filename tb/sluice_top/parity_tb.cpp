// SPDX-License-Identifier: Apache-2.0
// Bits of tables that turn over, in a small unit with PARITY: 5 SMs, 3 kernel slots, 4 CTA slots. Registers are written through
// the Verilated model; what follows is seen from the host and the SMs alone. A flip is there from a falling edge of the clock on,
// in the middle of a cycle.
#include <Vsluice_top_checked.h>
#include <Vsluice_top_checked___024root.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "systemc/unit/rtl/rtl_sluice_top.h"
#include "systemc/unit/rtl/unit_world.h"
#include "tb/common/random.h"
#include "tb/sluice_top/lockstep.h"

namespace sluice {
namespace {

using regs::ParityTable;
using Rtl = RtlSluiceTop<Vsluice_top_checked, 2>;

/// Some bits of one entry of a table. @param live  it means something now
struct Word {
  ParityTable table;
  std::uint32_t entry;
  unsigned bits;
  std::function<void(unsigned bit)> flip;
  std::function<bool(unsigned bit)> live = [](unsigned) { return true; };
};

#define TABLE(name) root.sluice_top__DOT__i_cta_dispatcher__DOT__i_sm_resource_table__DOT__##name
#define ROW(m, name) TABLE(gen_row__BRA__##m##__KET____DOT__i_row__DOT__##name)
#define KERNELS(name) root.sluice_top__DOT__i_cta_dispatcher__DOT__i_kernel_slots__DOT__##name
#define SLOT(k, name) KERNELS(gen_slot__BRA__##k##__KET____DOT__i_kernel_slot__DOT__##name)
#define REGISTERS(name) root.sluice_top__DOT__i_sluice_csr__DOT__##name

template <class T>
auto flips(T& word) {
  return [&word](unsigned bit) { word = static_cast<T>(word ^ T{1} << bit); };
}

template <class Root>
std::vector<Word> words(Root& root) {
  std::vector<Word> all;
  const auto row = [&](std::uint32_t m, auto& amounts, auto& used, auto& kernels, auto& parity) {
    const auto written = [&root, m](unsigned) { return (TABLE(written_q) >> m & 1U) != 0; };
    all.push_back({ParityTable::kSmAmounts, m, 42, flips(amounts), written});
    all.push_back({ParityTable::kSmSlots, m, 4, flips(used)});
    all.push_back({ParityTable::kSmSlots, m, 8, flips(kernels), [&used](unsigned bit) { return (used >> bit / 2 & 1U) != 0; }});
    all.push_back({ParityTable::kSmSlots, m, 2, flips(parity)});
    all.push_back({ParityTable::kSmSlots, m, 1, [&root, m](unsigned) { flips(TABLE(written_q))(m); }});
  };
  row(0, ROW(0, amounts_o), ROW(0, slot_used_o), ROW(0, slot_kernel_o), ROW(0, gen_parity__DOT__i_parity_guard__DOT__parity_q));
  row(3, ROW(3, amounts_o), ROW(3, slot_used_o), ROW(3, slot_kernel_o), ROW(3, gen_parity__DOT__i_parity_guard__DOT__parity_q));
  auto& room = root.sluice_top__DOT__i_cta_dispatcher__DOT__i_dispatch_picker__DOT__room_q;
  for (std::uint32_t k = 0; k < 3; ++k)
    all.push_back({ParityTable::kRoom, k, 5, [&room, k](unsigned bit) { flips(room)(5 * k + bit); }});
  all.push_back({ParityTable::kKernel, 1, 2, flips(SLOT(1, state_q))});
  all.push_back({ParityTable::kKernel, 1, 5, flips(SLOT(1, resident_q))});
  auto& next = KERNELS(i_grid_index__DOT__next_q);
  all.push_back({ParityTable::kGrid, 0, 32, flips(next[0]), [&root](unsigned) { return SLOT(0, state_q) != 0; }});
  all.push_back({ParityTable::kDescriptor, 1, 7, flips(REGISTERS(gen_slot__BRA__1__KET____DOT__i_slot__DOT__warps_q))});
  all.push_back({ParityTable::kDescriptor, 1, 32, flips(REGISTERS(gen_slot__BRA__1__KET____DOT__i_slot__DOT__grid_q))});
  all.push_back({ParityTable::kConfig, 0, 17, flips(REGISTERS(i_config__DOT__cap_registers_q))});
  return all;
}

class Parity : public testing::Test {
 protected:
  Parity() {
    auto rtl = std::make_unique<Rtl>("", 1000, 5);
    rtl_ = rtl.get();
    world_ = std::make_unique<UnitWorld>(std::move(rtl), 1);
    world_->watch([this](const SluiceTopOut& out) { watch(out); });
  }
  /// Two kernels on 5 SMs of 4 CTA slots.
  void begin() {
    world_->driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
    EXPECT_TRUE(world_->bus().write32(regs::kIrqEnable, regs::kIrqStatusError.put(1)));
    world_->driver().set_mode(Mode::Fcfs);
    world_->driver().launch(0, {{256, 8192, 1024, 1}, 100000, true});
    world_->driver().launch(1, {{128, 4096, 16384, 1}, 100000, true});
  }
  void watch(const SluiceTopOut& out) {
    irq_ = out.irq;
    if (out.dispatch_valid) offered_.push_back(world_->now());
  }
  /// A CTA at the port finds its slot in this word in this cycle: it may leave with a wrong one, as the page says.
  [[nodiscard]] bool takes_slot(const Word& word) const {
    const SluiceTopOut& out = rtl_->outputs();
    return word.table == ParityTable::kSmSlots && out.dispatch_valid && out.dispatch_sm == word.entry;
  }
  std::uint32_t parity() {
    const auto read = world_->bus().read32(regs::kParity);
    EXPECT_TRUE(read.has_value());
    return read.value_or(0);
  }

  std::unique_ptr<UnitWorld> world_;
  Rtl* rtl_ = nullptr;
  std::vector<std::uint64_t> offered_;  ///< cycles
  bool irq_ = false;
};

TEST_F(Parity, ABitThatTurnsOverHaltsDispatchUntilAReset) {
  tb::Random random(tb::seed());
  std::vector<Word> all = words(*rtl_->model().rootp);
  std::array<unsigned, 7> seen{};
  const auto trials = static_cast<unsigned>(tb::campaign(300, 5000));
  for (unsigned trial = 0; trial < trials; ++trial) {
    begin();
    world_->run(random.in(200, 400));
    ASSERT_FALSE(irq_);
    const Word* word = nullptr;
    unsigned bit = 0;
    do {
      word = &all[random.in(0, static_cast<std::uint32_t>(all.size()) - 1)];
      bit = random.in(0, word->bits - 1);
    } while (!word->live(bit) || takes_slot(*word));
    offered_.clear();
    word->flip(bit);
    const std::uint64_t cycle = world_->now();  // of the flip: the registers hold it at its end
    world_->run(3);
    const std::string what = "trial " + std::to_string(trial) + ", table " + std::to_string(static_cast<unsigned>(word->table)) +
                             ", entry " + std::to_string(word->entry) + ", bit " + std::to_string(bit);
    ASSERT_TRUE(irq_) << what << ": no interrupt two cycles later";
    world_->run(300);  // CTAs end, and none comes
    for (const std::uint64_t c : offered_) ASSERT_LE(c, cycle) << what << ": a CTA is offered afterwards";
    EXPECT_EQ(world_->running(), 0U);
    const std::uint32_t told = parity();
    ASSERT_EQ(regs::kParityHalted.get(told), 1U) << what;
    ASSERT_EQ(regs::kParityTable.get(told), static_cast<std::uint32_t>(word->table)) << what;
    ASSERT_EQ(regs::kParityEntry.get(told), word->entry) << what;
    ASSERT_GE(regs::kParityCount.get(told), 1U) << what;
    ASSERT_NE(world_->driver().errors().bits & 1U << regs::kErrorParity.lsb, 0U) << what;
    world_->driver().clear_errors();
    world_->run(50);
    ASSERT_EQ(regs::kParityHalted.get(parity()), 1U) << what << ": clearing ERROR ends the halt";
    world_->reset();
    ++seen.at(static_cast<std::size_t>(word->table));
  }
  for (std::size_t table = 0; table < seen.size(); ++table) EXPECT_GT(seen.at(table), 0U) << "table " << table;
}

TEST_F(Parity, AfterTheResetKernelsRunToTheirEnd) {
  begin();
  world_->run(300);
  words(*rtl_->model().rootp).front().flip(3);
  world_->run(500);
  ASSERT_EQ(world_->running(), 0U);
  ASSERT_EQ(regs::kParityHalted.get(parity()), 1U);
  world_->reset();
  EXPECT_EQ(parity(), 0U);
  world_->driver().configure_machine({48 * kWarpSize, 32768, 49152, 4});
  offered_.clear();
  world_->driver().launch(0, {{256, 8192, 1024, 1}, 60, false});
  world_->driver().launch(1, {{128, 4096, 16384, 1}, 40, false});
  world_->run(3000);
  EXPECT_EQ(offered_.size(), 100U);
  EXPECT_EQ(world_->driver().take_finished(), 3U);
  EXPECT_EQ(world_->driver().errors().bits, 0U);
  EXPECT_EQ(regs::kParityHalted.get(parity()), 0U);
}

// Without a flip nothing is seen, and all is as without the option.
TEST(ParityAlone, WithoutAFlipTheUnitAgreesWithItsTwin) {
  Rtl rtl("", 1000, 5);
  rtl.model().contextp()->assertOn(false);  // of the neighbours: random SMs issue whenever they like
  tb::lockstep(rtl, {5, 3, 4, 2, 16, 1, 1, 2, 1, 7, 1, 6, 1}, tb::campaign(1000000, 10000000), false);
}

}  // namespace
}  // namespace sluice
