// SPDX-License-Identifier: Apache-2.0
#include "tb/sluice_top/edges_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sluice::tb {

namespace {
constexpr std::uint32_t kLife = 400;       ///< cycles that a CTA lasts at most, on an SM that does not hang
constexpr std::uint32_t kReports = 130;    ///< cycles that a report waits for others at most
constexpr std::uint64_t kLateWithin = 3000;
constexpr unsigned kTagMoves = 14;         ///< an SM forgets a CTA that was given up before its tag comes round
}  // namespace

EdgesWorld::EdgesWorld(std::unique_ptr<ISluiceTop> top, const regs::Parameters& parameters, std::uint64_t seed)
    : top_(std::move(top)),
      parameters_(parameters),
      random_(seed),
      bus_([this](const AxiLiteIn& pins) { return cycle(pins); }),
      sms_(parameters.num_sm) {
  in_.sms.resize(parameters.num_sm);
  configure();
}

void EdgesWorld::fail(const std::string& what) {
  if (wrong_.empty()) wrong_ = fmt::format("cycle {}: {}", now_, what);
}

bool EdgesWorld::empty() const {
  return taken_.empty() && std::ranges::none_of(kernels_, [](const auto& k) { return k.has_value(); });
}

/// A launch that is handed back is told of in its turn, behind those of others.
bool EdgesWorld::has_context(std::uint8_t context) const {
  return (!taken_.empty() && taken_.front().launch.context == context) ||
         std::ranges::any_of(kernels_, [&](const auto& k) { return k && k->of_the_port && k->launch.context == context; });
}

void EdgesWorld::write(std::uint32_t address, std::uint32_t data) {
  if (!bus_.write32(address, data)) fail(fmt::format("a write to {:#x} is refused", address));
}

std::uint32_t EdgesWorld::read(std::uint32_t address) {
  const auto data = bus_.read32(address);
  if (!data) fail(fmt::format("a read of {:#x} is refused", address));
  return data.value_or(0);
}

