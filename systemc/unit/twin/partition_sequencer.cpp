// SPDX-License-Identifier: Apache-2.0
#include "systemc/unit/twin/partition_sequencer.h"

#include <algorithm>

namespace sluice {

namespace {

constexpr std::uint64_t kDrainUnit = 4096;  // cycles, of DRAIN_LIMIT

using State = regs::SequencerState;

}  // namespace

SequencerOut PartitionSequencerTwin::out(const SluiceConfig& config) const {
  SequencerOut out;
  out.quota_changed = changed_ || (config.static_write && layout_ == Layout::Static);
  out.regions = layout_ == Layout::Free;
  out.round_robin = out.regions && (turns_ || (is(config, Mode::Balance) && search_.in_turn()));
  out.on_all = searching_ && search_.on_all();
  out.in_order = out.regions && !out.round_robin;
  out.profile_clear = state_ == State::kDrain;
  out.profile_enable = state_ == State::kProfile;
  out.profiling = state_ == State::kProfile || state_ == State::kScale;
  out.state = static_cast<std::uint8_t>(state_);
  out.decision = decision_;
  out.spatial = spatial_;
  out.no_fit = no_fit_;
  out.dropped = dropped_;
  out.no_profile = no_profile_;
  out.monitoring = state_ == State::kMonitor;
  const bool rests =
      (state_ == State::kIdle && !waits_) || (state_ == State::kMonitor && (!churns() || (timer_ <= 1 && !again_)));
  out.idle = rests && !changed_ && !decision_;
  for (std::uint32_t k = 0; k < parameters_.max_kernels; ++k) {
    if (layout_ == Layout::Free) out.ctas[k] = static_cast<std::uint8_t>(parameters_.max_ctas);
    const bool some = std::ranges::any_of(config.mask[k], [](std::uint32_t sms) { return sms != 0; });
    if (layout_ == Layout::Static && some) out.ctas[k] = config.quota[k];
  }
  for (const Planned& p : plan_) {
    out.watch[p.slot] = true;
    const std::uint32_t first = layout_ == Layout::Ranges ? p.first : 0;
    out.watch_sm[p.slot] = first;
    for (std::uint32_t sm = parameters_.num_sm; sm > first; --sm) {
      if (config.sm_enable[sm - 1]) out.watch_sm[p.slot] = sm - 1;
    }
    if (layout_ == Layout::Ranges || layout_ == Layout::Alone) out.ctas[p.slot] = static_cast<std::uint8_t>(parameters_.max_ctas);
    if (layout_ == Layout::Counts) out.ctas[p.slot] = static_cast<std::uint8_t>(decided_[p.slot]);
    if (layout_ == Layout::Levels || layout_ == Layout::Groups) out.ctas[p.slot] = static_cast<std::uint8_t>(p.most);
    if (layout_ == Layout::Levels && has_curve(p))
      out.ctas[p.slot] = static_cast<std::uint8_t>(before_levels_ == Layout::Ranges ? parameters_.max_ctas : kept_[p.slot].ctas);
  }
  if (churns() && layout_ == Layout::Counts) {
    for (std::uint32_t k = 0; k < parameters_.max_kernels; ++k) out.ctas[k] = static_cast<std::uint8_t>(kept_[k].ctas);
  }

  for (std::size_t i = 0; i < plan_.size(); ++i) out.slots[i] = static_cast<std::uint8_t>(plan_[i].slot);
  PartitionCoreIn& core = out.core;
  core.start = (out.profile_clear && first_window_ && !searching_) || at_once_;
  core.num_kernels = static_cast<std::uint8_t>(plan_.size());
  core.capacity_warps = config.capacity_warps;
  core.capacity_registers = config.capacity_registers;
  core.capacity_shared_bytes = config.capacity_shared;
  core.capacity_slots = config.capacity_slots;
  core.epsilon = config.epsilon;
  core.loss_limit = config.loss_limit;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    core.demand_warps[i] = config.demand_warps[plan_[i].slot];
    core.demand_registers[i] = config.demand_registers[plan_[i].slot];
    core.demand_shared_bytes[i] = config.demand_shared[plan_[i].slot];
    if (!churns()) continue;
    core.rows[i] = static_cast<std::uint8_t>(plan_[i].slot);
    core.kept |= static_cast<std::uint8_t>((has_curve(plan_[i]) ? 1U : 0U) << i);
  }
  if (offered_) {
    core.sample_valid = true;
    core.sample_kernel = static_cast<std::uint8_t>(offered_->kernel);
    core.sample_ctas = static_cast<std::uint8_t>(offered_->level);
    core.sample_final = offered_->final;
    out.drop = offered_->drop;
  }
  return out;
}

