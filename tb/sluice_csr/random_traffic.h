// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random AXI4-Lite traffic and random status hold the Verilated sluice_csr and its twin against each other in every cycle, a
// protocol monitor watches the pins, a scoreboard predicts responses and register contents from the register map.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>
#include <utility>

#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/sluice_csr/axi_lite_traffic.h"
#include "tb/sluice_csr/rtl_sluice_csr.h"

namespace sluice::tb {

inline std::string register_kind(const regs::RegisterInfo& info) {
  std::string name = info.name.substr(info.name.find('.') + 1);  // without the slot
  if (info.sms) name.pop_back();                                 // without its number
  return (info.name.starts_with("SLOT") ? "SLOT." : "") + name;
}

inline bool writable(const regs::RegisterInfo& info) { return info.fields.front().access != regs::Access::Ro; }

/// Contents that rw registers must have and responses that accesses must get, by transaction; knows nothing of cycles but that a
/// write acts in the cycle before its response appears.
class Scoreboard {
 public:
  Scoreboard(const regs::Parameters& parameters, Coverage& coverage)
      : parameters_(parameters), coverage_(coverage), registers_(regs::registers(parameters)) {
    for (const regs::RegisterInfo& info : registers_) {
      by_address_[info.address] = &info;
      coverage_.declare("read " + register_kind(info), "read with OKAY");
      if (writable(info)) coverage_.declare("write " + register_kind(info), "written with OKAY and accepted");
      const regs::FieldInfo& field = info.fields.front();
      if (field.access == regs::Access::Rw && !(field.bits.width == 32)) {
        coverage_.declare("refuse value " + register_kind(info), "written out of range or with bits outside the fields");
      }
      if (info.needs != regs::Needs::Nothing)
        coverage_.declare("refuse busy " + register_kind(info), "written while a slot was not FREE or a decision under way");
      if (info.locks) coverage_.declare("refuse locked " + register_kind(info), "written while LOCK was 1");
    }
    for (const char* what : {"no such address", "read-only", "partial strobe", "unaligned"}) {
      coverage_.declare(std::string("slverr write ") + what, "write refused with SLVERR");
    }
    coverage_.declare("slverr read", "read refused with SLVERR");
    coverage_.declare("launched together", "CONTROL.GO with several launches that wait");
    if (parameters.launch_queue != 0) {
      coverage_.declare("launch of the port", "a descriptor and a launch from beside the registers");
      coverage_.declare("launch of the port's slot", "CTRL written with LAUNCH for a slot that is the port's: refused");
    }
    if (parameters.flush != 0) coverage_.declare("flush of a kernel", "CTRL written with FLUSH alone");
    if (parameters.flush != 0 && parameters.launch_queue != 0) {
      coverage_.declare("flush of a context", "FLUSH_CONTEXT of a context with more than one kernel");
      coverage_.declare("flush of a context passes a FREE slot", "its TAGS have the context, but its kernel has gone");
    }
    coverage_.declare("two commands", "CTRL written with more than one command");
    coverage_.declare("reset", "asynchronous reset in mid-traffic");
    coverage_.declare("address first", "AW taken before W");
    coverage_.declare("data first", "W taken before AW");
    coverage_.declare("address with data", "AW and W taken in one cycle");
    coverage_.declare("response waits", "B waited for ready while a write was held");
    coverage_.declare("read meets write", "R and B rose in one cycle");
    reset();
  }

