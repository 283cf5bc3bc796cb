// SPDX-License-Identifier: Apache-2.0
#include "tb/cta_dispatcher/trio.h"

#include <gtest/gtest.h>

#include "tb/common/random.h"

namespace sluice {

namespace {

bool no_event(const CtaDispatcherIn& in) {
  return (in.launch | in.stop | in.evict | in.resume | in.flush) == 0 && !in.done_valid && !in.quota_changed;
}

/// The fields of the dispatch port mean nothing without valid.
void hide_dispatch(const CtaDispatcherOut& rtl, CtaDispatcherOut& twin) {
  twin.dispatch_sm = rtl.dispatch_sm;
  twin.dispatch_kernel = rtl.dispatch_kernel;
  twin.dispatch_slot = rtl.dispatch_slot;
  twin.dispatch_cta = rtl.dispatch_cta;
  twin.dispatch_register_base = rtl.dispatch_register_base;
  twin.dispatch_shared_base = rtl.dispatch_shared_base;
  twin.dispatch_region_valid = rtl.dispatch_region_valid;
  twin.dispatch_tag = rtl.dispatch_tag;
}

/// The first port at which they differ.
std::string difference(const CtaDispatcherOut& a, const CtaDispatcherOut& b) {
  if (a.query_sm != b.query_sm) return "query_sm_o";
  if (a.state != b.state || a.num_present != b.num_present || a.age != b.age || a.change != b.change)
    return "slot_state_o, num_present_o, age_o, change_o";
  if (a.resident != b.resident || a.dispatched != b.dispatched) return "resident_o, dispatched_o";
  if (a.evict_done != b.evict_done || a.kernel_done != b.kernel_done) return "evict_done_o, kernel_done_o";
  if (a.sm_busy != b.sm_busy) return "sm_busy_o";
  if (a.flush_valid != b.flush_valid || a.flush_kernel != b.flush_kernel || a.flush_tag != b.flush_tag) return "flush_*_o";
  if (a.giving_up != b.giving_up || a.giving_sm != b.giving_sm || a.giving_slot != b.giving_slot) return "giving_*_o";
  if (a.bad_done != b.bad_done || a.cannot_fit != b.cannot_fit || a.slot_busy != b.slot_busy || a.bad_kernel != b.bad_kernel ||
      a.port_stuck != b.port_stuck)
    return "bad_done_o, cannot_fit_o, slot_busy_o, bad_kernel_o, port_stuck_o";
  if (a.error_kernel != b.error_kernel || a.error_sm != b.error_sm || a.error_slot != b.error_slot)
    return "error_kernel_o, error_sm_o, error_slot_o";
  if (a.dispatch_valid != b.dispatch_valid || a.dispatch_kernel != b.dispatch_kernel || a.dispatch_sm != b.dispatch_sm)
    return "dispatch_valid_o, dispatch_kernel_o, dispatch_sm_o";
  if (a.dispatch_tag != b.dispatch_tag) return "dispatch_tag_o";
  return "dispatch_slot_o, dispatch_cta_o, dispatch_register_base_o, dispatch_shared_base_o, dispatch_region_valid_o";
}

}  // namespace

void DispatchTrio::reset(const DispatchCycle& cycle) {
  rtl_.clock(cycle.in);
  tlm_.clock(cycle.in);
  scoreboard_.emplace(params_, cycle.in, coverage_);
}

std::string DispatchTrio::clock(const DispatchCycle& cycle) {
  const bool idle = tlm_.quiet(cycle.in) && !tlm_.ready_changes(cycle.in), quiet = no_event(cycle.in) && idle;
  const CtaDispatcherOut before = tlm_.outputs();
  rtl_.clock(cycle.in);
  tlm_.clock(cycle.in);
  const CtaDispatcherOut& rtl = rtl_.outputs();
  CtaDispatcherOut twin = tlm_.outputs();
  if (quiet && !(before == twin)) return "the twin promised a quiet cycle and changed";
  if (rtl_.was_idle() != idle) return "RTL and twin differ at idle_o";
  quiet_cycles_ += quiet ? 1 : 0;
  if (!rtl.dispatch_valid && !twin.dispatch_valid) hide_dispatch(rtl, twin);
  std::string wrong = scoreboard_->observe(rtl, cycle);
  if (!(rtl == twin)) wrong += " (RTL and twin differ at " + difference(rtl, twin) + ")";
  return wrong;
}

namespace {

void run(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params, std::uint64_t total, tb::Coverage& coverage) {
  const std::uint64_t seed = tb::seed();
  DispatchTraffic traffic(seed, params);
  DispatchTrio trio(rtl, params, coverage);
  std::mt19937_64 random(seed);
  std::uint64_t cycle = 0;
  while (cycle < total) {
    if (cycle != 0 && !traffic.idle(trio.outputs())) coverage.hit("reset in mid-traffic");
    trio.reset(traffic.reset());
    const std::uint64_t length = std::uniform_int_distribution<std::uint64_t>(1, 6000)(random);
    for (std::uint64_t c = 0; c < length; ++c, ++cycle) {
      const std::string wrong = trio.clock(traffic.next(trio.outputs()));
      ASSERT_EQ(wrong, "") << "seed " << seed << " cycle " << cycle;
    }
    if (length % 2 == 0) continue;
    // Everything that was taken comes back.
    for (int guard = 0; !traffic.idle(trio.outputs()); ++guard, ++cycle) {
      ASSERT_LT(guard, 20000) << "does not drain, seed " << seed << " cycle " << cycle;
      const std::string wrong = trio.clock(traffic.drain(trio.outputs()));
      ASSERT_EQ(wrong, "") << "seed " << seed << " cycle " << cycle;
    }
    coverage.hit("drained");
  }
  std::printf("%llu cycles, %llu of them quiet\n", static_cast<unsigned long long>(cycle),
              static_cast<unsigned long long>(trio.quiet_cycles()));
}

}  // namespace

std::vector<std::string> random_dispatch_campaign(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params,
                                                  std::uint64_t total) {
  tb::Coverage coverage("cta_dispatcher");
  declare_dispatch_bins(coverage);
  run(rtl, params, total, coverage);
  return coverage.missed();
}

}  // namespace sluice
