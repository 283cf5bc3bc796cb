// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "systemc/unit/twin/cta_dispatcher.h"
#include "tb/cta_dispatcher/i_dispatcher_under_test.h"
#include "tb/cta_dispatcher/scoreboard.h"
#include "tb/cta_dispatcher/traffic.h"

namespace sluice {

/// RTL, twin and golden model on the same inputs.
class DispatchTrio {
 public:
  DispatchTrio(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params, tb::Coverage& coverage)
      : rtl_(rtl), tlm_(params), params_(params), coverage_(coverage) {}

  void reset(const DispatchCycle& cycle);
  /// @return what is wrong; empty when nothing is
  [[nodiscard]] std::string clock(const DispatchCycle& cycle);
  [[nodiscard]] const CtaDispatcherOut& outputs() const { return rtl_.outputs(); }
  [[nodiscard]] const DispatchScoreboard& scoreboard() const { return *scoreboard_; }
  [[nodiscard]] std::uint64_t quiet_cycles() const { return quiet_cycles_; }

 private:
  IDispatcherUnderTest& rtl_;
  CtaDispatcherTwin tlm_;
  CtaDispatcherParams params_;
  tb::Coverage& coverage_;
  std::optional<DispatchScoreboard> scoreboard_;
  std::uint64_t quiet_cycles_ = 0;
};

/// Random traffic for `total` cycles, with resets in between, some of them after a drain. Fails the running test at a difference.
/// @return the functional bins that were not reached
std::vector<std::string> random_dispatch_campaign(IDispatcherUnderTest& rtl, const CtaDispatcherParams& params,
                                                  std::uint64_t total);

}  // namespace sluice