std::optional<std::uint32_t> PartitionSequencerTwin::reads() const {
  if (state_ != State::kScale || sample_ == samples_.size() || !samples_[sample_].valid) return std::nullopt;
  return samples_[sample_].sm;
}

std::optional<std::uint32_t> PartitionSequencerTwin::owner(std::uint32_t sm) const {
  if (searching_) return plan_[search_.owner(sm)].slot;
  const auto found = std::ranges::find_if(plan_, [sm](const Planned& p) { return p.on(sm); });
  return found == plan_.end() ? std::nullopt : std::optional(found->slot);
}

bool PartitionSequencerTwin::ranges_live(const SluiceConfig& config) const {
  return std::ranges::all_of(plan_, [&](const Planned& p) {
    for (std::uint32_t i = 0; i < p.count; ++i) {
      if (config.sm_enable[p.first + i]) return true;
    }
    return false;
  });
}

bool PartitionSequencerTwin::settled(const SluiceConfig& config, const SequencerIn& in) const {
  for (const Planned& p : plan_) {
    if (has_curve(p)) continue;                      // its SMs are not profiled
    if (((in.spent >> p.slot) & 1U) != 0) continue;  // its SMs may never be full, and its samples do not count
    for (std::uint32_t i = 0; i < p.count; ++i) {
      if (config.sm_enable[p.first + i] && !in.settled[p.first + i]) return false;
    }
  }
  return true;
}

std::uint32_t PartitionSequencerTwin::quota(const SluiceConfig& config, std::uint32_t sm, std::uint32_t kernel) const {
  if (layout_ == Layout::Free) return parameters_.max_ctas;
  if (layout_ == Layout::Static) return ((config.mask[kernel][sm / 32] >> (sm % 32)) & 1U) != 0 ? config.quota[kernel] : 0;
  if (churns() && layout_ == Layout::Counts) return kept_[kernel].ctas;
  if (layout_ == Layout::Levels) {  // elsewhere than on the SMs that are profiled all is as before
    const auto owner_of = std::ranges::find_if(plan_, [sm](const Planned& p) { return p.on(sm); });
    if (owner_of != plan_.end() && has_curve(*owner_of)) {
      if (before_levels_ != Layout::Ranges) return kept_[kernel].ctas;
      return owner_of->slot == kernel ? parameters_.max_ctas : 0;
    }
  }
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const Planned& p = plan_[i];
    if (p.slot != kernel) continue;
    switch (layout_) {
      case Layout::Groups: return search_.quota(sm, i);
      case Layout::Alone: return parameters_.max_ctas;
      case Layout::Ranges: return p.on(sm) ? parameters_.max_ctas : 0;
      case Layout::Counts: return decided_[kernel];
      case Layout::Levels:
        if (alone() && p.on(sm)) return p.most;
        return p.on(sm) ? std::min(p.level(sm - p.first), p.most) : 0;
      default: return 0;
    }
  }
  return 0;
}

