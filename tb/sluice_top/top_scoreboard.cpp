// SPDX-License-Identifier: Apache-2.0
#include "tb/sluice_top/top_scoreboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sw/partition/waterfill.h"

namespace sluice::tb {

namespace {

using State = regs::SequencerState;

constexpr std::array<const char*, 6> kModes{"LEFT_OVER", "FCFS", "EVEN", "SPATIAL", "STATIC", "DYNAMIC"};

bool deciding(const SequencerOut& out) {
  const auto state = static_cast<State>(out.state);
  return (state >= State::kWarmUp && state <= State::kDelay) || state == State::kDrain;
}

/// Warp instructions of an entry, times 1,024.
std::uint64_t value(std::uint32_t entry) { return entry < 4096 ? 0 : std::uint64_t{4096 + entry % 4096} << (entry / 4096); }

/// A curve of entries as docs/reference/blocks/partition_core.md makes performances of it: of the best, no lower than with fewer
/// CTAs, on the star hull; each cut to 14 bits.
Profile normalised(const std::vector<std::uint32_t>& curve) {
  const std::uint64_t best = value(*std::ranges::max_element(curve));
  std::vector<std::uint64_t> performance;
  for (const std::uint32_t entry : curve) {
    const std::uint64_t own = best == 0 ? kPerfOne : value(entry) * kPerfOne / best;
    performance.push_back(performance.empty() ? own : std::max(own, performance.back()));
  }
  std::size_t anchor = performance.size();
  for (std::size_t n = performance.size(); n > 0; --n) {
    const std::uint64_t line = performance[anchor - 1] * n / anchor;
    if (performance[n - 1] <= line)
      performance[n - 1] = line;
    else
      anchor = n;
  }
  Profile profile;
  for (const std::uint64_t p : performance) profile.push_back(static_cast<double>(p) / kPerfOne);
  return profile;
}

}  // namespace

void declare_top_bins(Coverage& coverage) {
  for (const char* mode : kModes)
    coverage.declare(fmt::format("two kernels in {}", mode), "a CTA starts with two kernels present, this mode in force");
  coverage.declare("reset in a decision", "reset from WARM_UP to DELAY");
  coverage.declare("reset outside a decision", "reset in IDLE, PLAN or MONITOR");
  coverage.declare("kernels change in a decision", "a kernel arrives or leaves from WARM_UP to DELAY");
  coverage.declare("kernels change in MONITOR", "a kernel arrives or leaves while a decision is in force");
  coverage.declare("partition", "a decision enforced as counts");
  coverage.declare("loss guard", "a decision that falls back to SPATIAL");
  coverage.declare("no fit", "one CTA of each does not fit");
  coverage.declare("clean sample", "an entry of an SM that held what its label says");
  coverage.declare("sample dropped", "an entry of an SM that did not");
  coverage.declare("no profile", "a decision without a clean sample of some kernel");
  coverage.declare("epsilon decides", "a decision under a saturation threshold");
  coverage.declare("three kernels decided", "a decision for three kernels or more");
  coverage.declare("profile in several windows", "more levels than SMs");
  coverage.declare("decision by kept curves", "a kernel is not profiled again; only with CHURN");
  coverage.declare("monitor asks", "the phase monitor wants a new profile");
  coverage.declare("host asks", "REPROFILE in MONITOR");
  coverage.declare("mode written in decision", "MODE_IN_DECISION");
  coverage.declare("SMs disabled in a decision", "SM_ENABLE written from WARM_UP to DELAY");
  coverage.declare("partition with disabled SMs", "a decision enforced as counts while an SM is disabled");
  coverage.declare("launch port: kernel ended", "a kernel of the launch port ran to its end");
  coverage.declare("launch port: handed back", "a launch that waited was flushed");
  coverage.declare("launch port: queue full", "launches wait in every place");
  coverage.declare("launch port: refused", "a launch of the port that could not fit");
  coverage.declare("launch port: second row", "a CTA behind the first row of its grid");
  coverage.declare("launches from both sides", "kernels of the port and of the registers have CTAs at the same time");
  coverage.declare("flush: a kernel", "FLUSH of a kernel slot that is not FREE");
  coverage.declare("flush: several kernels", "FLUSH_CONTEXT of a context with more than one kernel");
  coverage.declare("flush: in a decision", "a kernel is flushed from WARM_UP to DELAY");
  coverage.declare("an SM stalls", "100 CTAs start since one SM was ready last, none of them there");
  coverage.declare("dispatch waits", "dispatch_valid_o without ready");
  coverage.declare("interrupt", "irq_o");
}

TopScoreboard::TopScoreboard(const regs::Parameters& parameters, Coverage& coverage, Coverage& dispatch_coverage)
    : parameters_(parameters), coverage_(coverage), dispatch_coverage_(dispatch_coverage), ledger_(parameters) {
  reset();
}

void TopScoreboard::reset() {
  dispatch_.reset();
  if (samples_) {
    longest_refill_ = longest_refill();
    clean_samples_ += samples_->clean();
    never_full_ += samples_->never_full();
  }
  samples_.emplace(parameters_);
  launches_.emplace(parameters_);
  cycle_ = {};
  cycle_.quota.resize(parameters_.num_sm);
  ready_at_.assign(parameters_.num_sm, starts_);
  before_ = {};
  asked_.reset();
  curves_.clear();
  kept_ = {};
  fresh_ = true;
}

void TopScoreboard::look(const SluiceTopOut& rtl, const SluiceTopTwin& twin) {
  ports_ = rtl;
  const SequencerOut out = twin.sequencer();
  config_ = twin.config();
  states_ = twin.dispatcher().state;
  if (fresh_ || out.quota_changed) {
    for (std::uint32_t m = 0; m < parameters_.num_sm; ++m) {
      for (std::uint32_t k = 0; k < parameters_.max_kernels; ++k)
        cycle_.quota[m][k] = static_cast<std::uint8_t>(twin.quota(m, k));
    }
    fresh_ = false;
  }
  if (out.core.start) {
    curves_.assign(out.core.num_kernels, {});
    for (std::size_t i = 0; i < curves_.size(); ++i)
      if ((out.core.kept >> i & 1U) != 0) curves_[i] = kept_[out.core.rows[i]];
    if (out.core.kept != 0) coverage_.hit("decision by kept curves");
    asked_ = config_;
  }
  if (asked_ && (asked_->epsilon != config_.epsilon || asked_->loss_limit != config_.loss_limit)) asked_.reset();
  profile(rtl);
  if (rtl.irq) coverage_.hit("interrupt");
}

void TopScoreboard::profile(const SluiceTopOut& rtl) {
  if (!rtl.profile_valid || rtl.profile_kernel >= curves_.size()) return;
  std::vector<std::uint32_t>& curve = curves_[rtl.profile_kernel];
  if (rtl.profile_ctas == 1) curve.clear();
  curve.push_back(rtl.profile_scaled);
}

std::string TopScoreboard::judge(const SequencerOut& out, bool leaving) {
  ++decisions_;
  coverage_.hit(out.no_fit ? "no fit" : out.no_profile ? "no profile" : out.spatial ? "loss guard" : "partition");
  if (curves_.size() > 2) coverage_.hit("three kernels decided");
  const std::size_t kernels = out.core.num_kernels;
  for (std::size_t i = 0; i < kernels && i < curves_.size(); ++i) kept_[out.core.rows[i]] = curves_[i];
  std::vector<Profile> profiles;
  std::vector<SmResources> demand;
  for (std::size_t i = 0; i < kernels; ++i) {
    if (i >= curves_.size() || curves_[i].empty()) return fmt::format("decided without a profile of the {}. kernel", i + 1);
    if (!asked_ || leaving) {
      ++not_judged_;
      return {};
    }
    profiles.push_back(normalised(curves_[i]));
    demand.push_back({out.core.demand_warps[i] * kWarpSize, out.core.demand_registers[i], out.core.demand_shared_bytes[i], 1});
  }
  if (asked_->epsilon != 0) coverage_.hit("epsilon decides");
  const SmResources capacity{asked_->capacity_warps * kWarpSize, asked_->capacity_registers, asked_->capacity_shared,
                             asked_->capacity_slots};
  const auto golden = waterfill(profiles, demand, capacity, static_cast<double>(asked_->epsilon) / kPerfOne);
  if (out.no_fit != !golden) return fmt::format("no_fit = {}, expected {}", out.no_fit, !golden);
  if (!golden) return {};
  const bool unsampled = std::ranges::any_of(
      curves_, [](const auto& curve) { return std::ranges::all_of(curve, [](auto entry) { return entry == 0; }); });
  if (out.no_profile && !unsampled) return "no_profile, but every kernel has a sample";
  if (out.no_profile) return {};
  const auto n = static_cast<double>(kernels);  // performances are whole multiples of 1 / kPerfOne: exact
  const bool spatial =
      std::ranges::any_of(golden->performance, [&](double p) { return (1 - p) * n * kPerfOne > asked_->loss_limit; });
  if (out.spatial != spatial) return fmt::format("spatial = {}, expected {}", out.spatial, spatial);
  std::size_t i = 0;
  for (const std::size_t k : dispatch_->model().present()) {
    if (!spatial && i < kernels && out.ctas[k] != golden->ctas[i].value())
      return fmt::format("kernel slot {} gets {} CTAs, expected {}", k, out.ctas[k], golden->ctas[i].value());
    ++i;
  }
  return {};
}

void TopScoreboard::cover(const SluiceTopIn& in, const SluiceTopTwin& twin, const SequencerOut& out) {
  const CtaDispatcherOut& dispatcher = twin.dispatcher();
  if (dispatcher.change && deciding(before_)) coverage_.hit("kernels change in a decision");
  if (dispatcher.change && before_.monitoring) coverage_.hit("kernels change in MONITOR");
  if (before_.state == static_cast<std::uint8_t>(State::kScale) && out.state == static_cast<std::uint8_t>(State::kWarmUp))
    coverage_.hit("profile in several windows");
  host_asked_ = before_.monitoring && (host_asked_ || config_.reprofile);  // with CHURN remembered
  if (before_.monitoring && out.state == static_cast<std::uint8_t>(State::kPlan) && !dispatcher.change && !config_.mode_write &&
      !config_.enable_write)
    coverage_.hit(host_asked_ ? "host asks" : "monitor asks");
  std::size_t flushed = 0;
  for (std::size_t k = 0; k < parameters_.max_kernels; ++k)
    flushed += config_.flush[k] && dispatch_->model().state(k) != DispatchModel::State::Free ? 1 : 0;
  if (flushed > 0) coverage_.hit("flush: a kernel");
  if (flushed > 1) coverage_.hit("flush: several kernels");
  if (flushed > 0 && deciding(before_)) coverage_.hit("flush: in a decision");
  if (config_.mode_write && deciding(before_)) coverage_.hit("mode written in decision");
  if (config_.enable_write && deciding(before_)) coverage_.hit("SMs disabled in a decision");
  if (out.decision && !(out.no_fit || out.spatial || out.no_profile)) {
    for (std::uint32_t m = 0; m < parameters_.num_sm; ++m)
      if (!config_.sm_enable[m]) coverage_.hit("partition with disabled SMs");
  }
  if (dispatcher.dispatch_valid && !in.dispatch_ready) coverage_.hit("dispatch waits");
  if (!dispatcher.dispatch_valid || out.quota_changed) return;
  const bool settled = out.state == static_cast<std::uint8_t>(State::kIdle) || out.monitoring;
  if (settled && dispatcher.num_present > 1) coverage_.hit(fmt::format("two kernels in {}", kModes[config_.mode]));
}

std::string TopScoreboard::check(const SluiceTopIn& in, const SluiceTopTwin& twin) {
  if (std::string wrong = ledger_.observe(ports_, in, config_, states_); !wrong.empty()) return wrong;
  if (ledger_.both_sides()) coverage_.hit("launches from both sides");
  if (!in.rst_n) {
    coverage_.hit(deciding(before_) ? "reset in a decision" : "reset outside a decision");
    reset();
    return {};
  }
  const CtaDispatcherIn& given = twin.dispatcher_in();
  const std::vector<std::size_t> present = dispatch_ ? dispatch_->model().present() : std::vector<std::size_t>();
  if (std::string wrong = samples_->observe(ports_, in, present, config_.request_share, config_.priority); !wrong.empty())
    return wrong;
  if (parameters_.launch_queue != 0) {
    if (std::string wrong = launches_->observe(ports_, in, config_); !wrong.empty()) return wrong;
    if (launches_->refused() > 0) coverage_.hit("launch port: refused");
    if (launches_->flushed() > 0) coverage_.hit("launch port: handed back");
    if (launches_->ended() > 0) coverage_.hit("launch port: kernel ended");
    if (launches_->walked() > 0) coverage_.hit("launch port: second row");
    if (launches_->most_waiting() > parameters_.launch_queue) coverage_.hit("launch port: queue full");
  }
  if (parameters_.sm_ready != 0) {
    starts_ += ports_.dispatch_valid && in.dispatch_ready ? 1 : 0;
    for (std::uint32_t m = 0; m < parameters_.num_sm; ++m) {
      if (in.sm_ready[m]) ready_at_[m] = starts_;
      if (starts_ - ready_at_[m] > 100) coverage_.hit("an SM stalls");
    }
  }
  if (samples_->clean() > 0) coverage_.hit("clean sample");
  if (samples_->unclean() > 0) coverage_.hit("sample dropped");
  const auto capacities = [](const CtaDispatcherIn& i) {
    return std::array{i.capacity_warps, i.capacity_registers, i.capacity_shared_bytes, i.capacity_slots};
  };
  if (!dispatch_) {
    dispatch_.emplace(SluiceTopTwin::dispatcher_params(parameters_), given, dispatch_coverage_);
  } else if (capacities(given) != capacities(cycle_.in)) {
    dispatch_->set_capacities(given);
  }
  cycle_.in = given;
  if (std::string wrong = dispatch_->observe(twin.dispatcher(), cycle_); !wrong.empty()) return wrong;
  const SequencerOut out = twin.sequencer();
  cover(in, twin, out);
  std::string wrong;
  if (out.decision) wrong = judge(out, twin.dispatcher().change);
  before_ = out;
  return wrong;
}

}  // namespace sluice::tb
