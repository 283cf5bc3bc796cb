// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include "tb/cta_dispatcher/directed.h"
#include "tb/cta_dispatcher/rtl_cta_dispatcher.h"

namespace sluice {

/// A machine whose CTAs last so many cycles, and longer where several end at once.
class Crowd {
 public:
  Crowd(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params, unsigned life)
      : bench(rtl, params), params_(params), life_(life) {
    bench.steps(3);
  }
  void launch(unsigned kernel) {
    bench.cycle.in.launch = static_cast<std::uint8_t>(1U << kernel);
    bench.step();
  }
  void step() {
    for (; timed_ < bench.started.size(); ++timed_) since(bench.started[timed_]) = now_;
    for (std::size_t i = 0; i < bench.started.size(); ++i) {
      if (hung == bench.started[i].dispatch_sm || now_ - since(bench.started[i]) < life_) continue;
      bench.end(i);
      --timed_;
      break;
    }
    bench.step();
    ++now_;
  }
  /// Cycles until the kernel has its next CTA, at most so many.
  unsigned waits(unsigned kernel, unsigned most) {
    const std::uint32_t before = bench.outputs().dispatched[kernel];
    unsigned cycles = 0;
    while (cycles < most && bench.outputs().dispatched[kernel] == before && !testing::Test::HasFatalFailure()) {
      step();
      ++cycles;
    }
    return cycles;
  }
  /// The bound, with one claim before the own one: urgent; claims, each until an SM is read, is empty and known.
  [[nodiscard]] unsigned bound(unsigned claims) const {
    const unsigned others = 2 * (params_.num_sms - 1), drain = life_ + params_.num_sms * params_.ctas;
    return (2U << params_.patience) + claims * (4 + others + drain + 6 + others + 4);
  }

  /// It is not ready any more, and its CTAs don't end.
  void hang(unsigned sm) {
    bench.cycle.in.sm_ready[sm] = false;
    hung = sm;
  }

  DirectedDispatch bench;
  std::optional<unsigned> hung;

 private:
  std::uint64_t& since(const CtaDispatcherOut& cta) { return since_.at(cta.dispatch_sm).at(cta.dispatch_slot); }
  CtaDispatcherParams params_;
  unsigned life_;
  std::uint64_t now_ = 0;
  std::size_t timed_ = 0;
  std::array<std::array<std::uint64_t, kMaxCtaSlots>, kMaxSms> since_{};
};

/// Kernel 0 keeps every SM in pieces; a CTA of kernel 1 needs a whole one.
inline void keep_out(Crowd& crowd, std::optional<unsigned> hangs = std::nullopt) {
  CtaDispatcherIn& in = crowd.bench.cycle.in;
  in.demand_warps[0] = 12;
  in.demand_warps[1] = 48;
  crowd.launch(0);
  for (int c = 0; c < 200; ++c) crowd.step();
  if (hangs) crowd.hang(*hangs);
  crowd.launch(1);
}

}  // namespace sluice
