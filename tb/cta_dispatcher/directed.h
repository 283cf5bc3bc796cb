// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include "tb/common/random.h"
#include "tb/cta_dispatcher/trio.h"

namespace sluice {

/// A dispatcher under directed inputs: every cycle is still checked by twin and golden model. Starts with one kind of SM (48
/// warps, 32,768 registers, 48 KB, all slots), no quotas, counts only, a port that is always ready, and CTAs of one warp and
/// nothing else.
class DirectedDispatch {
 public:
  DirectedDispatch(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params)
      : coverage_("cta_dispatcher"), trio_(rtl, params, coverage_) {
    declare_dispatch_bins(coverage_);
    CtaDispatcherIn& in = cycle.in;
    in.capacity_warps = 48;
    in.capacity_registers = 32768;
    in.capacity_shared_bytes = 49152;
    in.capacity_slots = params.ctas;
    in.demand_warps.fill(1);
    in.grid.fill(1000000000);
    in.dispatch_ready = true;
    cycle.quota.resize(params.num_sms);
    for (auto& sm : cycle.quota) sm.fill(static_cast<std::uint8_t>(params.ctas));
  }
  /// One cycle with the inputs as they stand; pulses are taken back after it.
  void step() {
    CtaDispatcherIn& in = cycle.in;
    const CtaDispatcherOut out = trio_.outputs();
    if (!up_) {
      in.rst_n = false;
      trio_.reset(cycle);
      in.rst_n = up_ = true;
      in.quota_changed = true;
      return;
    }
    in.quota = cycle.quota[out.query_sm];
    in.port_quota = cycle.quota[out.dispatch_sm];
    if (out.dispatch_valid && in.dispatch_ready) started.push_back(out);
    ASSERT_EQ(trio_.clock(cycle), "");
    in.launch = in.stop = in.evict = in.resume = in.flush = 0;
    in.quota_changed = in.done_valid = false;
  }
  void steps(unsigned count) {
    for (unsigned i = 0; i < count; ++i) step();
  }
  /// In the next step the i-th CTA of `started` ends.
  void end(std::size_t i) {
    cycle.in.done_valid = true;
    cycle.in.done_sm = started[i].dispatch_sm;
    cycle.in.done_slot = started[i].dispatch_slot;
    cycle.in.done_kernel = started[i].dispatch_kernel;
    cycle.in.done_tag = started[i].dispatch_tag;
    started[i] = started.back();
    started.pop_back();
  }
  [[nodiscard]] const CtaDispatcherOut& outputs() const { return trio_.outputs(); }
  [[nodiscard]] const DispatchScoreboard& scoreboard() const { return trio_.scoreboard(); }

  DispatchCycle cycle;
  std::vector<CtaDispatcherOut> started;  ///< as they left the port; those that ended are taken out

 private:
  tb::Coverage coverage_;
  DispatchTrio trio_;
  bool up_ = false;
};

/// One launch on an empty machine, all SMs filled, then CTAs end at random, one a cycle. Prints one line of JSON.
/// @param never_ready  an SM that takes no CTA, ever
inline void check_rates(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params, std::uint64_t window,
                        std::optional<std::uint32_t> never_ready = std::nullopt) {
  DirectedDispatch bench(rtl, params);
  tb::Random random(tb::seed());
  bench.cycle.in.repeat = 1;
  if (never_ready) bench.cycle.in.sm_ready[*never_ready] = false;
  bench.steps(3);
  bench.cycle.in.launch = 1;
  unsigned first = 0;
  for (; !bench.outputs().dispatch_valid && first < 100; ++first) bench.step();
  const std::size_t all = std::size_t{params.num_sms - (never_ready ? 1 : 0)} * params.ctas;
  while (bench.started.size() < all) {  // no gap while the machine fills
    ASSERT_TRUE(bench.outputs().dispatch_valid) << bench.started.size();
    bench.step();
  }
  std::uint64_t dispatched = 0;
  for (std::uint64_t c = 0; c < window + 10; ++c) {
    bench.end(random.in(0, static_cast<std::uint32_t>(bench.started.size() - 1)));
    bench.step();
    if (c >= 10) dispatched += bench.outputs().dispatch_valid ? 1 : 0;
  }
  const double rate = static_cast<double>(dispatched) / static_cast<double>(window);
  std::printf("{\"num_sm\":%u,\"first_dispatch_cycles\":%u,\"dispatch_per_cycle\":%.6f}\n", params.num_sms, first, rate);
  EXPECT_LE(first, 3U);
  // Every end is answered by a grant: what is missing ended in the six cycles that a pick is behind, or on one of the three SMs
  // that are busy.
  EXPECT_GE(dispatched + 3 * params.ctas + 6, window);
}

}  // namespace sluice
