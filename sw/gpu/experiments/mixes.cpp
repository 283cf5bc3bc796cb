// SPDX-License-Identifier: Apache-2.0
// Experiments on mixes: every policy on all pairs (with the exhaustive search) and triples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sw/core/metrics.h"
#include "sw/gpu/experiments/equal_work.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/jobs/online_profile.h"
#include "sw/policy/names.h"

namespace sluice::gpu {

namespace {

constexpr double kWarmUp = 0.5e-3;  ///< before a window

/// At most one CTA in a hundred of each kernel found no room. (Which sub-core a CTA's odd warps go to is the hardware's choice.)
bool complete(const MixRates& rates, const std::vector<CtaCount>& ctas, unsigned sms) {
  for (std::size_t k = 0; k < ctas.size(); ++k)
    if (rates.missing[k] * 100 > ctas[k].value() * sms) return false;
  return true;
}

nlohmann::json line(const std::vector<std::string>& names, const std::string& policy, unsigned repetition,
                    const MixRates& rates) {
  return {{"kernels", names},
          {"policy", policy},
          {"repetition", repetition},
          {"blocks_per_second", rates.blocks_per_second},
          {"violations", rates.violations},
          {"misplaced", rates.misplaced},
          {"settled", rates.settled},
          {"missing", rates.missing},
          {"seconds", rates.seconds}};
}

class MixMeasurement {
 public:
  MixMeasurement(GpuSession& session, const std::vector<std::string>& names, RawLines& store)
      : session_(session), options_(store.options()), names_(names), store_(store), sms_(session.context().limits().sms) {
    for (const std::string& name : names) mix_.push_back(&session.app(name));
    for (std::size_t k = 0; k < mix_.size(); ++k) streams_.push_back(make_stream());
  }

  enum class What { FinishTimes, Policies, AndEveryPartition };
  void run(What what) {
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      if (what != What::FinishTimes) repetition(r);
      equal_work(session_, names_, mix_, streams(), store_, r);
    }
    if (what == What::AndEveryPartition) search();
  }

 private:
  [[nodiscard]] std::string key(const std::string& policy, unsigned r) const {
    return fmt::format("{}/{}/{}", mix_name(names_), policy, r);
  }
  [[nodiscard]] std::vector<CUstream> streams() const {
    std::vector<CUstream> out;
    for (const StreamHandle& s : streams_) out.push_back(s.get());
    return out;
  }
  [[nodiscard]] Partition decide(const std::vector<Profile>& curves) const {
    return sluice::gpu::decide(kWarpedSlicer, silicon_mix(session_, mix_), curves);
  }
  /// What the profile decides with: windows go where its decision falls.
  [[nodiscard]] Decide decider() const {
    return [this](const std::vector<Profile>& curves) { return decide(curves); };
  }
  [[nodiscard]] std::vector<double> solo_rates() const {
    std::vector<double> out;
    for (std::size_t k = 0; k < mix_.size(); ++k)
      out.push_back(native_rates({mix_[k]}, {streams_[k].get()}, options_.window).blocks_per_second[0]);
    return out;
  }

  /// Every policy once, close in time, with each kernel alone beside them.
  void repetition(unsigned r) {
    if (store_.has(key("done", r))) return;
    static_cast<void>(native_rates(mix_, streams(), options_.window));  // clocks come up, tables of addresses fill
    std::vector<double> solo = solo_rates();
    std::vector<std::pair<std::string, nlohmann::json>> kept;
    const auto keep = [&](const std::string& policy, const MixRates& rates, const Partition* partition,
                          const nlohmann::json& more = {}) {
      nlohmann::json l = line(names_, policy, r, rates);
      if (partition != nullptr) {
        l["mode"] = layout_name(partition->mode);
        l["ctas"] = counts(*partition);
      }
      if (more.is_object()) l.update(more);
      kept.emplace_back(policy, l);
    };
    keep("back_to_back", back_to_back_rates(mix_, streams_[0].get(), 2 * options_.window), nullptr);
    keep(kLeftOver, native_rates(mix_, streams(), 4 * options_.window), nullptr);
    {
      const GreenStreams green(session_.context(), static_cast<unsigned>(mix_.size()));
      std::vector<CUstream> confined;
      for (std::size_t k = 0; k < mix_.size(); ++k) confined.push_back(green.stream(k));
      keep(kSpatial, native_rates(mix_, confined, 4 * options_.window), nullptr, {{"sms", green.sms()}});
    }
    QuotaMix running(mix_);
    const Partition even_partition = sluice::gpu::decide(kEven, silicon_mix(session_, mix_));
    keep(kEven, running.restart(tables_of(even_partition, sms_), kWarmUp, options_.window), &even_partition);

    const OnlineProfile p = profile_online(running, mix_, decider());
    const Partition decided = decide(p.refined);
    // Anew: what the profile's layout leaves on an SM may be scattered so that the new CTAs find no room.
    const Clock::time_point begin = Clock::now();
    const MixRates rates = running.restart(tables_of(decided, sms_), kWarmUp, options_.window);
    const double in_force = seconds(Clock::now() - begin) - kWarmUp - options_.window;
    keep(kWarpedSlicer, rates, &decided,
         {{"epsilon", 0},
          {"profile_seconds", p.seconds},
          {"scaled_seconds", p.scaled_seconds},
          {"sampled_seconds", p.sampled_seconds},
          {"deciding_windows", p.deciding},
          {"refined", p.refined},
          {"in_force_seconds", in_force},
          {"sampled", p.sampled},
          {"scaled", p.scaled},
          {"profile_violations", p.rates.violations},
          {"profile_misplaced", p.rates.misplaced},
          {"profile_settled", p.rates.settled}});
    running.evict();
    const std::vector<double> solo_after = solo_rates();
    for (std::size_t k = 0; k < solo.size(); ++k) solo[k] = (solo[k] + solo_after[k]) / 2;
    for (auto& [policy, l] : kept) {
      l["solo_blocks_per_second"] = solo;
      store_.add(key(policy, r), l);
    }
    store_.add(key("done", r), {{"repetition", r}, {"policy", "done"}});
  }

