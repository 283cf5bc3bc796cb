// SPDX-License-Identifier: Apache-2.0
#include "sw/partition/markov.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "sw/core/errors.h"

namespace sluice {

namespace {

using PerWait = std::array<double, kMaxWaits>;

void check(const char* what, double value, double least, double most = std::numeric_limits<double>::infinity()) {
  if (value >= least && value <= most && std::isfinite(value)) return;
  const std::string range = std::isfinite(most) ? fmt::format("{} to {}", least, most) : fmt::format("at least {}", least);
  throw InputError(fmt::format("Markov model: {} = {}: must be {}", what, value, range));
}

void check(const MarkovKernel& kernel) {
  if (kernel.waits.size() > kMaxWaits)
    throw InputError(fmt::format("Markov model: {} kinds of waits: must be at most {}", kernel.waits.size(), kMaxWaits));
  double ratio = 0;
  for (const MarkovWait& wait : kernel.waits) {
    check("ratio", wait.ratio, 0, kMaxWaitRatio);
    check("latency", wait.latency, 1, kMaxWaitFigure);
    check("slope", wait.slope, 0, kMaxWaitFigure);
    check("requests", wait.requests, 0, kMaxWaitFigure);
    ratio += wait.ratio;
  }
  check("ratio of all waits", ratio, 0, kMaxWaitRatio);
  check("issue_cycles", kernel.issue_cycles, 1);
  check("traffic", kernel.traffic, 0, 1);
  check("exposure", kernel.exposure, 0, 1);
}

/// One kernel's own states: how many of its warps wait, by kind.
class OwnStates {
 public:
  OwnStates(const MarkovKernel& kernel, unsigned warps) : warps_(warps), kinds_(kernel.waits.size()) {
    const unsigned second = kinds_ > 1 ? warps : 0;
    for (unsigned b = 0; b <= second; ++b) {
      first_.push_back(waiting_.size());
      for (unsigned a = 0; a <= (kinds_ > 0 ? warps - b : 0); ++a) waiting_.push_back({a, b});
    }
  }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] unsigned waiting(std::size_t state, std::size_t kind) const { return waiting_[state][kind]; }
  [[nodiscard]] unsigned ready(std::size_t state) const { return warps_ - waiting_[state][0] - waiting_[state][1]; }

  /// States one round later. @param wakes  probability that a warp that waits is ready then, by kind
  [[nodiscard]] std::vector<double> next(std::size_t state, const MarkovKernel& kernel, const PerWait& wakes) const {
    std::vector<double> at(size());
    at[0] = 1;
    PerWait leaves{};
    for (std::size_t k = 0; k < kinds_; ++k) leaves[k] = kernel.waits[k].ratio;
    for (unsigned w = 0; w < ready(state); ++w) add_warp(at, leaves);
    for (std::size_t k = 0; k < kinds_; ++k) {
      PerWait stays{};
      stays[k] = 1 - wakes[k];
      for (unsigned w = 0; w < waiting(state, k); ++w) add_warp(at, stays);
    }
    return at;
  }

 private:
  /// Adds a warp to a distribution of those before it, from the last state on, as a warp that waits only leads to later ones.
  void add_warp(std::vector<double>& at, const PerWait& waits) const {
    for (std::size_t s = size(); s-- > 0;) {
      if (at[s] == 0) continue;
      const double before = at[s];
      for (std::size_t k = 0; k < kinds_; ++k) {
        if (waits[k] == 0) continue;
        const auto [a, b] = waiting_[s];
        at[k == 0 ? s + 1 : first_[b + 1] + a] += before * waits[k];
        at[s] -= before * waits[k];
      }
    }
  }

  unsigned warps_;
  std::size_t kinds_;
  std::vector<std::array<unsigned, kMaxWaits>> waiting_;
  std::vector<std::size_t> first_;  ///< state of no warp of the first kind and so many of the second
};

}  // namespace

