// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "systemc/unit/rtl/verilated_model.h"
#include "systemc/unit/twin/phase_monitor.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {

/// phase_monitor as Verilated, with its settings and what kernels issue in a cycle.
/// @tparam Top  the Verilated class, of kKernels kernels on SMs of kSchedulers schedulers
template <class Top, unsigned kKernels, unsigned kSchedulers>
class MonitorRtl {
 public:
  MonitorRtl() : rtl_(waveform("phase_monitor")) {}

  void settings(const SluiceConfig& config) {
    rtl_->window_i = static_cast<SData>(config.monitor_window);
    rtl_->threshold_i = static_cast<SData>(config.monitor_threshold);
    rtl_->hold_i = static_cast<CData>(config.monitor_hold);
  }
  /// @param issued  instructions of each kernel, at most kSchedulers; through which of them is left to `turn`
  /// @return request_o after the cycle
  bool cycle(bool reset, bool active, const PerKernel<unsigned>& issued, unsigned turn) {
    std::uint32_t issue = 0;
    for (unsigned k = 0; k < kKernels; ++k) {
      for (unsigned i = 0; i < issued[k]; ++i) issue |= 1U << (k * kSchedulers + (turn + i) % kSchedulers);
    }
    rtl_->rst_ni = !reset;
    rtl_->active_i = active;
    rtl_->issue_i = static_cast<std::remove_reference_t<decltype(rtl_->issue_i)>>(issue);
    rtl_.low();
    rtl_.high();
    return rtl_->request_o != 0;
  }

 private:
  VerilatedModel<Top> rtl_;
};

inline void declare_bins(Coverage& coverage) {
  coverage.declare("request", "a kernel behaves otherwise");
  coverage.declare("request at once", "one window of it is enough");
  coverage.declare("request late", "three windows or more in a row");
  coverage.declare("quiet", "watched for ten windows without a request");
  coverage.declare("dropped", "the decision ends while it is watched");
  coverage.declare("dropped while judged", "the same, in the cycles between windows");
  coverage.declare("settings change", "while it watches");
  coverage.declare("settings change while judged", "the same, in the cycles between windows");
  coverage.declare("reset", "a reset while it watches");
}