/// After Warped-Slicer's decision. @return whether there is anything to measure
bool PartitionSequencerTwin::begin_search(const SluiceConfig& config, const PartitionCoreOut& core) {
  std::vector<BalanceSearchTwin::Kernel> kernels;
  BalanceSearchTwin::Counts base;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    kernels.push_back({plan_[i].slot, plan_[i].fits, wishes_[plan_[i].slot]});
    base.push_back(core.ctas[i]);
  }
  searching_ = search_.begin(config, kernels, base);
  if (searching_) begin_round(config);
  return searching_;
}

void PartitionSequencerTwin::begin_round(const SluiceConfig& config) {
  set_layout(search_.in_turn() ? Layout::Free : Layout::Groups);
  first_window_ = true;
  timer_ = config.warm_up / 4;
  go(State::kWarmUp);
}

/// All counters of a window are read. The next has the same CTAs in place.
void PartitionSequencerTwin::go_on_searching(const SluiceConfig& config) {
  first_window_ = false;
  const bool done = search_.end_of_window();
  timer_ = done ? search_.scoring_cycles() + config.delay : 0;
  go(done ? State::kAllocate : State::kDrain);
}

void PartitionSequencerTwin::end_of_round(const SluiceConfig& config) {
  if (search_.next(config)) {
    begin_round(config);
    return;
  }
  searching_ = false;
  go(State::kMonitor);
  decision_ = true;
  const auto* kept = search_.kept();
  for (std::size_t i = 0; i < plan_.size(); ++i) decided_[plan_[i].slot] = kept != nullptr ? (*kept)[i] : 0;
  set_layout(kept != nullptr && !search_.in_turn() ? Layout::Counts : Layout::Free);
}

PartitionCoreOut PartitionSequencerTwin::even() const {
  PartitionCoreOut core;
  core.done = state_ == State::kAllocate;
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    core.ctas[i] = static_cast<std::uint8_t>(plan_[i].most / plan_.size());
    core.no_fit |= core.ctas[i] == 0;
  }
  return core;
}

void PartitionSequencerTwin::list_samples(const SluiceConfig& config, const SequencerIn& in) {
  samples_.clear();
  sample_ = 0;
  if (searching_) {
    for (std::uint32_t sm = 0; sm < parameters_.num_sm; ++sm)
      samples_.push_back({static_cast<std::uint32_t>(search_.owner(sm)), sm, 0, true, false});
    return;
  }
  for (std::uint32_t k = 0; k < plan_.size(); ++k) {
    const Planned& p = plan_[k];
    samples_.push_back({});
    if (alone()) {  // the first that counts, or the last
      const auto counts = [&](std::uint32_t sm) {
        return config.sm_enable[sm] && in.settled[sm] && (spent_ >> p.slot & 1U) == 0;
      };
      std::uint32_t i = 0;
      for (; i + 1 < p.count && !counts(p.first + i); ++i) samples_.push_back({});
      samples_.push_back({k, p.first + i, 1, true, true});
      continue;
    }
    if (has_curve(p) || p.level(0) > p.most) {
      samples_.push_back({});
      continue;
    }
    for (std::uint32_t i = 0; i < p.count && p.level(i) <= p.most; ++i)
      samples_.push_back({k, p.first + i, p.level(i), true, p.level(i) == p.most});
  }
}

void PartitionSequencerTwin::read_on(const SluiceConfig& config, const SequencerIn& in) {
  offered_.reset();
  Sample& sample = samples_[sample_++];
  if (!sample.valid) return;
  const std::uint32_t slot = plan_[sample.kernel].slot;
  const bool settled = in.settled[sample.sm] || (searching_ && search_.in_turn());
  sample.drop = !config.sm_enable[sample.sm] || !settled || ((spent_ >> slot) & 1U) != 0;
  dropped_ |= sample.drop;
  sampled_[slot] |= !sample.drop;
  if (searching_) {
    if (!sample.drop) search_.take(sample.sm, in.counted);
    return;
  }
  if (sample.final && !sample.drop) search_.alone(sample.kernel, in.counted);
  offered_ = sample;
}