  void check(const SluiceCsrIn& in, const SluiceCsrOut& out) {
    if (!in.rst_n) {
      coverage_.hit("reset");
      reset();
      return;
    }
    const bool answered = out.axi.bvalid && !(before_out_.bvalid && !before_in_.axi.bready);
    launches_before_ = std::exchange(launches_, 0);
    flush_context();
    ports_ = parameters_.launch_queue != 0 ? shadow_[regs::kPortSlots] : 0;  // as of the cycle before
    waiting_ &= ~ports_;
    if (answered) judge_write(out.axi.bresp);
    if (before_in_.take) take(*before_in_.take);
    std::uint32_t launches = 0;
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) launches |= out.config.launch[k] ? 1U << k : 0;
    ASSERT_EQ(launches, launches_) << "launch_o";
    std::uint32_t flushes = 0;
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) flushes |= out.config.flush[k] ? 1U << k : 0;
    ASSERT_EQ(flushes, flushes_) << "flush_o";
    if (expected_read_) {
      ASSERT_TRUE(out.axi.rvalid) << "a read is not answered";
      ASSERT_EQ(out.axi.rresp, expected_read_->first) << std::hex << "read of " << read_address_;
      ASSERT_EQ(out.axi.rdata, expected_read_->second) << std::hex << "read of " << read_address_;
      if (answered) coverage_.hit("read meets write");
      expected_read_.reset();
    }
    if (reading_) expect_read();  // what the registers hold in the cycle after the address was taken
    reading_ = in.axi.arvalid && out.axi.arready;
    if (reading_) read_address_ = in.axi.araddr;
    const bool aw = in.axi.awvalid && out.axi.awready, w = in.axi.wvalid && out.axi.wready;
    if (aw && w) coverage_.hit("address with data");
    if (aw && !w && !data_) coverage_.hit("address first");
    if (w && !aw && !address_) coverage_.hit("data first");
    if (aw) address_ = in.axi.awaddr;
    if (w) data_ = {in.axi.wdata, in.axi.wstrb};
    if (address_ && data_ && out.axi.bvalid && !in.axi.bready) coverage_.hit("response waits");
    before_in_ = in;
    before_out_ = out.axi;
  }

 private:
  void reset() {
    for (const regs::RegisterInfo& info : registers_) {
      std::uint32_t value = 0;
      for (const regs::FieldInfo& field : info.fields) value |= field.bits.put(field.reset);
      shadow_[info.address] = value & existing(info);
    }
    address_.reset();
    data_.reset();
    expected_read_.reset();
    reading_ = false;
    waiting_ = launches_ = flushes_ = 0;
    flush_context_.reset();
    before_in_ = {};
    before_out_ = {};
  }

  [[nodiscard]] std::uint32_t existing(const regs::RegisterInfo& info) const {
    if (info.address == regs::kPortSlots || info.address == regs::kDoneEnable) return (1U << parameters_.max_kernels) - 1;
    if (!info.sms) return ~0U;
    std::uint32_t bits = 0;
    for (unsigned b = 0, first = 32 * static_cast<unsigned>(info.name.back() - '0'); b < 32; ++b) {
      if (first + b < parameters_.num_sm) bits |= 1U << b;
    }
    return bits;
  }

  void judge_write(AxiResponse response) {
    ASSERT_TRUE(address_ && data_) << "a response without a write";
    const std::uint32_t address = *address_;
    const auto [data, strobe] = *data_;
    address_.reset();
    data_.reset();
    const auto found = by_address_.find(address);
    const bool legal = found != by_address_.end() && writable(*found->second) && strobe == 0xf;
    ASSERT_EQ(response, legal ? AxiResponse::kOkay : AxiResponse::kSlvErr) << std::hex << "write to " << address;
    if (!legal) {
      coverage_.hit(address % 4 != 0             ? "slverr write unaligned"
                    : found == by_address_.end() ? "slverr write no such address"
                    : !writable(*found->second)  ? "slverr write read-only"
                                                 : "slverr write partial strobe");
      return;
    }
    const regs::RegisterInfo& info = *found->second;
    if (refused(info, data)) return;
    coverage_.hit("write " + register_kind(info));
    if (info.fields.front().access == regs::Access::Rw) shadow_[address] = data & existing(info);
    const unsigned slot = address >= regs::kSlotBase ? (address - regs::kSlotBase) / regs::kSlotStride : 0;
    if (address == regs::kControl && regs::kControlGo.get(data) != 0) {
      launches_ |= std::exchange(waiting_, 0);
      if (std::popcount(launches_) > 1) coverage_.hit("launched together");
    }
    flush(address, data, slot);
    if (!info.name.ends_with(".CTRL") || regs::kSlotCtrlLaunch.get(data) == 0) return;
    const bool free = before_in_.status.slot_state[slot] == 0 && (ports_ >> slot & 1U) == 0,
               waits = free && regs::kSlotCtrlWait.get(data) != 0;
    if (free) shadow_[address] = data & 0x10U;
    waiting_ = (waiting_ & ~(1U << slot)) | (waits ? 1U << slot : 0);
    if (!waits) launches_ |= 1U << slot;
  }

  /// One kernel.
  void flush(std::uint32_t address, std::uint32_t data, unsigned slot) {
    if (parameters_.flush == 0) return;
    if (address == regs::slot(slot, regs::kSlotCtrl) && regs::kSlotCtrlFlush.get(data) != 0) {
      flushes_ |= 1U << slot;
      coverage_.hit("flush of a kernel");
    }
    if (address == regs::kControl) flush_context_ = data;
  }

  /// All of a context, or all, that are there in the cycle after the write.
  void flush_context() {
    flushes_ = 0;
    const auto data = std::exchange(flush_context_, std::nullopt);
    const bool all = data && regs::kControlFlushAll.get(*data) != 0;
    if (!data || (!all && (regs::kControlFlushContext.get(*data) == 0 || parameters_.launch_queue == 0))) return;
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
      const bool there = before_in_.status.slot_state[k] != 0;
      const bool same = all || regs::kSlotTagsContext.get(before_in_.status.tags[k]) == regs::kControlContext.get(*data);
      if (there && same) flushes_ |= 1U << k;
      if (!there && same) coverage_.hit("flush of a context passes a FREE slot");
    }
    if (std::popcount(flushes_) > 1) coverage_.hit("flush of a context");
  }

  bool refused(const regs::RegisterInfo& info, std::uint32_t data) {
    const std::uint32_t commands = data & (parameters_.flush != 0 ? 0x4fU : 0xfU);
    if (info.name.ends_with(".CTRL") && std::popcount(commands) > 1) {
      coverage_.hit("two commands");
      return true;
    }
    const unsigned slot = info.address >= regs::kSlotBase ? (info.address - regs::kSlotBase) / regs::kSlotStride : 0;
    const bool in_slot = info.address >= regs::kSlotBase, ports = in_slot && (ports_ >> slot & 1U) != 0;
    if (info.name.ends_with(".CTRL") && ports && regs::kSlotCtrlLaunch.get(data) != 0) {
      coverage_.hit("launch of the port's slot");
      return true;
    }
    if (info.fields.front().access != regs::Access::Rw) return false;
    std::uint32_t rebuilt = 0;
    bool out_of_range = false;
    for (const regs::FieldInfo& field : info.fields) {
      rebuilt |= field.bits.put(field.bits.get(data));
      out_of_range |= field.bits.get(data) < field.min || field.bits.get(data) > field.max;
    }
    if (out_of_range || rebuilt != data) {
      coverage_.hit("refuse value " + register_kind(info));
      return true;
    }
    if (info.locks && shadow_[regs::kLock] != 0) {
      coverage_.hit("refuse locked " + register_kind(info));
      return true;
    }
    bool busy = info.needs == regs::Needs::SlotFree && ports;
    for (unsigned k = 0; k < parameters_.max_kernels; ++k) {
      const bool counts = info.needs == regs::Needs::AllFree || (info.needs == regs::Needs::SlotFree && k == slot);
      busy |= counts && before_in_.status.slot_state[k] != 0;
    }
    busy |= parameters_.launch_queue != 0 && info.needs == regs::Needs::AllFree && launches_before_ != 0;
    const unsigned state = before_in_.status.sequencer_state;
    busy |= info.needs == regs::Needs::Undecided && state != 0 && state != 7;
    if (busy) coverage_.hit("refuse busy " + register_kind(info));
    return busy;
  }

  /// A launch of the port: it has the last word about the slot.
  void take(const SluiceCsrTake& take) {
    shadow_[regs::slot(take.slot, regs::kSlotWarps)] = take.warps;
    shadow_[regs::slot(take.slot, regs::kSlotRegisters)] = take.registers;
    shadow_[regs::slot(take.slot, regs::kSlotShared)] = take.shared_bytes;
    shadow_[regs::slot(take.slot, regs::kSlotGrid)] = take.ctas;
    shadow_[regs::slot(take.slot, regs::kSlotCtrl)] = 0;
    if (parameters_.priority != 0) shadow_[regs::slot(take.slot, regs::kSlotPriority)] = take.priority;
    launches_ |= 1U << take.slot;
    coverage_.hit("launch of the port");
  }

  void expect_read() {
    const auto found = by_address_.find(read_address_);
    if (found == by_address_.end()) {
      coverage_.hit("slverr read");
      expected_read_ = {AxiResponse::kSlvErr, 0};
      return;
    }
    coverage_.hit("read " + register_kind(*found->second));
    const regs::Access access = found->second->fields.front().access;
    // Sticky and live registers are held against the twin.
    if (access == regs::Access::Rw || access == regs::Access::W1s || read_address_ == regs::kId ||
        read_address_ == regs::kParams || read_address_ == regs::kFeatures || read_address_ == regs::kRevision) {
      expected_read_ = {AxiResponse::kOkay, shadow_[read_address_]};
    }
  }

  regs::Parameters parameters_;
  Coverage& coverage_;
  std::vector<regs::RegisterInfo> registers_;
  std::map<std::uint32_t, const regs::RegisterInfo*> by_address_;
  std::map<std::uint32_t, std::uint32_t> shadow_;
  std::optional<std::uint32_t> address_;
  std::optional<std::pair<std::uint32_t, std::uint8_t>> data_;
  std::uint32_t ports_ = 0;                           ///< a bit a slot: it is the launch port's
  std::uint32_t waiting_ = 0;                         ///< a bit a slot: its launch waits for CONTROL.GO
  std::uint32_t launches_ = 0, launches_before_ = 0;  ///< expected in this cycle; in the one before
  std::uint32_t flushes_ = 0;                         ///< expected in this cycle
  std::optional<std::uint32_t> flush_context_;        ///< written to CONTROL in the cycle before
  bool reading_ = false;                              ///< an address was taken in the cycle before
  std::uint32_t read_address_ = 0;
  std::optional<std::pair<AxiResponse, std::uint32_t>> expected_read_;
  SluiceCsrIn before_in_;
  AxiLiteOut before_out_;
};

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
