// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/report/kernelet_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"
#include "sw/partition/markov.h"

namespace sluice::gpu {

using nlohmann::json;

namespace {

/// A kernel as measured alone.
struct Measured {
  unsigned warps_per_cta = 0;
  double instructions_per_block = 0;
  double native = 0;  ///< blocks a second of the untransformed kernel
  Values ipc;         ///< of an SM with 1, 2, ... CTAs
};

struct Measurements {
  MarkovPage page;
  std::map<std::string, Measured> kernels;
  std::map<std::string, Search> pairs;
  double sm_cycles = 0;  ///< a second, of all SMs

  [[nodiscard]] double ipc(const std::string& kernel, double blocks_per_second) const {
    return blocks_per_second * kernels.at(kernel).instructions_per_block / sm_cycles;
  }
};

/// More than a hundredth of the kernel's CTAs found no room, and enough for more than one SM in seven to hold one less than it
/// should. A kernel of few CTAs an SM is past the hundredth (`incomplete`) with a handful on the whole GPU.
bool lacks(const SearchPoint& p, std::size_t kernel, unsigned sms) {
  constexpr double kOfCtas = 0.01, kOfSms = 0.15;
  return p.missing[kernel] > std::max(kOfCtas * p.ctas[kernel], kOfSms) * sms;
}

Measurements read(const std::filesystem::path& folder, const std::filesystem::path& profiles) {
  const std::filesystem::path machine_file = folder / "machine.json", curves_file = folder / "curves.jsonl",
                              pairs_file = folder / "pairs.jsonl";
  for (const std::filesystem::path& file : {machine_file, curves_file, pairs_file, profiles})
    if (!has_packed(file))
      throw InputError(fmt::format("{}: is missing: take a folder of `sluice gpu experiment`", file.string()));
  const json machine = json::parse(read_file(machine_file), nullptr, false);
  if (!machine.is_object() || !machine.value("sms", json()).is_number() || !machine.value("core_mhz", json()).is_number())
    throw InputError(fmt::format("{}: must be a JSON object with the numbers \"sms\" and \"core_mhz\"", machine_file.string()));
  Measurements m;
  m.page = read_markov(profiles);
  m.sm_cycles = machine["sms"].get<double>() * machine["core_mhz"].get<double>() * 1e6;
  if (!(m.sm_cycles > 0)) throw InputError(fmt::format("{}: \"sms\" and \"core_mhz\": must be above 0", machine_file.string()));
  for (const auto& [name, curve] : read_curves(folder)) {
    if (!m.page.apps.contains(name))
      throw InputError(fmt::format("{}: no launch of {}, which {} has", profiles.string(), name, curves_file.string()));
    for (const Profile& run : curve.runs)
      for (const double rate : run)
        if (!(rate > 0)) throw InputError(fmt::format("{}: {}: a rate of {}: must be above 0", curves_file.string(), name, rate));
    Measured& k = m.kernels[name];
    k.warps_per_cta = (curve.demand.threads + kWarpSize - 1) / kWarpSize;
    k.instructions_per_block = m.page.apps.at(name).instructions_per_block;
    k.native = curve.native;
    for (const double rate : curve.performance) k.ipc.push_back(m.ipc(name, rate));
  }
  if (m.kernels.empty()) throw InputError(fmt::format("{}: holds no measurement", curves_file.string()));
  const auto sms = machine["sms"].get<unsigned>();
  m.pairs = read_search(folder, sms);
  for (auto& [name, pair] : m.pairs) {
    const auto fault = [&, pair_name = name](const std::string& what) {
      throw InputError(fmt::format("{}: {}: {}", pairs_file.string(), pair_name, what));
    };
    if (pair.kernels.size() != 2) fault("must be two kernels");
    for (const std::string& kernel : pair.kernels)
      if (!m.kernels.contains(kernel)) fault(fmt::format("{} is not in {}", kernel, curves_file.string()));
    for (const SearchPoint& p : pair.points) {
      for (std::size_t k = 0; k < 2; ++k) {
        if (p.ctas[k] < 1 || p.ctas[k] > m.kernels.at(pair.kernels[k]).ipc.size())
          fault(fmt::format("{} CTAs of {}: more than it has alone, or none", p.ctas[k], pair.kernels[k]));
        if (!(p.rate[k] >= 0)) fault("a rate is negative");
      }
    }
    std::erase_if(pair.points, [&](const SearchPoint& p) { return lacks(p, 0, sms) || lacks(p, 1, sms); });
  }
  std::erase_if(m.pairs, [](const auto& pair) { return pair.second.points.empty(); });
  if (m.pairs.empty()) throw InputError(fmt::format("{}: holds no search over partitions", pairs_file.string()));
  return m;
}

double mean(const Values& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Distances of predicted from measured IPC.
class Tally {
 public:
  explicit Tally(double peak) : peak_(peak) {}
  void add(double predicted, double measured) { off_.push_back(100 * std::abs(predicted - measured) / peak_); }
  [[nodiscard]] IpcError error() const {
    constexpr double kNear = 20;
    const auto near = std::ranges::count_if(off_, [](double off) { return off <= kNear; });
    const auto n = static_cast<double>(off_.size());
    return {off_.size(), mean(off_), off_.empty() ? 0 : std::ranges::max(off_),
            off_.empty() ? 0 : 100 * static_cast<double>(near) / n};
  }

 private:
  double peak_;
  Values off_;
};

using Kernels = std::map<std::string, MarkovKernel>;

/// Model of one SM with so many CTAs of each kernel.
Values predict(const Measurements& m, const Kernels& kernels, const std::vector<std::string>& names,
               const std::vector<std::uint32_t>& ctas) {
  std::vector<MarkovKernel> models;
  std::vector<unsigned> warps;
  for (std::size_t k = 0; k < names.size(); ++k) {
    models.push_back(kernels.at(names[k]));
    warps.push_back(ctas[k] * m.kernels.at(names[k]).warps_per_cta);
  }
  return markov_sm_ipc(models, warps, m.page.machine.schedulers);
}

std::map<std::string, Values> predict_solo(const Measurements& m, const Kernels& kernels) {
  std::map<std::string, Values> solo;
  for (const auto& [name, measured] : m.kernels)
    for (std::uint32_t ctas = 1; ctas <= measured.ipc.size(); ++ctas)
      solo[name].push_back(predict(m, kernels, {name}, {ctas})[0]);
  return solo;
}

IpcError solo_error(const Measurements& m, const std::map<std::string, Values>& solo) {
  Tally tally(m.page.machine.schedulers);
  for (const auto& [name, measured] : m.kernels)
    for (std::size_t n = 0; n < measured.ipc.size(); ++n) tally.add(solo.at(name)[n], measured.ipc[n]);
  return tally.error();
}

/// One pair's partitions, predicted and measured.
struct PairResult {
  std::vector<std::array<double, 2>> ipc;  ///< predicted, measured; of both kernels
  Values profit_error;
  double choice = 0, best = 0;  ///< STP
};

PairResult compare(const Measurements& m, const Kernels& kernels, const std::map<std::string, Values>& solo, const Search& pair) {
  PairResult r;
  double promised = -INFINITY;
  const Values alone = {solo.at(pair.kernels[0]).back(), solo.at(pair.kernels[1]).back()};
  // The median alone: one window beside a search differs from it by up to 16 %, and with it the pairs' profits.
  const Values native = {m.kernels.at(pair.kernels[0]).native, m.kernels.at(pair.kernels[1]).native};
  for (const SearchPoint& p : pair.points) {
    const Values ipc = predict(m, kernels, pair.kernels, p.ctas);
    r.ipc.push_back({ipc[0] + ipc[1], m.ipc(pair.kernels[0], p.rate[0]) + m.ipc(pair.kernels[1], p.rate[1])});
    const double predicted = co_scheduling_profit(ipc, alone), measured = co_scheduling_profit(p.rate, native);
    r.profit_error.push_back(std::abs(predicted - measured));
    const double stp = 1 / (1 - measured);
    r.best = std::max(r.best, stp);
    if (predicted > promised) {
      promised = predicted;
      r.choice = stp;
    }
  }
  return r;
}

PairError summary(const std::vector<const PairResult*>& results, double peak) {
  Tally tally(peak);
  Values profit, choice, best;
  for (const PairResult* r : results) {
    for (const auto& [predicted, measured] : r->ipc) tally.add(predicted, measured);
    profit.insert(profit.end(), r->profit_error.begin(), r->profit_error.end());
    choice.push_back(r->choice);
    best.push_back(r->best);
  }
  return {results.size(), tally.error(), mean(profit), geometric_mean(choice), geometric_mean(best)};
}

KerneletErrors errors_of(const std::string& version, const Measurements& m, const Kernels& kernels) {
  const std::map<std::string, Values> solo = predict_solo(m, kernels);
  const double peak = m.page.machine.schedulers;
  std::map<std::string, PairResult> results;  // in alphabetical order
  std::vector<const PairResult*> all, check_half, other_half;
  KerneletErrors out;
  for (const auto& [name, pair] : m.pairs) {
    const PairResult& result = results[name] = compare(m, kernels, solo, pair);
    (all.size() % 2 == 1 ? check_half : other_half).push_back(&result);
    all.push_back(&result);
    out.by_pair[name] = summary({&result}, peak).ipc;
  }
  out.version = version;
  out.solo = solo_error(m, solo);
  out.all = summary(all, peak);
  out.check_half = summary(check_half, peak);
  out.other_half = summary(other_half, peak);
  return out;
}

}  // namespace

KerneletModel kernelet_model(const std::filesystem::path& folder, const std::filesystem::path& profiles) {
  try {
    const Measurements m = read(folder, profiles);
    Kernels two_kinds, printed, unweighted, calibrated;
    for (const auto& [name, k] : m.kernels) try {
        const MarkovCounters& counters = m.page.apps.at(name).counters;
        two_kinds[name] = printed_kernel(counters, m.page.machine);
        printed[name] = merged_waits(two_kinds[name]);
        calibrated[name] = unweighted[name] = calibrated_kernel(
            counters, {k.warps_per_cta, static_cast<unsigned>(k.ipc.size()), k.ipc.front(), k.ipc.back()}, m.page.machine);
        unweighted[name].traffic = unweighted[name].exposure = 1;
      } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}: {}", folder.string(), name, e.what()));
      }
    KerneletModel out;
    out.versions = {errors_of("printed", m, printed), errors_of("unweighted", m, unweighted),
                    errors_of("calibrated", m, calibrated)};
    const std::map<std::string, Values> exact = predict_solo(m, two_kinds), merged = predict_solo(m, printed);
    out.three_states = solo_error(m, exact);
    Tally apart(m.page.machine.schedulers);
    for (const auto& [name, ipc] : exact)
      for (std::size_t n = 0; n < ipc.size(); ++n) apart.add(merged.at(name)[n], ipc[n]);
    out.three_states_apart = apart.error().mean;
    return out;
  } catch (const json::exception& e) {
    throw InputError(fmt::format("{}: a measurement lacks a field or has one of another type: {}", folder.string(), e.what()));
  }
}

}  // namespace sluice::gpu
