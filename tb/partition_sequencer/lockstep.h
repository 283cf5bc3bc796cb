// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Verilated partition_sequencer and its twin in lockstep under random kernels, modes and settings and a core that answers
// at random; and what holds for every quota it answers, whatever the twin says.
#include <gtest/gtest.h>

#include <numeric>

#include "systemc/unit/rtl/rtl_partition_sequencer.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"
#include "tb/partition_sequencer/churn_scoreboard.h"

namespace sluice::tb {

using State = regs::SequencerState;

inline void declare_bins(Coverage& coverage, bool churn) {
  if (churn) {
    coverage.declare("fall-back", "EVEN's counts until there are curves; only with CHURN");
    coverage.declare("fall-back to ranges", "an EVEN share without a CTA; only with CHURN");
    coverage.declare("decision by kept curves", "no sample was taken; only with CHURN");
    coverage.declare("profile of some kernels", "others have curves: their SMs keep their counts; only with CHURN");
    coverage.declare("profile of some kernels beside ranges", "the same, where ranges were in force; only with CHURN");
    coverage.declare("profile asked for in a life", "it comes when that is over; only with CHURN");
  }
  for (const char* mode : {"left over", "fcfs", "even", "spatial", "static", "dynamic"})
    coverage.declare(std::string("mode ") + mode, "quotas asked for in this mode with two or more kernels");
  coverage.declare("alone", "one present kernel, partitioned mode");
  coverage.declare("nobody", "no present kernel");
  coverage.declare("more kernels than SMs", "no ranges to give");
  coverage.declare("partition", "a decision enforced as counts");
  coverage.declare("loss guard", "a decision enforced as ranges");
  coverage.declare("no fit", "no partition fits");
  coverage.declare("sample dropped", "its SM had not settled, or its kernel dispatched nothing");
  coverage.declare("no profile", "a kernel without a clean sample");
  coverage.declare("drain limit", "the warm-up waited in vain");
  coverage.declare("drain limit that was counted", "the same for 1,024 cycles or more");
  coverage.declare("share without a CTA", "EVEN becomes SPATIAL");
  coverage.declare("delay", "enforced later");
  coverage.declare("several windows", "levels that need another window");
  coverage.declare("kernel without levels left", "in a later window");
  coverage.declare("profile again", "asked for in MONITOR");
  coverage.declare("profile ignored", "asked for elsewhere");
  for (const char* state : {"idle", "warm-up", "profile", "scale", "allocate", "delay", "plan", "monitor", "drain"})
    coverage.declare(std::string("change in ") + state, "the present set changes in this state");
  coverage.declare("mode write in decision", "drops the decision");
  coverage.declare("reset", "a reset in mid-decision");
  coverage.declare("static write", "a quota or a mask changes under STATIC");
  coverage.declare("no SM for a kernel", "a range without an SM that is enabled: no ranges to give");
  coverage.declare("disabled SM in a profile", "its sample is dropped, it is not waited for");
  coverage.declare("enable write in decision", "drops the decision");
  coverage.declare("long warm-up", "more than 2,000 cycles");
}

/// What differs, empty when nothing does. What means nothing without its valid is not compared.
inline std::string difference(const SequencerOut& a, const SequencerOut& b, unsigned kernels, bool churn) {
  if (a.quota_changed != b.quota_changed) return "quota_changed_o";
  if (a.regions != b.regions || a.round_robin != b.round_robin || a.in_order != b.in_order)
    return "regions_o, round_robin_o, in_order_o";
  if (a.profile_clear != b.profile_clear || a.profile_enable != b.profile_enable) return "profile_clear_o, profile_enable_o";
  if (a.state != b.state) return "state_o";
  if (a.decision != b.decision || a.spatial != b.spatial || a.no_fit != b.no_fit) return "decision_o, spatial_o, no_fit_o";
  if (a.dropped != b.dropped || a.no_profile != b.no_profile) return "dropped_o, no_profile_o";
  if (a.profiling != b.profiling) return "profiling_o";
  if (a.monitoring != b.monitoring || a.idle != b.idle) return "monitoring_o, idle_o";
  if (a.ctas != b.ctas) return "ctas_o";
  if (a.monitoring && a.watch != b.watch) return "watch_o";
  for (unsigned k = 0; k < kernels; ++k) {
    if (a.monitoring && a.watch[k] && a.watch_sm[k] != b.watch_sm[k]) return "watch_sm_o";
  }
  if (a.core.start != b.core.start) return "core_start_o";
  if (a.core.num_kernels != b.core.num_kernels) return "core_num_kernels_o";
  if (a.core.kept != b.core.kept) return "core_kept_o";
  for (unsigned i = 0; churn && i < b.core.num_kernels; ++i) {
    if (a.core.rows[i] != b.core.rows[i]) return "core_rows_o";
  }
  for (unsigned i = 0; a.state != static_cast<std::uint8_t>(State::kPlan) && i < b.core.num_kernels; ++i) {
    if (a.core.demand_warps[i] != b.core.demand_warps[i] || a.core.demand_registers[i] != b.core.demand_registers[i] ||
        a.core.demand_shared_bytes[i] != b.core.demand_shared_bytes[i])
      return "core_demand_*_o";
  }
  if (a.core.sample_valid != b.core.sample_valid) return "sample_valid_o";
  if (!a.core.sample_valid) return "";
  if (a.core.sample_kernel != b.core.sample_kernel || a.core.sample_ctas != b.core.sample_ctas ||
      a.core.sample_final != b.core.sample_final)
    return "sample_*_o";
  return "";
}

/// Kernels that come and go, a host that changes its mind, a core that answers some time.
class Traffic {
 public:
  Traffic(Random& random, const regs::Parameters& p, Coverage& coverage) : random_(random), p_(p), coverage_(coverage) {}
  /// From now on settings of all lengths, and nobody interrupts a decision.
  void be_patient() { patient_ = true; }