MarkovChain markov_chain(std::span<const MarkovKernel> kernels, std::span<const unsigned> warps) {
  std::vector<OwnStates> own;
  std::size_t total = 0, states = 1;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    check(kernels[k]);
    total += warps[k];
    if (total > kMaxMarkovWarps)
      throw InputError(fmt::format("Markov model: more than {} warps on a virtual SM", kMaxMarkovWarps));
    own.emplace_back(kernels[k], warps[k]);
    states *= own.back().size();
    if (states > kMaxMarkovStates) throw InputError(fmt::format("Markov model: more than {} states", kMaxMarkovStates));
  }
  MarkovChain chain;
  chain.transitions.resize(states * states);
  chain.cycles.resize(states);
  chain.ready.assign(kernels.size(), std::vector<unsigned>(states));
  std::vector<std::size_t> at(kernels.size());
  std::vector<double> requests(kernels.size());
  for (std::size_t state = 0; state < states; ++state) {
    double busy = 0;
    for (std::size_t k = kernels.size(), rest = state; k-- > 0; rest /= own[k].size()) {
      at[k] = rest % own[k].size();
      chain.ready[k][state] = own[k].ready(at[k]);
      busy += chain.ready[k][state] * kernels[k].issue_cycles;
      requests[k] = 0;
      for (std::size_t i = 0; i < kernels[k].waits.size(); ++i)
        requests[k] += own[k].waiting(at[k], i) * kernels[k].waits[i].requests;
    }
    chain.cycles[state] = std::max(1.0, busy);
    std::vector<double> row{1};
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      double under_way = requests[k];
      for (std::size_t o = 0; o < kernels.size(); ++o)
        if (o != k) under_way += kernels[o].traffic * kernels[k].exposure * requests[o];
      PerWait wakes{};
      for (std::size_t i = 0; i < kernels[k].waits.size(); ++i) {
        const MarkovWait& wait = kernels[k].waits[i];
        wakes[i] = std::min(1.0, chain.cycles[state] / (wait.latency + wait.slope * under_way));
      }
      const std::vector<double> next = own[k].next(at[k], kernels[k], wakes);
      std::vector<double> product;
      product.reserve(row.size() * next.size());
      for (const double before : row)
        for (const double p : next) product.push_back(before * p);
      row = std::move(product);
    }
    std::ranges::copy(row, chain.transitions.begin() + static_cast<std::ptrdiff_t>(state * states));
  }
  return chain;
}

std::vector<double> steady_state(const MarkovChain& chain) {
  const std::size_t states = chain.states();
  std::vector<double> p = chain.transitions, share(states);
  // From the last state down: what it does is put on those that lead to it.
  for (std::size_t n = states - 1; n > 0; --n) {
    const double* out = &p[n * states];
    const double leaves = std::accumulate(out, out + n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double* row = &p[i * states];
      row[n] /= leaves;
      for (std::size_t j = 0; j < n; ++j) row[j] += row[n] * out[j];
    }
  }
  double sum = share[0] = 1;
  for (std::size_t n = 1; n < states; ++n) {
    for (std::size_t i = 0; i < n; ++i) share[n] += share[i] * p[i * states + n];
    sum += share[n];
  }
  for (double& s : share) s /= sum;
  return share;
}

std::vector<double> markov_ipc(std::span<const MarkovKernel> kernels, std::span<const unsigned> warps) {
  const MarkovChain chain = markov_chain(kernels, warps);
  const std::vector<double> share = steady_state(chain);
  const double cycles = std::inner_product(share.begin(), share.end(), chain.cycles.begin(), 0.0);
  std::vector<double> ipc;
  for (const std::vector<unsigned>& ready : chain.ready)
    ipc.push_back(std::inner_product(share.begin(), share.end(), ready.begin(), 0.0) / cycles);
  return ipc;
}

std::vector<double> markov_sm_ipc(std::span<const MarkovKernel> kernels, std::span<const unsigned> warps, unsigned schedulers) {
  if (schedulers == 0) throw InputError("Markov model: an SM without a scheduler");
  std::vector<double> ipc(kernels.size());
  std::vector<unsigned> whole(kernels.size());
  for (std::size_t corner = 0; corner >> kernels.size() == 0; ++corner) {
    double weight = schedulers;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const double part = static_cast<double>(warps[k] % schedulers) / schedulers;
      const bool above = (corner >> k & 1U) != 0;
      weight *= above ? part : 1 - part;
      whole[k] = warps[k] / schedulers + (above ? 1 : 0);
    }
    if (weight == 0) continue;
    const std::vector<double> there = markov_ipc(kernels, whole);
    for (std::size_t k = 0; k < kernels.size(); ++k) ipc[k] += weight * there[k];
  }
  return ipc;
}

double co_scheduling_profit(std::span<const double> together, std::span<const double> alone) {
  double throughput = 0;
  for (std::size_t k = 0; k < together.size(); ++k) {
    check("IPC alone", alone[k], std::numeric_limits<double>::min());
    check("IPC together", together[k], 0);
    throughput += together[k] / alone[k];
  }
  if (throughput == 0) throw InputError("co-scheduling profit: no kernel makes progress");
  return 1 - 1 / throughput;
}

}  // namespace sluice
