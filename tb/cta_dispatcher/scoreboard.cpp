// SPDX-License-Identifier: Apache-2.0
#include "tb/cta_dispatcher/scoreboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

SmResources capacity_of(const CtaDispatcherIn& in) {
  return {in.capacity_warps * kWarpSize, in.capacity_registers, in.capacity_shared_bytes, in.capacity_slots};
}

bool bit(std::uint32_t mask, std::size_t k) { return ((mask >> k) & 1U) != 0; }

}  // namespace

void declare_dispatch_bins(tb::Coverage& coverage) {
  for (const auto& [bin, meaning] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a CTA is given up", "FLUSH: it ends without a report"},
           {"a CTA is taken back from the port", "FLUSH: its SM does not take it"},
           {"a disabled SM holds CTAs", "they end there"},
           {"an SM that can't be given a CTA is passed over",
            "one more fits there, but it is disabled or not ready: another is given one"},
           {"a CTA waits at the port", "dispatch_valid_o without dispatch_ready_i"},
           {"a kernel goes before an older one by its priority", "both fit somewhere; only with PRIORITY"},
           {"a kernel that fits waits for its turn", "in order: one that goes before it has CTAs left"},
           {"a kernel without a CTA had waited long", "for longer than it takes to go first; only with PATIENCE"},
           {"a grid starts again", "REPEAT: CTA 0 after the last one"},
           {"a kernel slot becomes free", "natural end, or the end of a drain"},
           {"bad kernel", "STOP or EVICT of a FREE slot"},
           {"cannot fit", "LAUNCH of a CTA beyond the capacity, without warps or without a grid"},
           {"counts fit but no region does", "fragmentation"},
           {"drained", "every kernel stopped, every CTA ended, every slot FREE"},
           {"end of a CTA that waits at the port", "BAD_DONE: it has not started"},
           {"end of an empty slot", "BAD_DONE: the slot holds no CTA"},
           {"end on no SM or slot", "BAD_DONE: beyond NUM_SM or the capacity"},
           {"every CTA slot of an SM has a region", "of registers, side by side"},
           {"every kernel slot runs", "all slots RUNNING"},
           {"evict and resume at once", "EVICT wins"},
           {"evict during an eviction", "the new count counts"},
           {"evict none", "EVICT of 0 CTAs"},
           {"eviction ends by count", "as many CTAs as asked for have ended"},
           {"eviction ends with none left", "fewer were resident than asked for"},
           {"grant and end on one SM in one cycle", "row charged and credited at once"},
           {"grant in the cycle of a stop", "a CTA is admitted while its kernel is stopped"},
           {"grant in the cycle of an evict", "a CTA is admitted while its kernel is evicted"},
           {"quota below what is resident", "a smaller quota drains"},
           {"region mode with CTAs that hold none", "the mode changed under running kernels"},
           {"region taken and freed on one SM in a cycle", "the search sees the regions before the release"},
           {"room only where no CTA can be given", "one more fits, but on SMs only that are disabled or not ready"},
           {"report of a CTA that was given up", "late: dropped"},
           {"report of a CTA that was given up, its slot given again", "late: the CTA that is there stays"},
           {"reset in mid-traffic", "reset while CTAs are resident"},
           {"slot busy", "LAUNCH of a slot that is not FREE"},
           {"stop of a busy kernel", "drains"},
           {"stop of an idle kernel", "FREE in the next cycle but one"}})
    coverage.declare(bin, meaning);
}

DispatchScoreboard::DispatchScoreboard(const CtaDispatcherParams& params, const CtaDispatcherIn& capacities,
                                       tb::Coverage& coverage)
    : params_(params),
      model_(params.num_sms, capacity_of(capacities), params.kernels, params.region_units, params.tail),
      coverage_(coverage) {
  tags_.fill(15);  // the first kernel of a slot has 0
}

void DispatchScoreboard::set_capacities(const CtaDispatcherIn& in) { model_.set_capacity(capacity_of(in)); }

void DispatchScoreboard::set_available(const DispatchCycle& before) {
  const SmBits enabled = params_.sm_enable ? before.in.sm_enable : all_sms();
  const SmBits ready = params_.sm_ready ? ready_ : all_sms();
  for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) {
    model_.set_available(sm, enabled[sm] && ready[sm]);
    if (!enabled[sm] && model_.occupied(sm)) hit("a disabled SM holds CTAs");
  }
  ready_ = before.in.sm_ready;
  if (last_.dispatch_valid) ready_[last_.dispatch_sm] = false;
}

