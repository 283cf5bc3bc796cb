// Bench of phase_monitor: the Verilated RTL and its TLM twin in lockstep under kernels whose rate changes now and then.
#include <Vphase_monitor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "systemc/partition/tlm_phase_monitor.h"
#include "systemc/partition/verilated_model.h"
#include "tb/common/coverage.h"
#include "tb/common/random.h"
#include "tb/common/waveform.h"

namespace sluice::tb {
namespace {

constexpr unsigned kKernels = 4, kSchedulers = 2;

TEST(PhaseMonitor, RtlAndTlmAgreeInEveryCycle) {
  Random random(seed());
  Coverage coverage("phase_monitor");
  coverage.declare("request", "a kernel behaves otherwise");
  coverage.declare("request at once", "one window of it is enough");
  coverage.declare("request late", "three windows or more in a row");
  coverage.declare("quiet", "watched for ten windows without a request");
  coverage.declare("dropped", "the decision ends while it is watched");
  coverage.declare("reset", "a reset while it watches");
  VerilatedModel<Vphase_monitor> rtl(waveform("phase_monitor"));
  TlmPhaseMonitor tlm(kKernels);
  SluiceConfig config;
  std::array<double, kKernels> rate{};
  const std::uint64_t cycles = campaign(300000, 20000000);
  std::uint64_t since = 0;  // a request, or the beginning
  bool active = false;
  for (std::uint64_t c = 0; c < cycles; ++c) {
    const bool reset = c == 0 || random.chance(0.00005);
    if (!active || random.chance(0.0001)) {  // while active: a change of mind
      config.monitor_window = random.chance(0.3) ? random.in(16, 30) : random.in(30, 300);
      config.monitor_threshold = random.chance(0.1) ? random.in(0, 32767) : random.in(0, 8000);
      config.monitor_hold = random.chance(0.1) ? random.in(1, 255) : random.in(1, 4);
      if (active) {
        coverage.hit("dropped");
        active = false;
      }
    }
    if (!active && random.chance(0.2)) active = true, since = 0;
    if (random.chance(2.0 / (20 * config.monitor_window)) || c == 0) {
      for (double& r : rate) r = random.chance(0.3) ? 0 : random.in(0, 100) / 100.0;
    }
    PerKernel<unsigned> issued{};
    std::uint32_t issue = 0;
    for (unsigned k = 0; k < kKernels; ++k) {
      for (unsigned s = 0; s < kSchedulers; ++s) {
        const bool now = random.chance(rate[k]);
        issued[k] += now ? 1 : 0;
        issue |= static_cast<std::uint32_t>(now) << (k * kSchedulers + s);
      }
    }
    rtl->rst_ni = !reset;
    rtl->active_i = active;
    rtl->window_i = static_cast<SData>(config.monitor_window);
    rtl->threshold_i = static_cast<SData>(config.monitor_threshold);
    rtl->hold_i = static_cast<CData>(config.monitor_hold);
    rtl->issue_i = static_cast<CData>(issue);
    rtl.low();
    rtl.high();
    if (reset) {
      if (since > 3 * config.monitor_window) coverage.hit("reset");
      tlm = TlmPhaseMonitor(kKernels);
      since = 0;
    } else {
      tlm.clock(config, active, issued);
    }
    ASSERT_EQ(rtl->request_o != 0, tlm.request()) << "cycle " << c;
    ++since;
    if (since == 12ULL * config.monitor_window && active) coverage.hit("quiet");
    if (!tlm.request()) continue;
    coverage.hit("request");
    if (config.monitor_hold == 1) coverage.hit("request at once");
    if (config.monitor_hold >= 3) coverage.hit("request late");
    since = 0;
  }
  EXPECT_EQ(coverage.missed(), std::vector<std::string>{});
}

/// Kernels that issue exactly so many instructions in each window.
class Exact {
 public:
  Exact() : rtl_(waveform("phase_monitor")) { begin(16, 0, 1); }