  SluiceConfig config;
  SequencerIn in;

  void reset() {
    in = {};
    present_.clear();
    new_machine();
    new_settings();
  }

  void next(const SequencerOut& out) {
    const auto state = static_cast<State>(out.state);
    config.mode_write = config.static_write = config.reprofile = config.enable_write = in.change = in.monitor_request = false;
    const bool deciding = state != State::kIdle && state != State::kMonitor;
    const bool brief = state == State::kScale || state == State::kAllocate || state == State::kDelay || state == State::kPlan;
    if ((patient_ || stuck_) && deciding) {
      settle(state);
      in.core.done = state == State::kAllocate && random_.chance(0.1);
      if (in.core.done) decide();
      return;
    }
    const double changes = state == State::kAllocate ? 0.02 : brief ? 0.005 : deciding ? 0.0004 : 0.01;
    if (random_.chance(changes)) change(state);
    if (random_.chance(deciding ? 0.0003 : 0.005)) {
      config.mode = static_cast<std::uint8_t>(random_.chance(0.5) ? 5 : random_.in(0, 5));
      config.mode_write = true;
      if (deciding) coverage_.hit("mode write in decision");
    }
    if (p_.sm_enable != 0 && random_.chance(deciding ? 0.0002 : 0.002)) {
      const double on = random_.chance(0.5) ? 1.0 : random_.chance(0.5) ? 0.8 : 0.4;
      for (std::uint32_t m = 0; m < p_.num_sm; ++m) config.sm_enable[m] = random_.chance(on);
      config.enable_write = true;
      if (deciding) coverage_.hit("enable write in decision");
    }
    if (random_.chance(0.002)) {
      (random_.chance(0.5) ? config.reprofile : in.monitor_request) = true;
      coverage_.hit(state == State::kMonitor ? "profile again" : "profile ignored");
    }
    if (random_.chance(0.01)) {
      const std::uint32_t k = random_.in(0, p_.max_kernels - 1);
      config.quota[k] = static_cast<std::uint8_t>(random_.in(0, p_.max_ctas));
      for (std::uint32_t m = 0; m < p_.num_sm; m += 32) config.mask[k][m / 32] = random_.word() & mask_bits(m);
      config.static_write = true;
      if (config.mode == 4) coverage_.hit("static write");
    }
    if (random_.chance(0.001)) new_settings();
    settle(state);
    in.core.done = state == State::kAllocate && random_.chance(0.1);
    if (in.core.done || random_.chance(0.001)) decide();
  }