void PartitionSequencerTwin::end_of_samples(const SluiceConfig& config) {
  go(State::kAllocate);
  if (alone()) return;
  if (std::ranges::all_of(plan_, [this](const Planned& p) { return has_curve(p) || p.base + p.count >= p.most; })) return;
  for (Planned& p : plan_) p.base += p.count;
  changed_ = true;
  first_window_ = false;
  timer_ = config.warm_up / 2;
  go(State::kWarmUp);
}

void PartitionSequencerTwin::enforce(const SluiceConfig& config, const PartitionCoreOut& core) {
  search_.forget_report();
  go(State::kMonitor);
  decision_ = true;
  if (churns()) begin_life();
  no_fit_ = core.no_fit;
  no_profile_ = !no_fit_ && !std::ranges::all_of(plan_, [this](const Planned& p) { return sampled_[p.slot] || has_curve(p); });
  spatial_ = core.spatial && !no_fit_ && !no_profile_;
  for (const Planned& p : plan_) kept_[p.slot].curve |= churns() && sampled_[p.slot];
  if (is(config, Mode::Balance) && !no_fit_ && !no_profile_ && begin_search(config, core)) {
    decision_ = spatial_ = false;
    return;
  }
  if (no_fit_ || spatial_ || no_profile_) {
    set_layout(Layout::Ranges);
    return;
  }
  for (std::size_t i = 0; i < plan_.size(); ++i) decided_[plan_[i].slot] = core.ctas[i];
  set_layout(Layout::Counts);
  set_counts();
}

bool PartitionSequencerTwin::restarts(const SluiceConfig& config, const SequencerIn& in) const {
  const bool profile_again = asked_again(config, in) && (!churns() || timer_ <= 1);
  if (waits_ && timer_ <= 1) return true;
  return in.change || config.mode_write || config.enable_write || profile_again;
}

void PartitionSequencerTwin::clock(const SluiceConfig& config, const SequencerIn& in) {
  changed_ = decision_ = at_once_ = false;
  turns_ = is(config, Mode::Fcfs);
  if (state_ == State::kDrain) {  // in each of its cycles, also the one that a restart comes in
    if (first_window_) {
      dropped_ = false;
      sampled_ = {};
    }
    spent_ = 0;
  }
  if (restarts(config, in)) {
    make_plan(config, in);
    return;
  }
  switch (state_) {
    case State::kIdle:
      if (waits_) --timer_;
      break;
    case State::kMonitor:
      again_ = churns() && asked_again(config, in);
      if (timer_ > 1) --timer_;
      break;
    case State::kPlan:
      if (--timer_ == 0) finish_plan(config);
      break;
    case State::kWarmUp:
      if (timer_ > 0) {
        --timer_;
        break;
      }
      timer_ = searching_ ? BalanceSearchTwin::kWait : config.drain_limit * kDrainUnit;
      go(State::kDrain);
      break;
    case State::kDrain:
      if (timer_ > 0 && !(searching_ ? in.settled.count() >= parameters_.num_sm : settled(config, in))) {
        --timer_;
        break;
      }
      timer_ = config.window;
      go(State::kProfile);
      break;
    case State::kProfile:
      spent_ |= in.spent;
      if (--timer_ > 0) break;
      list_samples(config, in);
      go(State::kScale);
      break;
    case State::kScale:
      if (sample_ < samples_.size()) {
        read_on(config, in);
        break;
      }
      offered_.reset();
      if (searching_) {
        go_on_searching(config);
      } else {
        end_of_samples(config);
      }
      break;
    case State::kAllocate:
      if (searching_) {
        if (--timer_ == 0) end_of_round(config);
        break;
      }
      if (!in.core.done) break;
      timer_ = config.delay;
      if (timer_ == 0) {
        enforce(config, in.core);
      } else {
        go(State::kDelay);
      }
      break;
    case State::kDelay:
      if (--timer_ == 0) enforce(config, in.core);
      break;
    default: break;
  }
}

}  // namespace sluice