/// Something fits, but on SMs only that can't be given a CTA.
bool DispatchScoreboard::room_is_passed_over(const DispatchCycle& before) const {
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) {
      const CtaCount quota(before.quota[sm][k]);
      if (!model_.admissible(k, sm, quota, before.in.regions) && model_.has_room(k, sm, quota, before.in.regions)) return true;
    }
  }
  return false;
}

void DispatchScoreboard::follow_waits(const DispatchCycle& before) {
  reserving_ = false;
  if (params_.patience == 0) return;
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    const bool waits = model_.state(k) == DispatchModel::State::Running && model_.resident(k) == 0 &&
                       (!before.in.in_order || (params_.priority && model_.in_turn_of_its_priority(k)));
    waited_[k] = waits ? waited_[k] + 1 : 0;
    reserving_ = reserving_ || waited_[k] >= 1U << params_.patience;
  }
}

bool DispatchScoreboard::something_fits(const DispatchCycle& before) const {
  std::optional<std::uint32_t> reserved;  // one SM may be
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (model_.state(k) != DispatchModel::State::Running || (before.in.in_order && !model_.in_turn(k))) continue;
    for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) {
      if (!model_.admissible(k, sm, CtaCount(before.quota[sm][k]), before.in.regions)) continue;
      if (!reserving_ || (reserved && *reserved != sm)) return true;
      reserved = sm;
    }
  }
  return false;
}

/// No kernel is picked while one of higher priority has had room on an SM for longer than it takes to be known. Where a kernel
/// has waited so long that it may go first, nothing is said.
std::string DispatchScoreboard::outranks(const CtaDispatcherOut& out, const DispatchCycle& before) {
  if (!params_.priority) return {};
  const unsigned known = 12 + 2 * params_.num_sms;
  room_for_.resize(params_.num_sms);
  since_end_.resize(params_.num_sms);
  since_pick_.resize(params_.num_sms);
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) {
      const CtaCount quota(before.quota[sm][k]);
      const bool room = model_.has_room(k, sm, quota, before.in.regions) && !before.in.quota_changed;
      room_for_[sm][k] = room ? room_for_[sm][k] + 1 : 0;
      if (!picked_ || out.dispatch_kernel >= params_.kernels || !model_.admissible(k, sm, quota, before.in.regions)) continue;
      const std::uint32_t picked = model_.priority(out.dispatch_kernel), other = model_.priority(k);
      if (other < picked && model_.older(k, out.dispatch_kernel)) hit("a kernel goes before an older one by its priority");
      if (other > picked && room_for_[sm][k] > known && !reserving_)
        return fmt::format("kernel {} is picked; kernel {} of higher priority has had room on SM {} for {} cycles",
                           out.dispatch_kernel, k, sm, room_for_[sm][k]);
    }
  }
  for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) {
    ++since_end_[sm];
    ++since_pick_[sm];
  }
  if (!picked_ || out.dispatch_sm >= params_.num_sms) return {};
  // What is left there is known in four cycles, unless an end comes in between.
  since_pick_[out.dispatch_sm] = 0;
  for (unsigned& cycles : room_for_[out.dispatch_sm]) cycles = since_end_[out.dispatch_sm] > 8 ? std::min(cycles, known - 6) : 0;
  return {};
}

/// The CTA that appears at the port was admitted in the cycle before.
std::string DispatchScoreboard::admit(const CtaDispatcherOut& out, const DispatchCycle& before) {
  const std::uint32_t k = out.dispatch_kernel, sm = out.dispatch_sm;
  const std::string what = fmt::format("CTA {} of kernel {} to SM {} slot {}", out.dispatch_cta, k, sm, out.dispatch_slot);
  if (k >= params_.kernels || sm >= params_.num_sms) return what + ": no such kernel slot or SM";
  if (before.in.quota_changed) return what + ": admitted in the cycle in which quotas changed";
  if (!model_.admissible(k, sm, CtaCount(before.quota[sm][k]), before.in.regions)) return what + ": not admissible";
  const bool may_claim = params_.patience != 0 && waited_[k] >= 1U << params_.patience;
  if (before.in.in_order && !model_.in_turn(k) && !(params_.priority && may_claim))
    return what + ": a kernel that goes before it has CTAs left";
  const std::uint32_t cta = model_.admit(k, sm, bit(before.in.repeat, k), before.in.in_order);
  if (cta != out.dispatch_cta) return fmt::format("{}: expected CTA {}", what, cta);
  return {};
}

