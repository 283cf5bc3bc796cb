// SPDX-License-Identifier: Apache-2.0
// What the host does in EdgesWorld.
#include <fmt/format.h>

#include <algorithm>

#include "tb/sluice_top/edges_world.h"

namespace sluice::tb {

void EdgesWorld::write(std::uint32_t address, std::uint32_t data) {
  if (!bus_.write32(address, data)) fail(fmt::format("a write to {:#x} is refused", address));
}

std::uint32_t EdgesWorld::read(std::uint32_t address) {
  const auto data = bus_.read32(address);
  if (!data) fail(fmt::format("a read of {:#x} is refused", address));
  return data.value_or(0);
}

void EdgesWorld::configure() {
  capacity_ = {.warps = random_.in(16, 64),
               .registers = 65536,
               .shared_bytes = 131072,
               .ctas = random_.chance(0.3) ? random_.in(1, parameters_.max_ctas) : parameters_.max_ctas};
  mode_ = Mode::LeftOver;
  static_ = {};
  for (const auto& [address, data] : {std::pair(regs::kCapWarps, capacity_.warps),
                                      {regs::kCapRegisters, capacity_.registers},
                                      {regs::kCapShared, capacity_.shared_bytes},
                                      {regs::kCapSlots, capacity_.ctas},
                                      {regs::kWarmUp, 300U},
                                      {regs::kWindow, 1024U},
                                      {regs::kDrainLimit, 1U},
                                      {regs::kMode, static_cast<std::uint32_t>(mode_)}})
    write(address, data);
  for (unsigned k = 0; k < parameters_.max_kernels; ++k) set_static(k, parameters_.max_ctas, ~0U);
}

/// The SMs are reset too, or report CTAs of before as late ones.
void EdgesWorld::reset(bool sms_too) {
  in_.rst_n = false;
  in_.keep_tags = !sms_too;
  run(1);
  in_.rst_n = true;
  ++counts_.resets;
  if (sms_too) late_.clear();
  for (Sm& sm : sms_) {
    if (!sms_too) {
      for (const auto& [slot, cta] : sm.ctas) late_.push_back(cta);
    }
    sm = {};
  }
  for (unsigned& moves : moves_) ++moves;
  for (auto& cta : late_) cta.moves = sms_too ? 0 : moves_[cta.kernel];
  kernels_ = {};
  taken_.clear();
  at_the_port_.reset();
  in_.launch.valid = false;
  done_ = may_be_done_ = expected_ = port_slots_ = 0;
  allowed_ = sms_too ? 0 : regs::kErrorBadDone.put(1);
  hang_next_ = stuck_until_ = 0;
  disturbed();
  configure();
}

void EdgesWorld::launch(unsigned slot) {
  if (kernels_[slot] || (port_slots_ >> slot & 1U) != 0) return;
  LaunchRequest l = some_launch();
  l.context = l.priority = 0;
  const std::uint32_t priority = random_.in(0, 7);
  for (const auto& [offset, data] : {std::pair(regs::kSlotWarps, l.warps),
                                     {regs::kSlotRegisters, l.registers},
                                     {regs::kSlotShared, l.shared_bytes},
                                     {regs::kSlotGrid, l.ctas}})
    write(regs::slot(slot, offset), data);
  if (parameters_.priority != 0) write(regs::slot(slot, regs::kSlotPriority), priority);
  ++counts_.launches;
  if (can_fit(l)) {
    kernels_[slot] = Kernel{.launch = l, .endless = random_.chance(0.03)};
    disturbed();
  } else {
    expect(regs::kErrorCannotFit);
    ++counts_.refused;
  }
  write(regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlLaunch.put(1));
}

void EdgesWorld::set_mode(Mode mode) {
  allowed_ |= regs::kErrorModeInDecision.put(1);
  mode_ = Mode::Even;  // nothing is claimed of it
  write(regs::kMode, static_cast<std::uint32_t>(mode));
  run(4);
  mode_ = mode;
  mode_since_ = now_;
  disturbed();
}

void EdgesWorld::set_static(unsigned slot, std::uint32_t quota, std::uint32_t mask) {
  static_[slot].since = ~0ULL;
  write(regs::slot(slot, regs::kSlotQuota), quota);
  for (std::uint32_t word = 0; 32 * word < parameters_.num_sm; ++word)
    write(regs::slot(slot, regs::kSlotMask) + 4 * word, word == 0 ? mask : ~0U);
  static_[slot] = {quota, mask, now_ + 20};
  disturbed();
}

/// A kernel may end meanwhile, and its slot be given to the next.
void EdgesWorld::command(unsigned slot, std::uint32_t data) {
  commanded_[slot] = ~0ULL;
  write(regs::slot(slot, regs::kSlotCtrl), data);
  commanded_[slot] = now_ + 4;
}

void EdgesWorld::stop(unsigned slot) {
  allowed_ |= regs::kErrorBadKernel.put(1);
  if (kernels_[slot]) kernels_[slot]->stopped = true;
  command(slot, regs::kSlotCtrlStop.put(1));
}

void EdgesWorld::evict(unsigned slot, std::uint32_t ctas) {
  allowed_ |= regs::kErrorBadKernel.put(1);
  if (kernels_[slot]) kernels_[slot]->evicted = true;
  command(slot, regs::kSlotCtrlEvict.put(1) | regs::kSlotCtrlEvictCount.put(ctas));
}

void EdgesWorld::resume(unsigned slot) {
  write(regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlResume.put(1));
  run(3);
  if (kernels_[slot]) kernels_[slot]->evicted = false;
  disturbed();
}

void EdgesWorld::flush(unsigned slot) {
  allowed_ |= regs::kErrorBadKernel.put(1);
  if (kernels_[slot]) kernels_[slot]->flush_asked = true;
  command(slot, regs::kSlotCtrlFlush.put(1));
}

/// The front end does not launch for this context meanwhile, so that what the port has taken of it is what the flush meets.
void EdgesWorld::flush_context(std::uint8_t context) {
  for (auto& kernel : kernels_)
    if (kernel && kernel->of_the_port && kernel->launch.context == context) kernel->flush_asked = true;
  for (Taken& taken : taken_) taken.purged |= taken.launch.context == context;
  write(regs::kControl, regs::kControlFlushContext.put(1) | regs::kControlContext.put(context));
}

void EdgesWorld::flush_all() {
  for (auto& kernel : kernels_)
    if (kernel) kernel->flush_asked = true;
  for (Taken& taken : taken_) taken.purged = true;
  write(regs::kControl, regs::kControlFlushAll.put(1));
}

void EdgesWorld::give_to_port(std::uint32_t slots) {
  port_slots_ |= slots;
  write(regs::kPortSlots, slots);
  run(4);
  port_slots_ = slots;
}

void EdgesWorld::revive() {
  for (Sm& sm : sms_) sm.hung_until = 0;
  hang_next_ = stuck_until_ = 0;
}

/// What happens while the registers are read may be in them, or not yet.
void EdgesWorld::check_errors() {
  const std::uint32_t must = expected_, done = done_;
  recent_ = recently_done_ = 0;
  run(20);
  const std::uint32_t found = read(regs::kError);
  if ((found & ~(allowed_ | expected_)) != 0 || (must & ~found) != 0)
    fail(fmt::format("ERROR is {:#x}: must have {:#x}, may have {:#x}", found, must, expected_ | allowed_));
  write(regs::kError, found);
  expected_ &= ~found;
  allowed_ = recent_;
  const std::uint32_t told_done = read(regs::kKernelDone);
  if ((done & ~told_done) != 0 || (told_done & ~(done_ | may_be_done_)) != 0)
    fail(fmt::format("KERNEL_DONE is {:#x}: must have {:#x}, may have {:#x}", told_done, done, done_ | may_be_done_));
  write(regs::kKernelDone, told_done);
  done_ &= ~told_done;
  may_be_done_ = recently_done_;
}

void EdgesWorld::check_rest() {
  std::uint32_t busy = 0;
  for (std::uint32_t word = 0; parameters_.sm_enable != 0 && 32 * word < parameters_.num_sm; ++word)
    busy |= read(regs::kSmBusy + 4 * word);
  if (busy != 0) fail("SM_BUSY although nothing runs");
  if (parameters_.launch_queue != 0 && read(regs::kQueue) != 0) fail("QUEUE is not 0 although nothing waits");
  for (unsigned k = 0; k < parameters_.max_kernels; ++k)
    if (read(regs::slot(k, regs::kSlotStatus)) != 0) fail(fmt::format("slot {} is not FREE", k));
  for (unsigned c = 0; c < 3000 && !top_->outputs().idle; ++c) run(1);
  if (!top_->outputs().idle) fail("idle_o does not rise although nothing runs");
}

std::uint64_t EdgesWorld::flush_limit(unsigned kernels) const {
  const std::uint64_t sms = parameters_.num_sm;
  return kernels * (sms + 8) + sms * parameters_.max_ctas + 3 * parameters_.launch_queue + 10;
}

void EdgesWorld::wait(const char* what, std::uint64_t limit, const std::function<bool()>& done) {
  const std::uint64_t begin = now_;
  excused_ = 0;
  while (!done() && wrong_.empty()) {
    run(1);
    if (now_ - begin > limit + excused_) fail(fmt::format("{}: not done after {} cycles, {} excused", what, limit, excused_));
  }
  counts_.longest_flush = std::max(counts_.longest_flush, now_ - begin - std::min(excused_, now_ - begin));
}

}  // namespace sluice::tb