 private:
  [[nodiscard]] std::uint32_t mask_bits(std::uint32_t first) const {
    return p_.num_sm - first >= 32 ? ~0U : (1U << (p_.num_sm - first)) - 1;
  }
  void new_machine() {
    config.capacity_warps = random_.in(8, 64);
    config.capacity_registers = random_.in(4096, 65536);
    config.capacity_shared = random_.in(0, 131072);
    config.capacity_slots = random_.in(1, p_.max_ctas);
  }
  void new_settings() {
    config.warm_up = random_.chance(0.2)    ? random_.in(0, 1)
                     : random_.chance(0.05) ? (1U << random_.in(0, 19)) + random_.in(0, 40)  // one bit lost, and it ends soon
                     : random_.chance(0.02) ? random_.word() >> random_.in(12, 20)
                                            : random_.in(2, 60);
    config.window = random_.chance(0.1) ? std::min(65535U, random_.in(120, 255) << random_.in(0, 8)) : random_.in(120, 200);
    config.delay = random_.chance(0.5) ? 0 : random_.chance(0.05) ? random_.in(256, 65535) : random_.in(1, 20);
    config.drain_limit = random_.chance(0.3) ? 0 : random_.chance(0.1) ? 1 : 255;
    stuck_ = random_.chance(patient_ ? 0.1 : 0.02);
    if (stuck_) config.drain_limit = static_cast<std::uint8_t>(random_.in(1, 2));
    if (!patient_) return;
    config.warm_up = random_.word() >> random_.in(12, 31);
    config.window = std::max(120U, random_.word() >> random_.in(16, 31));
    config.delay = random_.word() >> random_.in(16, 31);
  }
  void change(State state) {
    static const std::array<const char*, 9> names{"idle",  "warm-up", "profile", "scale", "allocate",
                                                  "delay", "plan",    "monitor", "drain"};
    coverage_.hit(std::string("change in ") + names[static_cast<std::size_t>(state)]);
    in.change = true;
    if (present_.empty()) new_machine();
    const bool comes = present_.empty() || (present_.size() < p_.max_kernels && random_.chance(0.6));
    if (comes) {
      std::vector<std::uint8_t> free;
      for (std::uint32_t k = 0; k < p_.max_kernels; ++k) {
        if (std::ranges::find(present_, k) == present_.end()) free.push_back(static_cast<std::uint8_t>(k));
      }
      const std::uint8_t k = free[random_.in(0, static_cast<std::uint32_t>(free.size()) - 1)];
      present_.push_back(k);
      const auto some = [this](std::uint32_t capacity) {
        if (random_.chance(0.3))  // so many fit exactly, or one less
          return std::min(capacity, capacity / random_.in(1, 16) + (random_.chance(0.3) ? 1 : 0));
        return random_.in(0, capacity >> random_.in(0, 5));
      };
      config.demand_warps[k] = std::max(1U, some(config.capacity_warps));
      config.demand_registers[k] = some(config.capacity_registers);
      config.demand_shared[k] = random_.chance(0.4) ? 0 : some(config.capacity_shared);
    } else {
      present_.erase(present_.begin() + random_.in(0, static_cast<std::uint32_t>(present_.size()) - 1));
    }
    in.num_present = static_cast<std::uint8_t>(present_.size());
    in.age = {};
    std::ranges::copy(present_, in.age.begin());
  }
  /// SMs that come to hold what the layout says, and kernels that have nothing more to dispatch; in a window the former stay.
  void settle(State state) {
    if (random_.chance(0.01)) in.spent = static_cast<std::uint8_t>(random_.chance(0.7) ? 0 : random_.word());
    if (state == State::kProfile || state == State::kScale) return;
    if (stuck_) {  // the drain ends by its limit
      in.settled.reset();
      in.spent = 0;
      return;
    }
    if (random_.chance(state == State::kDrain ? 0.0005 : 0.01)) in.settled.reset();
    if (random_.chance(0.2)) in.settled.set(random_.in(0, p_.num_sm - 1));
    if (random_.chance(0.01)) in.settled.set();
  }
  void decide() {
    in.core.no_fit = random_.chance(0.2);
    in.core.spatial = random_.chance(0.3);
    for (std::uint32_t k = 0; k < p_.max_kernels; ++k) in.core.ctas[k] = static_cast<std::uint8_t>(random_.in(1, p_.max_ctas));
  }

