// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a register map asks of the AXI4-Lite accesses to it: responses and register contents.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tb/common/coverage.h"
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

}  // namespace sluice::tb