/// RTL and twin under kernels whose rate changes now and then and a host that changes its mind.
template <class Top, unsigned kKernels, unsigned kSchedulers>
void lockstep(std::uint64_t cycles) {
  Random random(seed());
  Coverage coverage("phase_monitor");
  declare_bins(coverage);
  MonitorRtl<Top, kKernels, kSchedulers> rtl;
  PhaseMonitorTwin twin(kKernels);
  SluiceConfig config;
  std::array<double, kKernels> rate{};
  std::uint64_t since = 0;  // a request, or the beginning
  bool active = false;
  for (std::uint64_t c = 0; c < cycles; ++c) {
    const double period = config.monitor_window + kKernels * PhaseMonitorTwin::kJudging;
    const bool reset = c == 0 || random.chance(0.01 / period);
    if (!active || random.chance(0.1 / period)) {
      const std::uint32_t longest = random.chance(0.7) ? 300 : 65535U >> random.in(0, 7);
      config.monitor_window = random.chance(0.2) ? random.in(1, 30) : random.in(longest / 2, longest);
      config.monitor_threshold = random.chance(0.1) ? random.in(0, 32767) : random.in(0, 8000);
      config.monitor_hold = random.chance(0.1) ? random.in(1, 255) : random.in(1, 4);
      if (active) {
        const bool drop = random.chance(0.3);
        coverage.hit(drop ? "dropped" : "settings change");
        if (twin.judging()) coverage.hit(drop ? "dropped while judged" : "settings change while judged");
        if (drop) active = false;
      }
    }
    if (!active && random.chance(0.2)) active = true, since = 0;
    if (random.chance(0.1 / period) || c == 0) {
      for (double& r : rate) r = random.chance(0.3) ? 0 : random.in(0, 100) / 100.0;
    }
    PerKernel<unsigned> issued{};
    for (unsigned k = 0; k < kKernels; ++k) {
      for (unsigned s = 0; s < kSchedulers; ++s) issued[k] += random.chance(rate[k]) ? 1 : 0;
    }
    rtl.settings(config);
    const bool request = rtl.cycle(reset, active, issued, random.in(0, kSchedulers - 1));
    if (reset) {
      if (static_cast<double>(since) > 3 * period) coverage.hit("reset");
      twin = PhaseMonitorTwin(kKernels);
      since = 0;
    } else {
      twin.clock(config, active, issued);
    }
    ASSERT_EQ(request, twin.request()) << "cycle " << c;
    ++since;
    if (static_cast<double>(since) > 12 * period && active) coverage.hit("quiet");
    if (!request) continue;
    coverage.hit("request");
    if (config.monitor_hold == 1) coverage.hit("request at once");
    if (config.monitor_hold >= 3) coverage.hit("request late");
    since = 0;
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

/// Kernels that issue exactly so many instructions in each window, and all they can between windows.
template <class Top, unsigned kKernels, unsigned kSchedulers>
class Exact {
 public:
  using Counts = std::array<std::uint32_t, kKernels>;

  void begin(const SluiceConfig& config) {
    rtl_.settings(config);
    rtl_.cycle(true, true, {}, 0);
    rtl_.cycle(false, true, {}, 0);
    window_ = config.monitor_window;
  }
  /// @return whether the judging of the window ends with a request; one in any other cycle is a failure
  bool window(const Counts& counts) {
    const std::uint64_t last = window_ + kKernels * PhaseMonitorTwin::kJudging - 1;
    for (std::uint64_t i = 0;; ++i) {
      PerKernel<unsigned> issued{};
      for (unsigned k = 0; k < kKernels; ++k)
        issued[k] = i >= window_ ? kSchedulers : static_cast<unsigned>((i + 1) * counts[k] / window_ - i * counts[k] / window_);
      const bool request = rtl_.cycle(false, true, issued, static_cast<unsigned>(i));
      if (i == last) return request;
      EXPECT_FALSE(request) << "cycle " << i << " of a window of " << window_;
    }
  }

 private:
  MonitorRtl<Top, kKernels, kSchedulers> rtl_;
  std::uint64_t window_ = 0;
};

/// The verdict, against the formula of the specification, one unit of the threshold on either side.
/// @param most  lengths of a window are at most this in this case
template <class Top, unsigned kKernels, unsigned kSchedulers>
void judge_exactly(Exact<Top, kKernels, kSchedulers>& bench, Random& random, std::uint32_t most) {
  SluiceConfig config;
  const std::uint32_t window = random.in(std::max(1U, most / 2), most);
  typename Exact<Top, kKernels, kSchedulers>::Counts reference{}, then{};
  for (std::uint32_t& r : reference) r = random.in(0, kSchedulers * window);
  const unsigned moving = random.in(0, kKernels - 1);
  reference[moving] = std::max(1U, random.in(random.chance(0.5) ? kSchedulers * window / 2 : 0, kSchedulers * window));
  then = reference;
  const std::uint32_t span = std::max(1U, (2 * reference[moving] - 1) >> random.in(0, 7));
  const bool more = reference[moving] + span <= kSchedulers * window && random.chance(0.5);
  then[moving] =
      more ? reference[moving] + random.in(1, span) : reference[moving] - random.in(1, std::min(span, reference[moving]));
  const std::uint64_t distance = more ? then[moving] - reference[moving] : reference[moving] - then[moving];
  const std::uint64_t limit = (distance << 14) / reference[moving];  // the largest threshold that it is not below
  const bool exact = (distance << 14) % reference[moving] == 0;
  const bool expected = random.chance(0.5);
  const std::uint64_t threshold = expected ? limit - (exact ? 1 : 0) : limit + (exact ? 0 : 1);
  const std::uint32_t hold = window > 5000        ? 1
                             : window > 100       ? random.in(1, 3)
                             : random.chance(0.1) ? random.in(1, 255)
                                                  : random.in(1, 5);
  config.monitor_window = window;
  config.monitor_threshold = static_cast<std::uint32_t>(threshold);
  config.monitor_hold = hold;
  bench.begin(config);
  bool early = bench.window(then);  // settles
  early |= bench.window(reference);
  const auto row = [&](std::uint32_t windows) {
    for (std::uint32_t w = 0; w < windows; ++w) early |= bench.window(then);
  };
  row(hold - 1);
  if (random.chance(0.3)) {  // one window like the reference ends the row
    early |= bench.window(reference);
    row(hold - 1);
  }
  ASSERT_FALSE(early) << "asked too early";
  ASSERT_EQ(bench.window(then), expected) << reference[moving] << " -> " << then[moving] << ", threshold " << threshold
                                          << ", hold " << hold;
}

template <class Top, unsigned kKernels, unsigned kSchedulers>
void judges_exactly(std::uint64_t cases) {
  Random random(seed());
  Exact<Top, kKernels, kSchedulers> bench;
  for (std::uint64_t n = 0; n < cases && !testing::Test::HasFailure(); ++n) {
    SCOPED_TRACE(n);
    judge_exactly(bench, random, n % 10 == 9 ? 65535 : n % 10 == 4 ? 5000 : 1U << random.in(0, 10));
  }
}

}  // namespace sluice::tb
