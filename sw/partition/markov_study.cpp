// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/markov_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "sw/partition/markov.h"

namespace sluice {

namespace {

struct Pair {
  std::array<MarkovKernel, 2> kernels;
  std::array<unsigned, 2> warps;
};

Pair draw_pair(std::uint64_t seed, std::uint64_t index) {
  constexpr unsigned kWarpsOfVirtualSm = 16;
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(index),
                      static_cast<std::uint32_t>(index >> 32)};
  std::mt19937_64 random(words);
  // The standard distributions differ between libraries.
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * std::ldexp(static_cast<double>(random() >> 11), -53);
  };
  const auto spread = [&](double low, double high) { return low * std::pow(high / low, uniform(0, 1)); };
  Pair pair;
  const auto all = static_cast<unsigned>(uniform(2, kWarpsOfVirtualSm + 1));
  pair.warps[0] = 1 + static_cast<unsigned>(uniform(0, all - 1));
  pair.warps[1] = all - pair.warps[0];
  for (MarkovKernel& kernel : pair.kernels) {
    kernel.waits = {{spread(1e-4, kMaxWaitRatio), spread(1, 2000), uniform(0, 20), spread(0.1, 100)}};
    if (random() % 2 == 0) kernel.issue_cycles = spread(1, 8);
    kernel.traffic = uniform(0, 1);
    kernel.exposure = uniform(0, 1);
  }
  return pair;
}

std::string describe(const Pair& pair) {
  std::string text;
  for (std::size_t k = 0; k < 2; ++k) {
    const MarkovKernel& kernel = pair.kernels[k];
    const MarkovWait& wait = kernel.waits[0];
    text += fmt::format("; {} warps, ratio {}, latency {}, slope {}, requests {}, issue_cycles {}, traffic {}, exposure {}",
                        pair.warps[k], wait.ratio, wait.latency, wait.slope, wait.requests, kernel.issue_cycles, kernel.traffic,
                        kernel.exposure);
  }
  return text;
}

double alone(const MarkovKernel& kernel, unsigned warps) { return markov_ipc(std::array{kernel}, std::array{warps})[0]; }

/// Holds one case against every property.
class Checks {
 public:
  Checks(MarkovStudy& study, std::string name) : study_(study), case_(std::move(name)) {}
  void expect(const char* property, double distance, double tolerance) {
    if (at_ == study_.properties.size()) study_.properties.push_back({property, tolerance});
    MarkovStudy::Property& p = study_.properties[at_++];
    p.worst = std::max(p.worst, distance);
    if (distance <= tolerance) return;  // not a number is no pass
    ++p.violations;
    if (!study_.first_violation) study_.first_violation = fmt::format("{}: off by {}: {}", property, distance, case_);
  }

 private:
  MarkovStudy& study_;
  std::string case_;
  std::size_t at_ = 0;
};

void check(const Pair& pair, Checks& c) {
  constexpr double kExact = 1e-12;
  const MarkovKernel &a = pair.kernels[0], &b = pair.kernels[1];
  const MarkovChain chain = markov_chain(pair.kernels, pair.warps);
  const std::vector<double> share = steady_state(chain);
  const std::size_t n = chain.states();
  double rows = 0, least = 0, fixed = 0;
  std::vector<double> after(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = &chain.transitions[i * n];
    rows = std::max(rows, std::abs(std::accumulate(row, row + n, 0.0) - 1));
    least = std::max(least, -*std::min_element(row, row + n));
    for (std::size_t j = 0; j < n; ++j) after[j] += share[i] * row[j];
  }
  for (std::size_t j = 0; j < n; ++j) fixed = std::max(fixed, std::abs(after[j] - share[j]));
  c.expect("rows of the chain sum to 1", rows, kExact);
  c.expect("no probability is negative", least, 0);
  c.expect("the steady state sums to 1", std::abs(std::accumulate(share.begin(), share.end(), 0.0) - 1), kExact);
  c.expect("a round leaves the steady state as it is", fixed, kExact);

  const std::vector<double> ipc = markov_ipc(pair.kernels, pair.warps);
  c.expect("the scheduler's cycles are enough for what is issued", ipc[0] * a.issue_cycles + ipc[1] * b.issue_cycles - 1, kExact);
  c.expect("every kernel makes progress", ipc[0] > 0 && ipc[1] > 0 ? 0 : 1, 0);
  const std::vector<double> swapped = markov_ipc(std::array{b, a}, std::array{pair.warps[1], pair.warps[0]});
  c.expect("exchanged kernels exchange their IPC", std::max(std::abs(ipc[0] - swapped[1]), std::abs(ipc[1] - swapped[0])),
           kExact);
  const std::vector<double> empty = markov_ipc(pair.kernels, std::array{pair.warps[0], 0U});
  c.expect("a partner without warps changes nothing", std::abs(empty[0] - alone(a, pair.warps[0])) + empty[1], kExact);

  const MarkovWait& wait = a.waits[0];
  const double latency = wait.latency + wait.slope * wait.requests;
  // A round of one warp is issue_cycles long when it issues, and one cycle when it waits.
  c.expect("one warp is 1 / (issue cycles + R_m L)", std::abs(alone(a, 1) - 1 / (a.issue_cycles + wait.ratio * latency)), kExact);
  MarkovKernel free = a;
  free.waits[0].ratio = 0;
  c.expect("without memory every cycle issues", std::abs(alone(free, pair.warps[0]) * a.issue_cycles - 1), kExact);
  MarkovKernel two = a;
  two.waits = {wait, wait};
  two.waits[0].ratio = wait.ratio / 3;
  two.waits[1].ratio = wait.ratio - two.waits[0].ratio;
  c.expect("two equal kinds of waits are one", std::abs(alone(two, pair.warps[0]) - alone(a, pair.warps[0])), kExact);
  MarkovKernel wide = a;
  wide.waits[0].slope = 0;
  c.expect("more warps never lower the IPC of memory that never queues",
           alone(wide, pair.warps[0]) - alone(wide, pair.warps[0] + 1), kExact);
}

}  // namespace

std::uint64_t MarkovStudy::violations() const {
  std::uint64_t sum = 0;
  for (const Property& p : properties) sum += p.violations;
  return sum;
}

MarkovStudy study_markov(std::uint64_t cases, std::uint64_t seed, const std::function<void(std::uint64_t)>& progress) {
  constexpr std::uint64_t kReportEvery = 64;
  MarkovStudy study;
  for (; study.pairs < cases; ++study.pairs) {
    const Pair pair = draw_pair(seed, study.pairs);
    Checks checks(study, fmt::format("case {}{}", study.pairs, describe(pair)));
    check(pair, checks);
    if (progress && study.pairs % kReportEvery == 0) progress(study.pairs);
  }
  return study;
}

}  // namespace sluice