/// Its slot and regions are taken in its first cycle at the port, after the release of the cycle before.
std::string DispatchScoreboard::place(const CtaDispatcherOut& out, const DispatchCycle& before) {
  const std::uint32_t slot = model_.seat(out.dispatch_kernel, out.dispatch_sm);
  if (slot != out.dispatch_slot) return fmt::format("slot {} on SM {}, expected {}", out.dispatch_slot, out.dispatch_sm, slot);
  DispatchModel::Bases expected;
  const bool regions = before.in.regions && params_.region_units != 0;
  if (out.dispatch_region_valid != regions) return fmt::format("dispatch_region_valid_o = {}", out.dispatch_region_valid);
  if (regions) {
    const auto bases = model_.place(out.dispatch_sm, out.dispatch_slot);
    if (!bases) return fmt::format("no region on SM {}", out.dispatch_sm);
    expected = *bases;
    if (!unplaced_ && has_all_regions(out.dispatch_sm, before)) hit("every CTA slot of an SM has a region");
  }
  if (expected.registers == out.dispatch_register_base && expected.shared_bytes == out.dispatch_shared_base) return {};
  return fmt::format("bases {} and {} on SM {}, expected {} and {}", out.dispatch_register_base, out.dispatch_shared_base,
                     out.dispatch_sm, expected.registers, expected.shared_bytes);
}

bool DispatchScoreboard::has_all_regions(std::uint32_t sm, const DispatchCycle& before) const {
  if (before.in.capacity_slots < params_.ctas) return false;
  for (std::uint32_t slot = 0; slot < params_.ctas; ++slot) {
    if (!model_.holds(sm, slot) || before.in.demand_registers[model_.kernel(sm, slot)] == 0) return false;
  }
  return true;
}

std::string DispatchScoreboard::compare(const CtaDispatcherOut& out) const {
  const auto differs = [](const char* port, auto expected, auto actual) {
    return fmt::format("{} = {}, expected {}", port, static_cast<std::uint64_t>(actual), static_cast<std::uint64_t>(expected));
  };
  std::size_t present = 0;
  for (const std::size_t k : model_.present()) {
    if (out.age[present] != k) return differs("age_o", k, out.age[present]);
    ++present;
  }
  if (out.num_present != present) return differs("num_present_o", present, out.num_present);
  for (std::size_t k = 0; k < params_.kernels; ++k) {
    if (static_cast<int>(out.state[k]) != static_cast<int>(model_.state(k)))
      return differs("slot_state_o", model_.state(k), out.state[k]);
    // Counted when its first cycle at the port is over, and as dispatched in the one after that.
    const std::uint32_t resident = model_.resident(k) - (fresh_kernel_ == k ? 1 : 0);
    if (out.resident[k] != resident) return differs("resident_o", resident, out.resident[k]);
    const std::uint32_t dispatched = model_.dispatched(k) - (fresh_kernel_ == k ? 1 : 0) - (charged_kernel_ == k ? 1 : 0);
    if (dispatched != out.dispatched[k]) return differs("dispatched_o", dispatched, out.dispatched[k]);
  }
  for (std::uint32_t sm = 0; params_.sm_enable && sm < params_.num_sms; ++sm) {
    const bool busy = model_.occupied(sm) || (out.dispatch_valid && out.dispatch_sm == sm);
    if (out.sm_busy[sm] != busy) return differs("sm_busy_o", busy, out.sm_busy[sm]);
  }
  if (out.change != expected_.change) return differs("change_o", expected_.change, out.change);
  if (out.evict_done != expected_.evict_done) return differs("evict_done_o", expected_.evict_done, out.evict_done);
  if (out.kernel_done != expected_.kernel_done) return differs("kernel_done_o", expected_.kernel_done, out.kernel_done);
  if (out.bad_done != expected_.bad_done) return differs("bad_done_o", expected_.bad_done, out.bad_done);
  if (out.cannot_fit != expected_.cannot_fit) return differs("cannot_fit_o", expected_.cannot_fit, out.cannot_fit);
  if (out.slot_busy != expected_.slot_busy) return differs("slot_busy_o", expected_.slot_busy, out.slot_busy);
  if (out.bad_kernel != expected_.bad_kernel) return differs("bad_kernel_o", expected_.bad_kernel, out.bad_kernel);
  if (out.port_stuck != expected_.port_stuck) return differs("port_stuck_o", expected_.port_stuck, out.port_stuck);
  if (out.error_kernel != expected_.error_kernel) return differs("error_kernel_o", expected_.error_kernel, out.error_kernel);
  if (out.error_sm != expected_.error_sm) return differs("error_sm_o", expected_.error_sm, out.error_sm);
  if (out.error_slot != expected_.error_slot) return differs("error_slot_o", expected_.error_slot, out.error_slot);
  return {};
}

