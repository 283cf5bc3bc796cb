// SPDX-License-Identifier: Apache-2.0
#include "tb/sluice_top/top_traffic.h"

#include <algorithm>

namespace sluice::tb {

namespace {
constexpr std::uint32_t kMaxShared = 233472;                            ///< bytes of the largest SM
constexpr std::uint32_t kAnyRegisters = 0x1ffff, kAnyShared = 0x3ffff;  ///< what the fields hold
}  // namespace

TopTraffic::TopTraffic(Random& random, const regs::Parameters& parameters)
    : random_(random),
      parameters_(parameters),
      axi_(
          random, [this] { return next_write(); }, [this] { return next_read(); }) {
  in_.sms.resize(parameters.num_sm);
  paces_.resize(parameters.num_sm);
  stalled_ = parameters.num_sm;
  plan_machine();
}

void TopTraffic::plan_machine(bool all_slots) {
  const auto rarely = [this](std::uint32_t low, std::uint32_t high, std::uint32_t usual) {
    return random_.chance(0.03) ? random_.in(low, high) : usual;
  };
  slots_ = random_.in(1, parameters_.max_ctas);
  warps_ = random_.in(8, 64);
  registers_ = random_.chance(0.1) ? 65536 : random_.in(4096, 65536);
  shared_ = random_.in(0, random_.chance(0.3) ? kMaxShared : 131072);
  for (unsigned k = 0; k < parameters_.max_kernels; ++k)
    script_.push_back({regs::slot(k, regs::kSlotCtrl), regs::kSlotCtrlStop.put(1)});
  if (all_slots) script_.push_back({regs::kPortSlots, 0});
  for (unsigned i = all_slots ? 800 : 40; i > 0; --i)
    script_.push_back({regs::kIrqEnable, random_.word() & 0xf});  // time to drain
  script_.push_back({regs::kCapWarps, warps_});
  script_.push_back({regs::kCapRegisters, registers_});
  script_.push_back({regs::kCapShared, shared_});
  script_.push_back({regs::kCapSlots, slots_});
  script_.push_back({regs::kWarmUp, rarely(601, (1U << 20) - 1, random_.chance(0.2) ? 0 : random_.in(1, 600))});
  script_.push_back({regs::kWindow, rarely(1501, 65535, random_.in(1024, 1500))});
  script_.push_back({regs::kDelay, rarely(41, 65535, random_.chance(0.5) ? 0 : random_.in(1, 40))});
  script_.push_back({regs::kEpsilon, random_.chance(0.5) ? 0 : random_.in(0, random_.chance(0.8) ? 2000 : 16384)});
  script_.push_back({regs::kLossLimit, random_.chance(0.5) ? 19661 : random_.in(0, random_.chance(0.7) ? 8192 : 65535)});
  script_.push_back({regs::kRequestShare, random_.chance(0.4) ? 0 : rarely(1, 8191, random_.in(1, 1200))});
  script_.push_back({regs::kDrainLimit, rarely(2, 255, random_.chance(0.5) ? 0 : 1)});
  script_.push_back({regs::kMonitorWindow, rarely(16, 65535, random_.in(64, 400))});
  script_.push_back({regs::kMonitorHold, rarely(4, 255, random_.in(1, 3))});
  script_.push_back({regs::kMonitor, regs::kMonitorEnable.put(random_.chance(0.4)) |
                                         regs::kMonitorThreshold.put(random_.in(0, random_.chance(0.8) ? 8000 : 32767))});
  script_.push_back({regs::kMode, random_.chance(0.7) ? 5 : random_.in(0, 5)});
  if (parameters_.sm_enable != 0) plan_sms();
  if (all_slots) launches_ = 0;
  if (parameters_.launch_queue == 0 || all_slots) return;
  launches_ = random_.chance(0.5) ? 0.0 : random_.chance(0.7) ? 0.002 : 0.1;
  script_.push_back(
      {regs::kPortSlots, launches_ == 0 && random_.chance(0.5) ? 0 : random_.in(0, (1U << parameters_.max_kernels) - 1)});
}

/// A launch stays at the port until it is taken.
void TopTraffic::launch_at_the_port() {
  if (in_.launch.valid && !launch_taken_) return;
  in_.launch.valid = random_.chance(launches_);
  if (!in_.launch.valid) return;
  const auto b16 = [this](std::uint32_t low, std::uint32_t high) { return static_cast<std::uint16_t>(random_.in(low, high)); };
  LaunchRequest& l = in_.launch.launch;
  const bool huge = random_.chance(0.05);
  l.warps = random_.in(huge ? 0 : 1, huge ? 127 : std::max(1U, warps_ / 4));
  l.registers = random_.in(0, huge ? kAnyRegisters : registers_ / 4);
  l.shared_bytes = random_.chance(0.5) ? 0 : random_.in(0, huge ? kAnyShared : shared_ / 4);
  l.size_x = random_.chance(0.7) ? random_.in(1, 8) : random_.in(1, ~0U);
  l.size_y = random_.chance(0.7) ? b16(1, 8) : b16(1, 65535);
  l.start_x = random_.chance(0.5) ? 0 : random_.in(0, l.size_x - 1);
  l.start_y = random_.chance(0.5) ? std::uint16_t{0} : b16(0, l.size_y - 1U);
  l.start_z = random_.chance(0.5) ? std::uint16_t{0} : b16(0, 60000);
  l.ctas = random_.chance(0.02)  ? 0
           : random_.chance(0.8) ? random_.in(1, 100)
           : random_.chance(0.8) ? random_.in(1, 3000)
                                 : random_.word();
  l.context = static_cast<std::uint8_t>(random_.in(0, random_.chance(0.8) ? 2 : 255));
  l.priority = static_cast<std::uint8_t>(random_.in(0, 7));
}

/// Some SMs are disabled, or all enabled.
void TopTraffic::plan_sms() {
  const bool all = random_.chance(0.6);
  for (std::uint32_t word = 0; 32 * word < parameters_.num_sm; ++word)
    script_.push_back({regs::kSmEnable + 4 * word, all ? ~0U : random_.word() | random_.word()});
}

/// Two or more kernels that stay, and a host that lets them be profiled; sometimes in a long window, sometimes watched by the
/// phase monitor, with a loss limit that often leads to whole SMs for each.
void TopTraffic::plan_decision() {
  plan_machine(few_decisions());
  const auto set = [this](std::uint32_t address, std::uint32_t data) { script_.push_back({address, data}); };
  quiet_until_ = now_ + life() * 5 / 4 + random_.in(4000, 9000);
  if (random_.chance(0.08)) {
    const std::uint32_t window = std::min(65535U, random_.in(1024, 2048) << random_.in(0, 5));
    set(regs::kWindow, window);
    quiet_until_ += 3 * window;
  } else if (random_.chance(0.3)) {
    set(regs::kMonitorWindow, random_.in(64, 200));
    set(regs::kMonitor, regs::kMonitorEnable.put(1) | regs::kMonitorThreshold.put(random_.in(0, 4000)));
    set(regs::kLossLimit, random_.chance(0.5) ? 0 : 19661);
    quiet_until_ += 8000;
  }
  set(regs::kMode, 5);  // DYNAMIC
  const unsigned kernels = random_.in(2, parameters_.max_kernels), first = random_.in(0, parameters_.max_kernels - 1);
  const bool together = random_.chance(0.6);
  for (unsigned i = 0; i < kernels; ++i) {
    plan_launch((first + i) % parameters_.max_kernels);
    script_.back().data |= regs::kSlotCtrlRepeat.put(1) | regs::kSlotCtrlWait.put(together);
  }
  if (together) set(regs::kControl, regs::kControlGo.put(1));
  ask_again_ = random_.chance(0.4);
}

/// Other SMs, another mode, or other kernels, in turn.
void TopTraffic::plan_change() {
  const unsigned slot = random_.in(0, parameters_.max_kernels - 1);
  switch (changes_++ % 4) {
    case 0: plan_sms(); break;
    case 1: script_.push_back({regs::kMode, random_.in(0, 4)}); break;
    case 2: script_.push_back({regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlFlush.put(1)}); break;
    default: stop(slot); break;
  }
}

/// A kernel of small CTAs fills the SMs for longer than PATIENCE says; the other needs a whole SM. Not in LEFT_OVER: once the
/// grid of the first begins again there, it is the turn of the second, and nothing is given to the first meanwhile. An SM is
/// never empty by chance: it has all its slots, CTAs are long, and SMs are ready.
void TopTraffic::plan_long_wait() {
  plan_machine(true);
  script_.push_back({regs::kCapSlots, slots_ = parameters_.max_ctas});
  script_.push_back({regs::kMode, static_cast<std::uint32_t>(Mode::Fcfs)});
  life_ = 800;
  sm_ready_ = 1;
  stalled_ = parameters_.num_sm;
  for (const unsigned k : {0U, 1U}) {
    if (parameters_.priority != 0) script_.push_back({regs::slot(k, regs::kSlotPriority), 0});
    for (const std::uint32_t demand : {regs::kSlotRegisters, regs::kSlotShared}) script_.push_back({regs::slot(k, demand), 0});
    script_.push_back({regs::slot(k, regs::kSlotWarps), k == 0 ? 1 : warps_});
    script_.push_back({regs::slot(k, regs::kSlotGrid), 1000});
    script_.push_back({regs::slot(k, regs::kSlotCtrl), regs::kSlotCtrlLaunch.put(1) | regs::kSlotCtrlRepeat.put(1)});
  }
  quiet_until_ = no_reset_until_ = now_ + (2U << parameters_.patience) + 40000;
  long_wait_at_ = now_ + 600000;
}

void TopTraffic::plan_launch(unsigned k) {
  const bool huge = random_.chance(0.03);
  script_.push_back({regs::slot(k, regs::kSlotWarps), random_.in(huge ? 0 : 1, huge ? 127 : std::max(1U, warps_ / 4))});
  script_.push_back({regs::slot(k, regs::kSlotRegisters), random_.in(0, huge ? kAnyRegisters : registers_ / 4)});
  script_.push_back({regs::slot(k, regs::kSlotShared), random_.chance(0.5) ? 0 : random_.in(0, huge ? kAnyShared : shared_ / 4)});
  script_.push_back({regs::slot(k, regs::kSlotGrid), random_.chance(0.3)   ? random_.in(1, 100)
                                                     : random_.chance(0.1) ? random_.word()
                                                                           : random_.in(1000, 100000)});
  if (parameters_.priority != 0)
    script_.push_back({regs::slot(k, regs::kSlotPriority), random_.in(0, random_.chance(0.5) ? 1 : 7)});
  script_.push_back({regs::slot(k, regs::kSlotCtrl), regs::kSlotCtrlLaunch.put(1) |
                                                         regs::kSlotCtrlRepeat.put(random_.chance(0.3)) |
                                                         regs::kSlotCtrlWait.put(random_.chance(0.1))});
}

/// In any mode in which no kernel can be kept out.
void TopTraffic::plan_end() {
  script_.clear();
  quiet_until_ = no_reset_until_ = patience_ = 0;
  change_at_ = leave_at_ = ~0ULL;
  ask_again_ = false;
  life_ = 20;
  launches_ = 0;
  stalled_ = parameters_.num_sm;
  sm_ready_ = 1;
  script_.push_back({regs::kControl, regs::kControlGo.put(1)});
  script_.push_back({regs::kMode, std::array{0U, 1U, 2U, 3U, 5U}.at(random_.in(0, 4))});
  if (parameters_.launch_queue != 0) script_.push_back({regs::kPortSlots, (1U << parameters_.max_kernels) - 1});
  for (std::uint32_t word = 0; parameters_.sm_enable != 0 && 32 * word < parameters_.num_sm; ++word)
    script_.push_back({regs::kSmEnable + 4 * word, ~0U});
  for (unsigned k = 0; k < parameters_.max_kernels; ++k)
    script_.push_back({regs::slot(k, regs::kSlotCtrl), regs::kSlotCtrlResume.put(1)});
}

void TopTraffic::let_all_end() {
  ending_ = true;
  plan_end();
}

void TopTraffic::stop(unsigned slot) { script_.push_back({regs::slot(slot, regs::kSlotCtrl), regs::kSlotCtrlStop.put(1)}); }

void TopTraffic::go_on() {
  ending_ = false;
  plan_machine();
}

/// One kernel is killed, or all of a context.
void TopTraffic::plan_flush(unsigned k) {
  if (random_.chance(0.6))
    script_.push_back({regs::slot(k, regs::kSlotCtrl), regs::kSlotCtrlFlush.put(1)});
  else
    script_.push_back({regs::kControl, regs::kControlFlushContext.put(1) |
                                           regs::kControlContext.put(random_.chance(0.5) ? 0 : random_.in(1, 3))});
}

/// Anywhere: often to a register and with every byte, and then a value of any size.
void TopTraffic::plan_any_write() {
  const bool whole = random_.chance(0.5);
  const std::uint32_t address = random_.in(0, random_.chance(0.9) ? 0x7ff : 0xfff);
  script_.push_back({whole ? address & ~3U : address, random_.word() >> (whole ? random_.in(0, 31) : 0),
                     whole ? std::uint8_t{15} : static_cast<std::uint8_t>(random_.in(0, 15))});
}

/// Something that a host does.
void TopTraffic::plan_action() {
  const unsigned k = random_.in(0, parameters_.max_kernels - 1);
  switch (random_.in(0, 19)) {
    case 0: script_.push_back({regs::slot(k, regs::kSlotCtrl), regs::kSlotCtrlStop.put(1)}); break;
    case 1:
    case 12:
    case 13: script_.push_back({regs::kMode, random_.chance(0.2) ? 5 : random_.in(0, random_.chance(0.1) ? 7 : 4)}); break;
    case 2:
      script_.push_back(
          {regs::slot(k, regs::kSlotCtrl),
           regs::kSlotCtrlEvict.put(1) | regs::kSlotCtrlEvictCount.put(random_.in(0, random_.chance(0.1) ? 65535 : 40))});
      break;
    case 3:
    case 4: script_.push_back({regs::slot(k, regs::kSlotCtrl), regs::kSlotCtrlResume.put(1)}); break;
    case 5: script_.push_back({regs::slot(k, regs::kSlotQuota), random_.in(0, parameters_.max_ctas)}); break;
    case 6:
    case 7:
      for (std::uint32_t word = 0; 32 * word < parameters_.num_sm; ++word)
        script_.push_back({regs::slot(k, regs::kSlotMask) + 4 * word, random_.chance(0.5) ? ~0U : random_.word()});
      break;
    case 8: script_.push_back({regs::kControl, random_.in(1, 3)}); break;
    case 14:
    case 15: parameters_.flush != 0 ? plan_flush(k) : plan_launch(k); break;
    case 9: plan_any_write(); break;
    case 10:
      if (random_.chance(0.3)) plan_machine();
      break;
    case 11: parameters_.sm_enable != 0 && random_.chance(0.5) ? plan_sms() : plan_launch(k); break;
    default: plan_launch(k); break;
  }
}

AxiWrite TopTraffic::next_write() {
  if (script_.empty() && ending_) return {random_.chance(0.5) ? regs::kIrqStatus : regs::kError, 0xffffffff};
  if (script_.empty()) {
    if (patience_ > 0 || now_ < quiet_until_) {  // clearing what is there to clear is the host's idle work
      if (patience_ > 0) --patience_;
      if (parameters_.flush != 0 && now_ >= quiet_until_ && random_.chance(0.003)) {
        plan_flush(random_.in(0, parameters_.max_kernels - 1));
        return next_write();
      }
      if (now_ >= change_at_) {
        change_at_ = ~0ULL;
        plan_change();
      } else if (now_ >= leave_at_) {
        leave_at_ = ~0ULL;
        stop(random_.in(0, parameters_.max_kernels - 1));
      }
      return {random_.chance(0.5) ? regs::kIrqStatus : regs::kError, 0xffffffff};
    }
    if (ask_again_) {
      ask_again_ = false;
      quiet_until_ = now_ + life() + random_.in(10, 5000);
      return {regs::kControl, 1};  // REPROFILE
    }
    patience_ = random_.chance(0.15) ? random_.in(500, 1500) : random_.in(0, 30);
    if (parameters_.patience > 12 && now_ >= long_wait_at_)
      plan_long_wait();
    else
      random_.chance(few_decisions() ? 0.12 : 0.15) ? plan_decision() : plan_action();
  }
  if (script_.empty()) return {regs::kError, 0xffffffff};
  const AxiWrite write = script_.front();
  script_.pop_front();
  return write;
}

std::uint32_t TopTraffic::next_read() { return random_.chance(0.05) ? random_.in(0, 0xfff) : 4 * random_.in(0, 0x1ff); }

const SluiceTopIn& TopTraffic::next() {
  ++now_;
  const bool as_it_is = ending_ || now_ < no_reset_until_;  // what SMs and CTAs are like
  if (!as_it_is && random_.chance(0.0005)) life_ = random_.in(1, 800);
  in_.rst_n = !random_.chance(1.0 / (few_decisions() && window_ ? 20000 : 50000 + 4 * life())) || now_ < no_reset_until_;
  in_.axi = axi_.next();
  in_.dispatch_ready = random_.chance(0.9);
  if (parameters_.launch_queue != 0) launch_at_the_port();
  if (parameters_.sm_ready != 0 && !as_it_is && random_.chance(0.001))
    sm_ready_ = random_.chance(0.6) ? 1 : random_.chance(0.5) ? 0.5 : 0.1;
  if (parameters_.sm_ready != 0 && !as_it_is && random_.chance(0.0005)) stalled_ = random_.in(0, 2 * parameters_.num_sm - 1);
  for (std::uint32_t m = 0; parameters_.sm_ready != 0 && m < parameters_.num_sm; ++m)
    in_.sm_ready[m] = m != stalled_ && random_.chance(sm_ready_);
  in_.done_valid = false;
  const auto due = std::ranges::find_if(running_, [this](const Cta& c) { return c.ends <= now_; });
  if (due != running_.end()) {
    report(*due);
  } else if (!late_.empty() && random_.chance(0.1)) {
    report(late_.front());
    late_.pop_front();
  } else if (random_.chance(0.001)) {  // nothing there, most likely
    Cta cta{now_, static_cast<std::uint8_t>(random_.in(0, 255)), static_cast<std::uint8_t>(random_.in(0, 31)),
            static_cast<std::uint8_t>(random_.in(0, 7)), static_cast<std::uint8_t>(random_.in(0, 15))};
    const auto there = std::ranges::find_if(running_, [&cta](const Cta& c) { return c.sm == cta.sm && c.slot == cta.slot; });
    report(there == running_.end() ? cta : *there);
  }
  run_sms();
  return in_;
}

void TopTraffic::report(const Cta& cta) {
  in_.done_valid = true;
  in_.done_sm = cta.sm;
  in_.done_slot = cta.slot;
  in_.done_kernel = cta.kernel;
  in_.done_tag = cta.tag;
}

/// The SMs give up what the unit gives up; some report it nevertheless.
void TopTraffic::give_up(const SluiceTopOut& out) {
  const auto mine = [&out](const Cta& c) { return c.kernel == out.flush_kernel && c.tag == out.flush_tag; };
  for (const Cta& c : running_) {
    if (mine(c) && random_.chance(0.5)) late_.push_back(c);
  }
  given_up_ += static_cast<std::uint64_t>(std::erase_if(running_, mine));
  while (late_.size() > 16) late_.pop_front();  // or their tags come round again
}

void TopTraffic::run_sms() {
  if (random_.chance(0.002)) {
    paces_[random_.in(0, parameters_.num_sm - 1)] = {random_.in(0, 256), random_.in(0, 64), random_.in(0, 256),
                                                     static_cast<std::uint8_t>(random_.in(0, parameters_.max_kernels - 1))};
  }
  for (std::size_t m = 0; m < in_.sms.size(); ++m) {
    SmActivity& sm = in_.sms[m];
    const Pace& pace = paces_[m];
    const std::uint32_t issue = random_.word(), other = random_.word();
    sm.issue_valid = 0;
    for (unsigned s = 0; s < parameters_.num_sched; ++s) {
      if ((issue >> (8 * s) & 0xff) < pace.busy) sm.issue_valid |= static_cast<std::uint8_t>(1U << s);
      const bool favoured = (other >> (6 * s) & 0x3f) < pace.favoured;
      sm.issue_kernel[s] = favoured ? pace.kernel : static_cast<std::uint8_t>(random_.in(0, parameters_.max_kernels - 1));
    }
    sm.request = other >> 24 < pace.requests;
  }
}

void TopTraffic::observe(const SluiceTopOut& out) {
  axi_.observe(out.axi, in_.rst_n);
  if (!in_.rst_n) {
    running_.clear();
    late_.clear();
    script_.clear();
    quiet_until_ = 0;
    ask_again_ = false;
    launch_taken_ = true;
    window_ = false;
    ending_ ? plan_end() : plan_machine();
    return;
  }
  launch_taken_ = out.launch_ready;
  if (few_decisions() && out.profile_window && !window_) {  // what must happen in one, or after it, is not left to chance
    if (random_.chance(0.2)) change_at_ = now_ + random_.in(0, 1000);
    if (random_.chance(0.3)) leave_at_ = now_ + random_.in(6000, 9000);
  }
  window_ = out.profile_window;
  if (in_.done_valid) {
    ended_ += static_cast<std::uint64_t>(std::erase_if(running_, [this](const Cta& c) {
      return c.sm == in_.done_sm && c.slot == in_.done_slot && c.kernel == in_.done_kernel && c.tag == in_.done_tag;
    }));
  }
  if (out.dispatch_valid && in_.dispatch_ready) {
    ++dispatched_;
    running_.push_back(
        {now_ + random_.in(1, 2 * life_), out.dispatch_sm, out.dispatch_slot, out.dispatch_kernel, out.dispatch_tag});
  }
  if (out.flush_valid) give_up(out);
}

}  // namespace sluice::tb