  void begin(std::uint32_t window, std::uint32_t threshold, std::uint32_t hold) {
    rtl_->rst_ni = 0;
    cycle();
    rtl_->rst_ni = 1;
    rtl_->active_i = 0;
    cycle();
    rtl_->active_i = 1;
    rtl_->window_i = static_cast<SData>(window);
    rtl_->threshold_i = static_cast<SData>(threshold);
    rtl_->hold_i = static_cast<CData>(hold);
  }
  /// @return cycles of the window with a request
  unsigned window(std::uint32_t cycles, const std::array<std::uint32_t, kKernels>& counts) {
    unsigned requests = 0;
    for (std::uint64_t i = 0; i < cycles; ++i) {
      std::uint32_t issue = 0;
      for (unsigned k = 0; k < kKernels; ++k) {
        const auto now = static_cast<std::uint32_t>((i + 1) * counts[k] / cycles - i * counts[k] / cycles);
        issue |= (now == 2 ? 3U : now == 1 ? 1U + static_cast<std::uint32_t>(i & 1U) : 0U) << (k * kSchedulers);
      }
      rtl_->issue_i = static_cast<CData>(issue);
      cycle();
      requests += rtl_->request_o != 0 ? 1 : 0;
    }
    return requests;
  }

 private:
  void cycle() {
    rtl_.low();
    rtl_.high();
  }
  VerilatedModel<Vphase_monitor> rtl_;
};

TEST(PhaseMonitor, JudgesExactlyAtTheThreshold) {
  Random random(seed());
  Exact bench;
  const std::uint64_t cases = campaign(250, 10000);
  for (std::uint64_t n = 0; n < cases; ++n) {
    const std::uint32_t most = n % 80 == 79 ? 65535 : n % 20 == 19 ? 5000 : 1U << random.in(4, 10);
    const std::uint32_t window = random.in(std::max(16U, most / 2), most);
    std::array<std::uint32_t, kKernels> reference{}, then{};
    for (std::uint32_t& r : reference) r = random.in(0, 2 * window);
    const unsigned moving = random.in(0, kKernels - 1);
    reference[moving] = std::max(1U, reference[moving]);
    then = reference;
    const std::uint32_t span = std::max(1U, reference[moving] >> random.in(1, 6));
    const bool more = reference[moving] + span <= 2 * window && random.chance(0.5);
    then[moving] = more ? reference[moving] + random.in(1, span) : reference[moving] - random.in(1, span);
    const std::uint64_t distance = more ? then[moving] - reference[moving] : reference[moving] - then[moving];
    const std::uint64_t limit = (distance << 14) / reference[moving];  // the largest threshold that it is not below
    const bool exact = (distance << 14) % reference[moving] == 0;
    const bool expected = random.chance(0.5);
    const std::uint64_t threshold = expected ? limit - (exact ? 1 : 0) : limit + (exact ? 0 : 1);
    const std::uint32_t hold = window > 5000        ? 1
                               : window > 100       ? random.in(1, 3)
                               : random.chance(0.3) ? random.in(1, 255)
                                                    : random.in(1, 5);
    bench.begin(window, static_cast<std::uint32_t>(threshold), hold);
    unsigned requests = bench.window(window, then) + bench.window(window, reference);  // settle, reference
    for (std::uint32_t w = 0; w < hold; ++w) {
      requests += bench.window(window, then);
      if (w + 2 == hold && random.chance(0.3)) {  // one window like the reference begins the row anew
        requests += bench.window(window, reference);
        w = 0;
        requests += bench.window(window, then);
      }
    }
    ASSERT_EQ(requests, 0U) << "case " << n << ": asked too early";
    ASSERT_EQ(bench.window(window, then), expected ? 1U : 0U) << "case " << n << ": " << reference[moving] << " -> "
                                                              << then[moving] << ", threshold " << threshold << ", hold " << hold;
  }
}

}  // namespace
}  // namespace sluice::tb