  Random& random_;
  regs::Parameters p_;
  Coverage& coverage_;
  bool patient_ = false;
  bool stuck_ = false;  ///< no SM comes to hold what it should
  std::vector<std::uint8_t> present_;
};

inline void cover(const SluiceConfig& config, const SequencerIn& in, const SequencerOut& out, const SequencerOut& before,
                  unsigned sms, Coverage& coverage) {
  static const std::array<const char*, 6> names{"left over", "fcfs", "even", "spatial", "static", "dynamic"};
  const auto state = static_cast<State>(out.state);
  const bool settled = state == State::kIdle || state == State::kMonitor;
  const bool partitioned = config.mode == 2 || config.mode == 3 || config.mode == 5;
  if (settled && in.num_present > 1) coverage.hit(std::string("mode ") + names[config.mode]);
  if (settled && partitioned && in.num_present == 1) coverage.hit("alone");
  if (settled && in.num_present == 0) coverage.hit("nobody");
  if (state == State::kIdle && (config.mode == 3 || config.mode == 5) && in.num_present > sms)
    coverage.hit("more kernels than SMs");
  if (out.decision) coverage.hit(out.no_fit ? "no fit" : out.spatial ? "loss guard" : "partition");
  if (state == State::kDelay) coverage.hit("delay");
  if (state == State::kWarmUp && static_cast<State>(before.state) == State::kScale) coverage.hit("several windows");
  if (state == State::kScale && !out.core.sample_valid) coverage.hit("kernel without levels left");
  if (out.dropped && state == State::kScale) coverage.hit("sample dropped");
  if (out.decision && out.no_profile) coverage.hit("no profile");
  if (state == State::kProfile && static_cast<State>(before.state) == State::kDrain && !in.settled.any() && in.spent == 0)
    coverage.hit(config.drain_limit == 0 ? "drain limit" : "drain limit that was counted");
  if (settled && config.mode == 2 && out.no_fit && in.num_present > 1 && in.num_present <= sms)
    coverage.hit("share without a CTA");
  bool disabled = false;
  for (unsigned m = 0; m < sms; ++m) disabled |= !config.sm_enable[m];
  if (state == State::kIdle && !before.idle && config.mode == 3 && in.num_present > 1 && in.num_present <= sms && out.regions)
    coverage.hit("no SM for a kernel");
  if (state == State::kProfile && disabled) coverage.hit("disabled SM in a profile");
  if (state == State::kWarmUp && config.warm_up > 2000) coverage.hit("long warm-up");
}

/// Under SPATIAL and in a profile an SM belongs to one kernel, and every SM to some kernel; nobody has more than MAX_CTAS.
inline void check_quotas(const SluiceConfig& config, const SequencerOut& out, const std::vector<std::uint32_t>& quotas,
                         const regs::Parameters& p, const SequencerIn& in, bool restarting) {
  for (const std::uint32_t quota : quotas) ASSERT_LE(quota, p.max_ctas);
  const auto state = static_cast<State>(out.state);
  if (state == State::kPlan && p.churn == 0) {
    ASSERT_EQ(std::accumulate(quotas.begin(), quotas.end(), 0U), 0U) << "something may start while a plan is made";
  }
  const bool profiles = state == State::kWarmUp || state == State::kDrain || state == State::kProfile;
  const bool split = profiles || (state == State::kMonitor && (out.spatial || out.no_fit || out.no_profile));
  if (split && !restarting && out.core.kept == 0) {
    ASSERT_LE(std::ranges::count_if(quotas, [](std::uint32_t q) { return q > 0; }), 1) << "an SM of two kernels";
  }
  if (config.mode == 4 && !restarting && state == State::kIdle && !config.mode_write && in.num_present > 0) {
    for (std::uint32_t k = 0; k < p.max_kernels; ++k) ASSERT_LE(quotas[k], config.quota[k]);
  }
}

template <class Top>
void lockstep(const regs::Parameters& parameters, std::uint64_t cycles, std::uint64_t patient_cycles = 0) {
  Random random(seed());
  Coverage coverage("partition_sequencer");
  declare_bins(coverage, parameters.churn != 0);
  ChurnScoreboard churn(parameters, coverage);
  RtlPartitionSequencer<Top> rtl(parameters, waveform("partition_sequencer"));
  PartitionSequencerTwin twin(parameters);
  Traffic traffic(random, parameters, coverage);
  traffic.reset();
  SequencerOut before;
  std::uint64_t decisions = 0;
  for (std::uint64_t c = 0; c < cycles + patient_cycles; ++c) {
    if (c == cycles) traffic.be_patient();
    if (c < cycles && random.chance(0.00005)) {
      if (before.state != 0) coverage.hit("reset");
      rtl.reset();
      twin.reset();
      churn.reset();
      traffic.reset();
    }
    traffic.next(twin.out(traffic.config));
    const std::uint32_t sm = random.in(0, parameters.num_sm - 1);
    const SequencerOut a = rtl.out(traffic.config, traffic.in, sm), b = twin.out(traffic.config);
    ASSERT_EQ(churn.observe(traffic.config, traffic.in, a, rtl.reads() && !rtl.drops()), "") << "cycle " << c;
    ASSERT_EQ(difference(a, b, parameters.max_kernels, parameters.churn != 0), "") << "cycle " << c;
    const bool restarting = twin.restarts(traffic.config, traffic.in);
    ASSERT_EQ(rtl.core_abort(), restarting) << "core_abort_o, cycle " << c;
    ASSERT_EQ(rtl.reads(), twin.reads()) << "sample_read_o, sample_sm_o, cycle " << c;
    const bool dropped = rtl.reads() && rtl.drops();
    if (a.profile_enable) {
      ASSERT_EQ(rtl.owner(sm), *twin.owner(sm)) << "owner_o of SM " << sm << ", cycle " << c;
    }
    std::vector<std::uint32_t> quotas;
    for (std::uint32_t k = 0; k < parameters.max_kernels; ++k) {
      quotas.push_back(rtl.quota(k));
      ASSERT_EQ(quotas.back(), twin.quota(traffic.config, sm, k))
          << "query_quota_o of kernel " << k << " on SM " << sm << ", cycle " << c;
    }
    for (std::uint32_t k = 0; k < parameters.max_kernels; ++k)
      ASSERT_EQ(rtl.port_quota(k), twin.quota(traffic.config, parameters.num_sm - 1 - sm, k))
          << "port_quota_o of kernel " << k << ", cycle " << c;
    check_quotas(traffic.config, a, quotas, parameters, traffic.in, restarting);
    if (testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << "cycle " << c;
      return;
    }
    cover(traffic.config, traffic.in, a, before, parameters.num_sm, coverage);
    decisions += a.decision ? 1 : 0;
    before = a;
    rtl.clock(traffic.config, traffic.in);
    twin.clock(traffic.config, traffic.in);
    const SequencerOut next = twin.out(traffic.config);
    if (next.core.sample_valid) {
      ASSERT_EQ(dropped, next.drop) << "sample_drop_o, cycle " << c;
    }
  }
  const std::uint64_t ran = cycles + patient_cycles;
  std::printf("%llu cycles, %llu decisions\n", static_cast<unsigned long long>(ran), static_cast<unsigned long long>(decisions));
  auto missed = coverage.missed();
  if (parameters.num_sm >= parameters.max_kernels) std::erase(missed, "more kernels than SMs");
  for (const char* bin : {"no SM for a kernel", "disabled SM in a profile", "enable write in decision"})
    if (parameters.sm_enable == 0) std::erase(missed, bin);
  EXPECT_EQ(missed, std::vector<std::string>{});
}

}  // namespace sluice::tb
