// SPDX-License-Identifier: Apache-2.0
#include "tb/sluice_top/edges_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sluice::tb {

namespace {
constexpr std::uint32_t kLife = 400;     ///< cycles that a CTA lasts at most, on an SM that does not hang
constexpr std::uint32_t kReports = 130;  ///< cycles that a report waits for others at most
constexpr std::uint64_t kLateWithin = 3000;
constexpr unsigned kTagMoves = 14;  ///< an SM forgets a CTA that was given up before its tag comes round
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
    const bool commanded = commanded_[k] > now_;
    kernels_[k] = Kernel{.launch = launch,
                         .of_the_port = true,
                         .stopped = commanded,
                         .flush_asked = purged || commanded,
                         .endless = random_.chance(0.03)};
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
  if (mode_ == Mode::Static && std::max(quota.since, mode_since_) < arrived_ && arrived_ > 40 &&
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
  sm.ctas[out.dispatch_slot] = {static_cast<std::uint8_t>(m),
                                out.dispatch_slot,
                                static_cast<std::uint8_t>(k),
                                out.dispatch_tag,
                                kernel.endless && random_.chance(0.2),
                                now_ + random_.in(1, kLife),
                                0};
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
    if (!at_the_port_) arrived_ = now_;
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
  top_->clock(in_);
  if (taken) in_.launch.valid = false;
  ++now_;
  return out.axi;
}

}  // namespace sluice::tb