void EdgesWorld::configure() {
  capacity_ = {.warps = random_.in(16, 64), .registers = 65536, .shared_bytes = 131072,
               .ctas = random_.chance(0.3) ? random_.in(1, parameters_.max_ctas) : parameters_.max_ctas};
  mode_ = Mode::LeftOver;
  static_ = {};
  for (const auto& [address, data] : {std::pair(regs::kCapWarps, capacity_.warps), {regs::kCapRegisters, capacity_.registers},
                                      {regs::kCapShared, capacity_.shared_bytes}, {regs::kCapSlots, capacity_.ctas},
                                      {regs::kWarmUp, 300U}, {regs::kWindow, 1024U}, {regs::kDrainLimit, 1U},
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

LaunchRequest EdgesWorld::some_launch() {
  LaunchRequest l;
  const bool large = random_.chance(0.1);
  l.warps = random_.in(1, large ? capacity_.warps : std::max(1U, capacity_.warps / 4));
  l.registers = random_.in(0, capacity_.registers / (large ? 1 : 4));
  l.shared_bytes = random_.chance(0.5) ? 0 : random_.in(0, capacity_.shared_bytes / (large ? 1 : 4));
  l.ctas = random_.chance(0.6) ? random_.in(1, 60) : random_.chance(0.9) ? random_.in(1, 1500) : random_.in(20000, 200000);
  if (random_.chance(0.03)) l.warps = random_.chance(0.5) ? 0 : capacity_.warps + 1;
  l.size_x = random_.in(1, 7);
  l.size_y = static_cast<std::uint16_t>(random_.in(1, 5));
  l.start_x = random_.in(0, l.size_x - 1);
  l.start_y = static_cast<std::uint16_t>(random_.in(0, l.size_y - 1U));
  l.start_z = static_cast<std::uint16_t>(random_.in(0, 9));
  l.context = static_cast<std::uint8_t>(random_.in(1, 3));
  l.priority = static_cast<std::uint8_t>(random_.in(0, 7));
  return l;
}

bool EdgesWorld::can_fit(const LaunchRequest& l) const {
  return l.warps != 0 && l.ctas != 0 && l.warps <= capacity_.warps && l.registers <= capacity_.registers &&
         l.shared_bytes <= capacity_.shared_bytes;
}

bool EdgesWorld::room(const Kernel& kernel, const Sm& sm) const {
  return sm.ctas.size() < capacity_.ctas && sm.warps + kernel.launch.warps <= capacity_.warps &&
         sm.registers + kernel.launch.registers <= capacity_.registers &&
         sm.shared + kernel.launch.shared_bytes <= capacity_.shared_bytes;
}

void EdgesWorld::launch(unsigned slot) {
  if (kernels_[slot] || (port_slots_ >> slot & 1U) != 0) return;
  LaunchRequest l = some_launch();
  l.context = l.priority = 0;
  const std::uint32_t priority = random_.in(0, 7);
  for (const auto& [offset, data] : {std::pair(regs::kSlotWarps, l.warps), {regs::kSlotRegisters, l.registers},
                                     {regs::kSlotShared, l.shared_bytes}, {regs::kSlotGrid, l.ctas}})
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

void EdgesWorld::disturbed() {
  unused_ = 0;
  for (auto& kernel : kernels_)
    if (kernel) kernel->waits = kernel->hung_waiting = 0;
}

void EdgesWorld::end(Sm& sm, std::uint8_t slot) {
  const Cta& cta = sm.ctas.at(slot);
  Kernel& kernel = *kernels_[cta.kernel];
  --kernel.running;
  sm.warps -= kernel.launch.warps;
  sm.registers -= kernel.launch.registers;
  sm.shared -= kernel.launch.shared_bytes;
  sm.ctas.erase(slot);
}

void EdgesWorld::drive_reports() {
  in_.done_valid = false;
  const auto report = [this](const Cta& cta) {
    in_.done_valid = true;
    std::tie(in_.done_sm, in_.done_slot, in_.done_kernel, in_.done_tag) = std::tuple(cta.sm, cta.slot, cta.kernel, cta.tag);
  };
  const Cta* due = nullptr;
  for (std::size_t m = 0; m < sms_.size(); ++m) {
    if (hung(m)) continue;
    for (const auto& [slot, cta] : sms_[m].ctas)
      if (!cta.endless && cta.ends <= now_ && (due == nullptr || cta.ends < due->ends)) due = &cta;
  }
  if (due != nullptr) return report(*due);
  if (!late_.empty() && random_.chance(0.02)) {
    const Cta cta = late_.front();
    late_.pop_front();
    if (moves_[cta.kernel] - cta.moves >= kTagMoves || cta.ends + kLateWithin < now_) return;
    ++counts_.late;
    return report(cta);
  }
  if (!nonsense_ || parameters_.max_ctas > 31) return;
  const auto k = random_.in(0, parameters_.max_kernels - 1);
  if (parameters_.flush != 0 && (!kernels_[k] || !kernels_[k]->tag || kernels_[k]->flush_asked)) return;
  nonsense_ = false;
  expect(regs::kErrorBadDone);
  ++counts_.bad_reports;
  report({.sm = static_cast<std::uint8_t>(random_.in(0, parameters_.num_sm - 1)),
          .slot = static_cast<std::uint8_t>(parameters_.max_ctas),  // no SM has it
          .kernel = static_cast<std::uint8_t>(k),
          .tag = kernels_[k]->tag.value_or(0)});
}

void EdgesWorld::drive_activity() {
  SmActivity& sm = in_.sms[now_ % parameters_.num_sm];
  const std::uint32_t word = random_.word();
  sm.issue_valid = static_cast<std::uint8_t>(word & ((1U << parameters_.num_sched) - 1));
  for (unsigned s = 0; s < parameters_.num_sched; ++s)
    sm.issue_kernel[s] = static_cast<std::uint8_t>((word >> (8 + 4 * s)) % parameters_.max_kernels);
  sm.request = (word >> 30) == 0;
}

void EdgesWorld::drive() {
  in_.dispatch_ready = now_ >= stuck_until_ && random_.chance(0.9);
  for (std::size_t m = 0; m < sms_.size(); ++m) in_.sm_ready[m] = !hung(m);
  if (!in_.launch.valid && parameters_.launch_queue != 0 && random_.chance(rate_)) {
    in_.launch = {true, some_launch()};
    if (in_.launch.launch.context == silent_) in_.launch.valid = false;
  }
  drive_reports();
  drive_activity();
}

void EdgesWorld::finish(unsigned slot) {
  done_ |= 1U << slot;
  recently_done_ |= 1U << slot;
  if (!kernels_[slot]) return fail(fmt::format("slot {} ends a kernel, and has none", slot));
  const Kernel& kernel = *kernels_[slot];
  if (kernel.running != 0) fail(fmt::format("slot {} ends, but {} of its CTAs run", slot, kernel.running));
  if (!kernel.stopped && !kernel.flush_asked && kernel.next != kernel.launch.ctas)
    fail(fmt::format("slot {} ends after {} of {} CTAs", slot, kernel.next, kernel.launch.ctas));
  ++(kernel.flushed ? counts_.flushed : kernel.next == kernel.launch.ctas ? counts_.completed : counts_.stopped);
  kernels_[slot].reset();
  disturbed();
}

/// The oldest launch that the port took: in a slot, refused, or handed back.
void EdgesWorld::told(const SluiceTopOut& out) {
  if (taken_.empty()) return fail("the port tells of a launch that was not made");
  const auto [launch, purged] = taken_.front();
  taken_.pop_front();
  if (out.launched_flushed) {
    if (!purged) fail("a launch is handed back that no flush met");
    ++counts_.handed_back;
  } else if (out.launched_refused) {
    if (can_fit(launch)) fail("a launch that fits is refused");
    expect(regs::kErrorCannotFit);
    ++counts_.refused;
  } else {
    const unsigned k = out.launched_kernel;
    if (!can_fit(launch)) fail("a launch that can't fit is made");
    if (kernels_[k]) fail(fmt::format("slot {} takes a second kernel", k));
    if ((port_slots_ >> k & 1U) == 0) fail(fmt::format("slot {} is not the port's", k));
    kernels_[k] = Kernel{.launch = launch, .of_the_port = true, .stopped = commanded_[k] > now_, .flush_asked = purged || commanded_[k] > now_, .endless = random_.chance(0.03)};
    disturbed();
  }
}

void EdgesWorld::start(const SluiceTopOut& out) {
  const unsigned k = out.dispatch_kernel, m = out.dispatch_sm;
  if (k >= kernels_.size() || !kernels_[k]) return fail(fmt::format("a CTA of slot {} starts, which has no kernel", k));
  Kernel& kernel = *kernels_[k];
  const LaunchRequest& l = kernel.launch;
  if (m >= sms_.size()) return fail(fmt::format("a CTA starts on SM {}", m));
  Sm& sm = sms_[m];
  if (out.dispatch_cta != kernel.next || kernel.next >= l.ctas)
    fail(fmt::format("slot {}: CTA {} of {} starts, expected {}", k, out.dispatch_cta, l.ctas, kernel.next));
  if (hung(m)) fail(fmt::format("a CTA starts on SM {}, which is not ready", m));
  if (sm.ctas.contains(out.dispatch_slot) || out.dispatch_slot >= capacity_.ctas)
    return fail(fmt::format("SM {}: CTA slot {} is taken, or is none", m, out.dispatch_slot));
  if (!room(kernel, sm)) fail(fmt::format("SM {} can't hold a CTA of slot {}", m, k));
  if (parameters_.launch_queue != 0 && kernel.of_the_port) {
    const std::uint64_t x = std::uint64_t{l.start_x} + kernel.next, y = l.start_y + x / l.size_x;
    const GridPlace place{static_cast<std::uint32_t>(x % l.size_x), static_cast<std::uint16_t>(y % l.size_y),
                          static_cast<std::uint16_t>(l.start_z + y / l.size_y), l.context, l.priority};
    if (!(place == out.dispatch_place)) fail(fmt::format("CTA {} of slot {} is at the wrong place of its grid", kernel.next, k));
  }
  if (parameters_.flush != 0) {
    if (kernel.tag.value_or(out.dispatch_tag) != out.dispatch_tag) fail(fmt::format("CTAs of slot {} have two tags", k));
    for (const Cta& cta : late_)
      if (cta.kernel == k && cta.tag == out.dispatch_tag && moves_[k] - cta.moves < kTagMoves)
        fail(fmt::format("a CTA of slot {} has the tag of one that may still report", k));
  }
  kernel.tag = out.dispatch_tag;
  const auto held = std::ranges::count_if(sm.ctas, [k](const auto& c) { return c.second.kernel == k; });
  const Static& quota = static_[k];
  if (mode_ == Mode::Static && quota.since < now_ && now_ > 40 &&
      ((m < 32 && (quota.mask >> m & 1U) == 0) || (quota.quota < parameters_.max_ctas && held >= quota.quota)))
    fail(fmt::format("slot {} has a quota of {} on SM {}, and holds {} already", k, quota.quota, m, held));
  ++kernel.next;
  ++kernel.running;
  ++counts_.ctas;
  kernel.waits = kernel.hung_waiting = 0;
  unused_ = 0;
  sm.warps += l.warps;
  sm.registers += l.registers;
  sm.shared += l.shared_bytes;
  sm.ctas[out.dispatch_slot] = {static_cast<std::uint8_t>(m), out.dispatch_slot, static_cast<std::uint8_t>(k), out.dispatch_tag,
                                kernel.endless && random_.chance(0.2), now_ + random_.in(1, kLife), 0};
  if (hang_next_ == 0 || parameters_.sm_ready == 0) return;
  sm.hung_until = now_ + hang_next_;
  hang_next_ = 0;
  ++counts_.hangs;
  for (auto& other : kernels_)
    if (other) ++other->hung_waiting;
}

void EdgesWorld::give_up(const SluiceTopOut& out) {
  const unsigned k = out.flush_kernel;
  if (!kernels_[k] || !kernels_[k]->flush_asked) return fail(fmt::format("slot {} is flushed, and nobody asked for it", k));
  kernels_[k]->flushed = true;
  ++moves_[k];
  for (Sm& sm : sms_) {
    for (std::uint8_t slot = 0; slot < 32; ++slot) {
      const auto found = sm.ctas.find(slot);
      if (found == sm.ctas.end() || found->second.kernel != k) continue;
      Cta cta = found->second;
      if (cta.tag != out.flush_tag) fail(fmt::format("a CTA of slot {} is passed over by its flush", k));
      cta.moves = moves_[k];
      cta.ends = now_;
      if (random_.chance(0.4)) late_.push_back(cta);
      end(sm, slot);
      ++counts_.given_up;
    }
  }
  disturbed();
}

/// With one kernel alone, room that is there is used; with PATIENCE every kernel gets a CTA in time.
void EdgesWorld::judge_waits(const SluiceTopOut& out) {
  unsigned kernels = 0;
  bool flushes = false, endless = false;
  const Kernel* lone = nullptr;
  for (const auto& kernel : kernels_) {
    if (!kernel) continue;
    ++kernels;
    lone = &*kernel;
    flushes |= kernel->flush_asked;
  }
  if (kernels == 0 || (mode_ != Mode::LeftOver && mode_ != Mode::Fcfs) || flushes) return disturbed();
  if (out.dispatch_valid && !in_.dispatch_ready) return;  // the port is not the unit's
  std::size_t alive = 0;
  bool there = false;
  for (std::size_t m = 0; m < sms_.size(); ++m) {
    if (hung(m)) continue;
    ++alive;
    there |= kernels == 1 && parameters_.region_units == 0 && room(*lone, sms_[m]);  // regions may lie in pieces
    for (const auto& [slot, cta] : sms_[m].ctas) endless |= cta.endless;
  }
  const std::uint64_t scan = 6 + 2 * (parameters_.num_sm - 1);
  unused_ = there && lone->wants() && !out.dispatch_valid ? unused_ + 1 : 0;
  counts_.lone = std::max(counts_.lone, unused_);
  if (unused_ > scan + 6) fail(fmt::format("room for a kernel that is alone is not used for {} cycles", unused_));
  if (parameters_.patience == 0 || mode_ != Mode::Fcfs) return;  // in LEFT_OVER a kernel waits for those before it
  const std::uint64_t period = 2ULL << parameters_.patience;
  const std::uint64_t claim = 13 + 4 * (parameters_.num_sm - 1) + kLife + kReports;
  for (auto& kernel : kernels_) {
    if (!kernel) continue;
    if (!kernel->wants() || kernel->running != 0 || endless || alive == 0) {
      kernel->waits = kernel->hung_waiting = 0;
      continue;
    }
    if (kernel->waits++ == 0) kernel->hung_waiting = static_cast<unsigned>(sms_.size() - alive);
    counts_.long_waits += kernel->waits == period / 2 ? 1 : 0;
    counts_.longest_wait = std::max(counts_.longest_wait, kernel->waits);
    const std::uint64_t limit =
        period + (parameters_.max_kernels - 1) * std::max(claim, period) + claim + kernel->hung_waiting * period;
    if (kernel->waits > limit) fail(fmt::format("a kernel waits for {} cycles, {} allowed", kernel->waits, limit));
  }
}

AxiLiteOut EdgesWorld::cycle(const AxiLiteIn& pins) {
  const SluiceTopOut out = top_->outputs();
  in_.axi = pins;
  drive();
  if (in_.rst_n && wrong_.empty()) {
    for (unsigned k = 0; k < parameters_.max_kernels; ++k)
      if ((out.kernel_done >> k & 1U) != 0) finish(k);
    if (out.launched_valid) told(out);
    if (in_.done_valid) {
      const auto cta = sms_[in_.done_sm].ctas.find(in_.done_slot);
      if (cta != sms_[in_.done_sm].ctas.end() && cta->second.kernel == in_.done_kernel && cta->second.tag == in_.done_tag)
        end(sms_[in_.done_sm], in_.done_slot);
      ++excused_;
    }
    if (at_the_port_) {
      const bool taken_back = !out.dispatch_valid && out.flush_valid && out.flush_kernel == at_the_port_->dispatch_kernel;
      if (taken_back) {
        ++counts_.taken_back;
        expect(regs::kErrorPortStuck);
      } else if (!out.dispatch_valid || out.dispatch_cta != at_the_port_->dispatch_cta ||
                 out.dispatch_sm != at_the_port_->dispatch_sm || out.dispatch_slot != at_the_port_->dispatch_slot ||
                 out.dispatch_kernel != at_the_port_->dispatch_kernel || out.dispatch_tag != at_the_port_->dispatch_tag) {
        fail("a CTA at the port does not stay as it is");
      }
    }
    at_the_port_.reset();
    if (out.dispatch_valid && !in_.dispatch_ready) {
      at_the_port_ = out;
      ++excused_;
    }
    if (out.dispatch_valid && in_.dispatch_ready) start(out);
    if (out.flush_valid) give_up(out);
    judge_waits(out);
    if (in_.launch.valid && out.launch_ready) {
      taken_.push_back({in_.launch.launch});
      ++counts_.launches;
    }
  }
  const bool taken = in_.launch.valid && out.launch_ready;
#ifdef EDGES_LOG
  if (!in_.rst_n) std::printf("%llu reset keep %d\n", (unsigned long long)now_, in_.keep_tags);
  if (out.dispatch_valid && in_.dispatch_ready) std::printf("%llu start sm %d slot %d k %d tag %d cta %d\n", (unsigned long long)now_, out.dispatch_sm, out.dispatch_slot, out.dispatch_kernel, out.dispatch_tag, out.dispatch_cta);
  if (out.flush_valid) std::printf("%llu flush k %d tag %d\n", (unsigned long long)now_, out.flush_kernel, out.flush_tag);
  if (out.kernel_done) std::printf("%llu done %d\n", (unsigned long long)now_, out.kernel_done);
  if (in_.done_valid) std::printf("%llu report sm %d slot %d k %d tag %d\n", (unsigned long long)now_, in_.done_sm, in_.done_slot, in_.done_kernel, in_.done_tag);
  if (out.launched_valid) std::printf("%llu launched k %d refused %d flushed %d\n", (unsigned long long)now_, out.launched_kernel, out.launched_refused, out.launched_flushed);
#endif
  top_->clock(in_);
  if (taken) in_.launch.valid = false;
  ++now_;
  return out.axi;
}

}  // namespace sluice::tb
