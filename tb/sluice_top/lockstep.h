// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Verilated sluice_top and its twin under the same random host and SMs, compared at every port in every cycle, and held
// against the golden dispatch model and the golden decision.
#include <gtest/gtest.h>

#include <algorithm>

#include "tb/sluice_top/top_scoreboard.h"
#include "tb/sluice_top/top_traffic.h"

namespace sluice::tb {

/// From time to time everything comes to its end: each kernel by itself, but those with a long way to go, which the host stops.
class Ending {
 public:
  static constexpr std::uint64_t kLimit = 100000;  ///< cycles that all of it may take
  static constexpr std::uint32_t kLong = 2000;     ///< CTAs
  static constexpr unsigned kQuiet = 100;          ///< cycles without a kernel, so that no launch waits either

  /// One cycle. @return what is wrong; empty when nothing is
  std::string observe(const CtaLedger& ledger, TopTraffic& traffic, bool begin) {
    if (begin && !under_way_) {
      traffic.let_all_end();
      under_way_ = true;
      cycles_ = quiet_ = 0;
    }
    if (!under_way_) return {};
    const auto& kernels = ledger.kernels();
    quiet_ = std::ranges::any_of(kernels, [](const auto& kernel) { return kernel.has_value(); }) ? 0 : quiet_ + 1;
    for (unsigned k = 0; cycles_ % 1000 == 999 && k < kernels.size(); ++k)
      if (kernels[k] && kernels[k]->left() > kLong) traffic.stop(k);
    if (++cycles_ >= kLimit) return "a kernel does not end";
    if (quiet_ < kQuiet || cycles_ < 2000) return {};
    traffic.go_on();
    under_way_ = false;
    longest_ = std::max(longest_, cycles_);
    ++times_;
    return {};
  }
  [[nodiscard]] unsigned times() const { return times_; }
  [[nodiscard]] std::uint64_t longest() const { return longest_; }

 private:
  bool under_way_ = false;
  std::uint64_t cycles_ = 0, longest_ = 0;
  unsigned quiet_ = 0, times_ = 0;
};

inline void lockstep(ISluiceTop& rtl, const regs::Parameters& parameters, std::uint64_t cycles, bool all_bins) {
  Random random(seed());
  SluiceTopTwin twin(parameters);
  TopTraffic traffic(random, parameters);
  Coverage coverage("sluice_top"), dispatch_coverage("cta_dispatcher");
  declare_top_bins(coverage);
  declare_dispatch_bins(dispatch_coverage);
  TopScoreboard scoreboard(parameters, coverage, dispatch_coverage);
  std::uint64_t profiled = 0, idle = 0;
  Ending ending;
  const std::uint64_t period = std::min<std::uint64_t>(cycles / 2, 1000000);
  for (std::uint64_t c = 0; c < cycles; ++c) {
    const SluiceTopOut a = rtl.outputs(), b = twin.outputs();
    ASSERT_EQ(port_difference(a, b), "") << "cycle " << c;
    profiled += a.profile_valid ? 1 : 0;
    idle += a.idle ? 1 : 0;
    const SluiceTopIn& in = traffic.next();
    scoreboard.look(a, twin);
    rtl.clock(in);
    twin.clock(in);
    traffic.observe(a);
    const std::string wrong = scoreboard.check(in, twin);
    ASSERT_EQ(wrong, "") << "against the golden model, cycle " << c;
    const std::string stuck = ending.observe(scoreboard.ledger(), traffic, c % period == period - Ending::kLimit);
    ASSERT_EQ(stuck, "") << "cycle " << c;
  }
  const auto n = [](auto value) { return static_cast<unsigned long long>(value); };
  const CtaLedger::Counts& all = scoreboard.ledger().counts();
  std::printf(
      "%llu kernels launched, %llu of them by the port; %llu ran to their end, %llu were stopped, %llu flushed; %llu CTAs "
      "started\n",
      n(all.launched), n(all.by_the_port), n(all.completed), n(all.stopped), n(all.flushed), n(all.started));
  std::printf("%u times all came to its end, in %llu cycles at most\n", ending.times(), n(ending.longest()));
  EXPECT_EQ(ending.times(), cycles / period) << "a kernel does not end";
  std::printf(
      "%llu cycles, %llu CTAs dispatched, %llu ended, %llu given up, %llu profile entries, %llu idle cycles, %llu decisions, "
      "%llu of them not judged\n",
      n(cycles), n(traffic.dispatched()), n(traffic.ended()), n(traffic.given_up()), n(profiled), n(idle),
      n(scoreboard.decisions()), n(scoreboard.not_judged()));
  std::printf("%llu samples count, %llu of SMs that were refilled in all of the window; the longest refill took %u cycles\n",
              n(scoreboard.clean_samples()), n(scoreboard.never_full()), scoreboard.longest_refill() + 1);
  const std::uint64_t few = cycles / (150000 + 4 * traffic.life());  // 2 in the shortest campaign: some seeds ask for few
  EXPECT_GT(scoreboard.clean_samples(), few);
  EXPECT_GT(scoreboard.decisions(), few);
  EXPECT_GT(traffic.dispatched(), cycles / 100);
  if (all_bins) {
    auto missed = coverage.missed();
    if (parameters.sm_ready == 0) std::erase(missed, "an SM stalls");
    if (parameters.sm_enable == 0)
      std::erase_if(missed, [](const std::string& bin) { return bin.find("disabled") != std::string::npos; });
    if (parameters.churn == 0) std::erase(missed, "decision by kept curves");
    if (parameters.flush == 0) std::erase_if(missed, [](const std::string& bin) { return bin.starts_with("flush"); });
    if (parameters.launch_queue == 0)
      std::erase_if(missed, [](const std::string& bin) { return bin.starts_with("launch port"); });
    if (parameters.launch_queue == 0) std::erase(missed, "launches from both sides");
    const auto of_the_dispatcher = dispatch_coverage.missed();
    const auto must_be_met = [&](bool there, const char* bin) {
      if (there && std::ranges::count(of_the_dispatcher, bin) != 0) missed.emplace_back(bin);
    };
    must_be_met(parameters.priority != 0, "a kernel goes before an older one by its priority");
    must_be_met(parameters.patience != 0, "a kernel without a CTA had waited long");
    must_be_met(parameters.sm_ready != 0, "an SM that can't be given a CTA is passed over");
    must_be_met(parameters.flush != 0, "report of a CTA that was given up, its slot given again");
    EXPECT_EQ(missed, std::vector<std::string>{});
  }
}

}  // namespace sluice::tb