void DispatchScoreboard::cover_quotas(const DispatchCycle& before) {
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    for (std::uint32_t sm = 0; sm < params_.num_sms; ++sm) {
      const CtaCount quota(before.quota[sm][k]);
      if (model_.resident(k, sm) > quota) hit("quota below what is resident");
      if (before.in.in_order && !model_.in_turn(k) && model_.admissible(k, sm, quota, before.in.regions))
        hit("a kernel that fits waits for its turn");
      if (!before.in.regions || params_.region_units == 0 || !model_.admissible(k, sm, quota, false)) continue;
      if (!model_.admissible(k, sm, quota, true)) hit("counts fit but no region does");
    }
  }
}

std::set<std::size_t> DispatchScoreboard::present_set() const {
  const std::vector<std::size_t> present = model_.present();
  return {present.begin(), present.end()};
}

std::string DispatchScoreboard::observe(const CtaDispatcherOut& out, const DispatchCycle& before) {
  const CtaDispatcherIn& in = before.in;
  const auto present = present_set();
  expected_ = {};
  set_available(before);

  // As the registers stood in the cycle before.
  std::vector<std::size_t> ending, evicted;
  for (std::size_t k = 0; k < params_.kernels; ++k) {
    if (model_.ending(k)) ending.push_back(k);
    if (model_.evicted(k) && !bit(in.resume, k) && !bit(in.evict, k)) evicted.push_back(k);
  }
  const bool there_is = in.done_kernel < params_.kernels;
  const bool late =
      params_.flush && (in.done_tag != (there_is ? tags_[in.done_kernel] : 0) || (there_is && bit(fresh_, in.done_kernel)));
  const bool given_up = !in.done_valid && last_.giving_up;  // judged when it was announced
  const std::uint8_t end_sm = given_up ? last_.giving_sm : in.done_sm, end_slot = given_up ? last_.giving_slot : in.done_slot;
  const bool reported = in.done_valid && !late;
  const bool waits_there = last_.dispatch_valid && last_.dispatch_sm == in.done_sm && last_.dispatch_slot == in.done_slot;
  const bool exists = in.done_sm < params_.num_sms && in.done_slot < in.capacity_slots;
  const bool ended = (given_up || (reported && exists && !waits_there)) && model_.holds(end_sm, end_slot);
  if (given_up && ended) hit("a CTA is given up");
  if (in.done_valid && late) hit("report of a CTA that was given up");
  if (in.done_valid && late && exists && model_.holds(in.done_sm, in.done_slot))
    hit("report of a CTA that was given up, its slot given again");
  for (std::uint32_t k = 0; k < params_.kernels; ++k) {
    if (!bit(fresh_, k) || last_.state[k] == SlotState::kFree) continue;
    tags_[k] = static_cast<std::uint8_t>((tags_[k] + 1) % 16);
    fresh_ &= ~(1U << k);
  }
  if (last_.flush_valid) tags_[last_.flush_kernel] = static_cast<std::uint8_t>((tags_[last_.flush_kernel] + 1) % 16);
  expected_.bad_done = bad_done_;
  expected_.error_sm = bad_sm_;
  expected_.error_slot = bad_slot_;
  bad_done_ = (reported || given_up) && !ended;
  bad_sm_ = bad_done_ ? end_sm : std::uint8_t{0};
  bad_slot_ = bad_done_ ? end_slot : std::uint8_t{0};
  wrong_before_ = std::exchange(
      wrong_report_, reported && ended && (in.done_kernel != model_.kernel(end_sm, end_slot) || bit(told_, in.done_kernel)));
  if (reported && waits_there) hit("end of a CTA that waits at the port");
  if (reported && !exists) hit("end on no SM or slot");
  if (reported && exists && !waits_there && !ended) hit("end of an empty slot");

  const bool waited = last_.dispatch_valid && !in.dispatch_ready;
  picked_ = out.dispatch_valid && !waited;
  charged_kernel_ = fresh_kernel_;
  fresh_kernel_ = picked_ ? std::optional<std::uint32_t>(out.dispatch_kernel) : std::nullopt;
  if (waited) {
    hit("a CTA waits at the port");
    // A flush takes it back when it has waited long enough.
    expected_.port_stuck = params_.flush > 1 && !out.dispatch_valid && out.flush_valid &&
                           out.flush_kernel == last_.dispatch_kernel && waits_flushed_ >= 1U << params_.flush;
    if (expected_.port_stuck)
      hit("a CTA is taken back from the port");
    else if (!out.dispatch_valid || out.dispatch_sm != last_.dispatch_sm || out.dispatch_kernel != last_.dispatch_kernel ||
             out.dispatch_slot != last_.dispatch_slot || out.dispatch_cta != last_.dispatch_cta ||
             out.dispatch_register_base != last_.dispatch_register_base ||
             out.dispatch_shared_base != last_.dispatch_shared_base || out.dispatch_region_valid != last_.dispatch_region_valid)
      return "the dispatch port changed while it waited";
  }
  // At most so many SMs wait for their evaluation: all after a change of quotas or a launch, one more for an end, one less a
  // cycle, unless a pick makes void what was found about its SM, which is looked at again.
  if ((params_.sm_enable || params_.sm_ready) && room_is_passed_over(before))
    hit(picked_ ? "an SM that can't be given a CTA is passed over" : "room only where no CTA can be given");
  const bool refresh = in.quota_changed || in.launch != 0;
  to_evaluate_ = refresh ? params_.num_sms : to_evaluate_ - std::min(to_evaluate_, 1U);
  if (ended) ++to_evaluate_;
  if (picked_) to_evaluate_ = std::min(to_evaluate_ + 1, params_.num_sms);
  follow_waits(before);
  if (picked_ && waited_[out.dispatch_kernel % kMaxKernelSlots] >= 2U << params_.patience)
    hit("a kernel without a CTA had waited long");
  if (reserving_) to_evaluate_ = params_.num_sms;  // with a claim all are read
  if (in.quota_changed) cover_quotas(before);
  // A command changes who may start, and with it what the wait is for.
  const bool other = refresh || (in.stop | in.evict | in.resume | in.flush) != 0;
  const bool starves = !picked_ && !waited && !in.quota_changed && flushed_ == 0 && something_fits(before);
  if (!starves || other || starved_ == 0) patience_ = to_evaluate_ + 10;
  if (ended) ++patience_;
  starved_ = starves && !other ? starved_ + 1 : 0;
  // Each claim reads all SMs again: a wait may see two of them, one of which ends before.
  if (starved_ > std::min(patience_, params_.num_sms + 10) * (reserving_ ? 2 : 1))
    return fmt::format("nothing dispatched for {} cycles though something fits", starved_);

  if (std::string wrong = outranks(out, before); !wrong.empty()) return wrong;
  if (ended && params_.priority) {
    if (since_pick_[end_sm] < 6) room_for_[end_sm].fill(0);
    since_end_[end_sm] = 0;
  }
  if (picked_) {
    if (ended_ && ended_->sm == out.dispatch_sm) hit("grant and end on one SM in one cycle");
    if (std::string wrong = admit(out, before); !wrong.empty()) return wrong;
    if (bit(in.stop, out.dispatch_kernel)) hit("grant in the cycle of a stop");
    if (bit(in.evict, out.dispatch_kernel)) hit("grant in the cycle of an evict");
    if (out.dispatch_cta == 0 && model_.dispatched(out.dispatch_kernel) > 1) hit("a grid starts again");
  }
  if (left_) model_.count_end(left_->kernel);
  left_ = ended_;
  if (left_) model_.leave(left_->sm, left_->slot);
  ended_.reset();
  if (ended) {
    if (picked_ && in.regions && end_sm == out.dispatch_sm) hit("region taken and freed on one SM in a cycle");
    ended_ = End{end_sm, end_slot, *model_.done(end_sm, end_slot)};
  }
  if (picked_) {
    if (std::string wrong = place(out, before); !wrong.empty()) return wrong;
    unplaced_ = unplaced_ || !in.regions;
    if (unplaced_ && in.regions && params_.region_units != 0) hit("region mode with CTAs that hold none");
  }

  command(before);
  for (const std::size_t k : evicted) {
    expected_.evict_done = static_cast<std::uint8_t>(expected_.evict_done | (1U << k));
    hit(model_.resident(k) == 0 ? "eviction ends with none left" : "eviction ends by count");
    model_.report_eviction(k);
  }
  for (const std::size_t k : ending) {
    hit("a kernel slot becomes free");
    if (model_.evicting(k)) expected_.evict_done = static_cast<std::uint8_t>(expected_.evict_done | (1U << k));
    expected_.kernel_done = static_cast<std::uint8_t>(expected_.kernel_done | (1U << k));
    model_.end(k);
  }
  expected_.change = present != present_set();
  if (model_.present().size() == params_.kernels) hit("every kernel slot runs");
  if (params_.flush) {
    if (std::string wrong = flush(out, before); !wrong.empty()) return wrong;
  }
  last_ = out;
  return compare(out);
}

}  // namespace sluice