  /// Every partition once, the eight with the best STP again in turns.
  void search() {
    std::vector<double> solo = solo_rates();
    const auto stp_of = [&](const std::vector<double>& rates) {
      double stp = 0;
      for (std::size_t k = 0; k < rates.size(); ++k) stp += rates[k] / solo[k];
      return stp;
    };
    if (store_.has(key("search_done", 0))) return;
    QuotaMix running(mix_);
    std::vector<std::pair<double, Partition>> found;
    nlohmann::json sweep = nlohmann::json::array();
    std::uint32_t violations = 0, misplaced = 0;
    for (const std::vector<CtaCount>& ctas : combinations(demands(mix_), sm_capacity(session_.context().limits()))) {
      if (!fits_sub_cores(demands(mix_), ctas, sm_capacity(session_.context().limits()))) continue;
      const Partition p = on_every_sm(ctas);
      const MixRates rates = running.restart(tables_of(p, sms_), kWarmUp / 2, options_.window / 4);
      violations += rates.violations;
      sweep.push_back({{"ctas", counts(p)},
                       {"blocks_per_second", rates.blocks_per_second},
                       {"settled", rates.settled},
                       {"missing", rates.missing},
                       {"misplaced", rates.misplaced}});
      if (!complete(rates, ctas, sms_)) continue;
      misplaced += rates.misplaced;
      found.emplace_back(stp_of(rates.blocks_per_second), p);
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
    found.resize(std::min<std::size_t>(found.size(), 8));
    for (unsigned r = 0; r < options_.repetitions; ++r) {
      running.evict();  // else the untransformed kernels would wait for SMs for ever
      solo = solo_rates();
      for (const auto& [stp, p] : found) {
        const MixRates rates = running.restart(tables_of(p, sms_), kWarmUp, options_.window);
        nlohmann::json l = line(names_, "candidate", r, rates);
        l["solo_blocks_per_second"] = solo;
        l["mode"] = layout_name(p.mode);
        l["ctas"] = counts(p);
        if (!store_.has(key(fmt::format("candidate/{}", fmt::join(counts(p), "_")), r)))
          store_.add(key(fmt::format("candidate/{}", fmt::join(counts(p), "_")), r), l);
      }
    }
    running.evict();
    store_.add(key("search_done", 0), {{"kernels", names_},
                                       {"policy", "sweep"},
                                       {"sweep", sweep},
                                       {"solo_blocks_per_second", solo},
                                       {"violations", violations},
                                       {"misplaced", misplaced}});
  }

  GpuSession& session_;
  const ExperimentOptions& options_;
  std::vector<std::string> names_;
  RawLines& store_;
  unsigned sms_;
  PreparedMix mix_;
  std::vector<StreamHandle> streams_;
};

/// All mixes of so many kernels.
void measure_mixes(GpuSession& session, const ExperimentOptions& options, const std::string& name, std::size_t size,
                   MixMeasurement::What what) {
  const auto mixes = choose(options.apps.empty() ? table2_names() : options.apps, size);
  RawLines lines(options, name, mixes.size());
  for (const std::vector<std::string>& names : mixes) {
    MixMeasurement mix(session, names, lines);
    mix.run(what);
    lines.done(mix_name(names));
  }
}

}  // namespace

void pairs_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_mixes(session, options, "pairs", 2, MixMeasurement::What::AndEveryPartition);
}
void triples_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_mixes(session, options, "triples", 3, MixMeasurement::What::Policies);
}
void equal_work_experiment(GpuSession& session, const ExperimentOptions& options) {
  measure_mixes(session, options, "pairs", 2, MixMeasurement::What::FinishTimes);
  measure_mixes(session, options, "triples", 3, MixMeasurement::What::FinishTimes);
}

}  // namespace sluice::gpu
