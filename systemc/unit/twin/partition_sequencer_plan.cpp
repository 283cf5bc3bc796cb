// SPDX-License-Identifier: Apache-2.0
// The part of the sequencer's twin that makes a plan of who is present: rtl/sequencer/partition_plan.sv, kept_profiles.sv.
#include <algorithm>
#include <limits>

#include "systemc/unit/twin/partition_sequencer.h"

namespace sluice {

namespace {

using State = regs::SequencerState;

/// CTAs of a kernel slot that fit into an empty SM.
std::uint32_t fitting(const SluiceConfig& c, std::uint32_t slot) {
  const auto times = [](std::uint32_t capacity, std::uint32_t demand) {
    return demand == 0 ? std::numeric_limits<std::uint32_t>::max() : capacity / demand;
  };
  return std::min({c.capacity_slots, times(c.capacity_warps, c.demand_warps[slot]),
                   times(c.capacity_registers, c.demand_registers[slot]), times(c.capacity_shared, c.demand_shared[slot])});
}

}  // namespace

void PartitionSequencerTwin::make_plan(const SluiceConfig& config, const SequencerIn& in) {
  const std::uint32_t n = in.num_present;
  if (churns()) keep_what_stays(config, in);
  plan_.clear();
  offered_.reset();
  searching_ = false;
  search_.forget();
  timer_ = 0;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    Planned p;
    p.slot = in.age[i];
    p.first = next;
    p.count = parameters_.num_sm / n + (i < parameters_.num_sm % n ? 1 : 0);
    p.fits = fitting(config, p.slot);
    p.most = p.fits;
    next += p.count;
    plan_.push_back(p);
  }
  if (is(config, Mode::Even) || falls_back(config)) {
    for (Planned& p : plan_) p.most = p.fits / n;
  }
  const Layout before = layout_;
  go(State::kIdle);
  if (is(config, Mode::LeftOver) || is(config, Mode::Fcfs)) {
    layout_ = Layout::Free;
  } else if (is(config, Mode::Static)) {
    layout_ = Layout::Static;
  } else {
    layout_ = churns() ? while_planning(before) : Layout::Hold;
    if (n != 0) go(State::kPlan);
    for (const Planned& p : plan_) timer_ += p.fits + 4;
  }
  changed_ = layout_ != before || layout_ == Layout::Counts || layout_ == Layout::Ranges;
}

/// Kernels that stay go on as before.
PartitionSequencerTwin::Layout PartitionSequencerTwin::while_planning(Layout before) const {
  if (before == Layout::Levels) before = before_levels_;
  if (before == Layout::Alone) return Layout::Counts;
  return before == Layout::Counts || before == Layout::Ranges ? before : Layout::Hold;
}

bool PartitionSequencerTwin::falls_back(const SluiceConfig& config) const {
  return churns() && is(config, Mode::Dynamic) && !direct_ &&
         !std::ranges::all_of(plan_, [this](const Planned& p) { return has_curve(p); });
}

bool PartitionSequencerTwin::decides_at_once(const SluiceConfig& config) const {
  return churns() && is(config, Mode::Dynamic) && plan_.size() > 1 && !no_ranges(config) &&
         std::ranges::all_of(plan_, [this](const Planned& p) { return has_curve(p); });
}

/// A kernel of the old plan that is present keeps its count, and its curve unless a new profile was asked for.
void PartitionSequencerTwin::keep_what_stays(const SluiceConfig& config, const SequencerIn& in) {
  direct_ = !in.change && !config.mode_write && !config.enable_write;
  const bool forgets = config.mode_write || asked_again(config, in);
  const PerKernel<Kept> before = kept_;
  kept_ = {};
  for (const Planned& p : plan_) {
    const auto end = in.age.begin() + in.num_present;
    if (std::find(in.age.begin(), end, p.slot) == end) continue;
    kept_[p.slot].ctas = before[p.slot].ctas;
    kept_[p.slot].curve = before[p.slot].curve && !forgets;
  }
  again_ = waits_ = false;
}

void PartitionSequencerTwin::set_counts() {
  for (Kept& kept : kept_) kept.ctas = 0;
  for (const Planned& p : plan_) kept_[p.slot].ctas = layout_ == Layout::Alone ? p.most : decided_[p.slot];
}

void PartitionSequencerTwin::finish_plan(const SluiceConfig& config) {
  go(State::kIdle);
  if (plan_.size() == 1) {
    set_layout(Layout::Alone);
    set_counts();
  } else if (is(config, Mode::Even)) {
    for (const Planned& p : plan_) decided_[p.slot] = p.most;
    no_fit_ = std::ranges::any_of(plan_, [](const Planned& p) { return p.most == 0; });
    set_layout(!no_fit_ ? Layout::Counts : no_ranges(config) ? Layout::Free : Layout::Ranges);
    if (!no_fit_) set_counts();
  } else if (falls_back(config)) {
    for (const Planned& p : plan_) decided_[p.slot] = p.most;
    const bool starved = std::ranges::any_of(plan_, [](const Planned& p) { return p.most == 0; });
    set_layout(!starved ? Layout::Counts : no_ranges(config) ? Layout::Free : Layout::Ranges);
    if (!starved) set_counts();
    waits_ = !no_ranges(config);
    if (waits_) begin_life();
  } else if (no_ranges(config)) {
    set_layout(Layout::Free);
  } else if (is(config, Mode::Spatial)) {
    set_layout(Layout::Ranges);
  } else if (decides_at_once(config)) {
    if (layout_ == Layout::Hold) set_layout(Layout::Ranges);
    at_once_ = true;
    go(State::kAllocate);
  } else {
    before_levels_ = layout_;
    set_layout(Layout::Levels);
    first_window_ = true;
    timer_ = config.warm_up;
    go(State::kWarmUp);
  }
}

}  // namespace sluice
