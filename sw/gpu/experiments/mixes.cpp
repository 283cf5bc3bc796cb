// SPDX-License-Identifier: Apache-2.0
// Experiments on mixes: every policy on all pairs (with the exhaustive search) and triples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sw/core/metrics.h"
#include "sw/gpu/experiments/experiments.h"
#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/jobs/online_profile.h"
#include "sw/gpu/jobs/side_by_side.h"
#include "sw/policy/names.h"
#include "sw/scheduler/balance_scheduler.h"

namespace sluice::gpu {

namespace {

constexpr double kWarmUp = 0.5e-3;  ///< before a window
constexpr double kSettle =
    0.3e-3;  ///< of balance, whose partitions leave no room: some CTAs find none, and it counts without them

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
      finish_times(r);
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

  /// Equal work: every kernel gets as many launches as it does alone in the window; time until all are done, with profiling.
  void finish_times(unsigned r) {
    if (store_.has(key("finish_done", r))) return;
    std::vector<int> launches;
    std::vector<double> alone;
    for (std::size_t k = 0; k < mix_.size(); ++k) {
      const double once = native_seconds(*mix_[k], streams_[k].get());
      launches.push_back(std::max(1, static_cast<int>(std::lround(options_.window * 1.5 / once))));
      const Clock::time_point start = Clock::now();
      for (int i = 0; i < launches[k]; ++i) mix_[k]->launch_native(streams_[k].get());
      check(driver().cuStreamSynchronize(streams_[k].get()), names_[k] + " failed on the GPU");
      alone.push_back(seconds(Clock::now() - start));
    }
    const auto keep = [&](const std::string& policy, const std::vector<double>& finish) {
      store_.add(
          key("finish/" + policy, r),
          {{"kernels", names_}, {"policy", policy}, {"repetition", r}, {"alone_seconds", alone}, {"finish_seconds", finish}});
    };
    keep(kLeftOver, native_finish(streams(), launches));
    {
      const GreenStreams green(session_.context(), static_cast<unsigned>(mix_.size()));
      std::vector<CUstream> confined;
      for (std::size_t k = 0; k < mix_.size(); ++k) confined.push_back(green.stream(k));
      keep(kSpatial, native_finish(confined, launches));
    }
    keep(kEven, quota_finish(launches, kEven));
    keep(kWarpedSlicer, quota_finish(launches, kWarpedSlicer));
    keep(kBalance, quota_finish(launches, kBalance));
    store_.add(key("finish_done", r), {{"repetition", r}, {"policy", "done"}});
  }

  std::vector<double> native_finish(const std::vector<CUstream>& streams, const std::vector<int>& launches) {
    std::vector<EventHandle> last;
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < *std::ranges::max_element(launches); ++i)
      for (std::size_t k = 0; k < mix_.size(); ++k)
        if (i < launches[k]) mix_[k]->launch_native(streams[k]);
    for (std::size_t k = 0; k < mix_.size(); ++k) {
      last.push_back(make_event());
      check(driver().cuEventRecord(last[k].get(), streams[k]), "recording an event");
    }
    std::vector<double> finish(mix_.size(), 0);
    for (std::size_t open = mix_.size(); open > 0;) {
      for (std::size_t k = 0; k < mix_.size(); ++k) {
        if (finish[k] > 0) continue;
        const CUresult result = driver().cuEventQuery(last[k].get());
        if (result == CUDA_ERROR_NOT_READY) continue;
        check(result, names_[k] + " failed on the GPU");
        finish[k] = seconds(Clock::now() - start);
        --open;
      }
    }
    return finish;
  }

  /// What `balance` gives the kernels that are not done, where they lie; a mix that it does not know is measured first.
  std::vector<QuotaTable> balanced(BalanceScheduler& scheduler, QuotaMix& running, const SiliconMix& silicon,
                                   const std::vector<std::size_t>& open, const std::vector<int>& launches) {
    const auto plan_of = [&] {
      std::vector<JobView> jobs;
      for (const std::size_t k : open) {
        JobView& job = jobs.emplace_back();
        job.id = JobId(static_cast<std::uint32_t>(k));
        job.kernel = silicon.kernels[k];
        job.state = sluice::JobState::Ready;
        job.tasks = static_cast<std::uint64_t>(launches[k]) * mix_[k]->spec().blocks();
        job.tasks_begun = std::min(job.tasks - 1, running.job(k).done_total());
      }
      return scheduler.decide(jobs, {}, Time(0));
    };
    Plan plan = plan_of();
    if (!plan.measure.empty()) {
      const auto rates = [&](const std::vector<QuotaTable>& tables, double window) {
        return running.restart(tables, ProfileWindows().warm_up, window, kSettle).per_sm;
      };
      std::vector<JobId> ids;
      std::vector<std::size_t> together;
      for (const JobShare& job : plan.jobs) {
        ids.push_back(job.job);
        together.push_back(job.job.value());
      }
      const auto found = measure_side_by_side(rates, silicon, together, plan.measure, silicon.machine.partitioner.balance.keep);
      scheduler.measured(ids, found);
      plan = plan_of();
    }
    std::vector<QuotaTable> tables(mix_.size(), QuotaTable(sms_, 0));
    for (const JobShare& job : plan.jobs) {
      Share share = job.share;
      share.ctas = std::min(share.ctas, silicon.most[job.job.value()]);
      tables[job.job.value()] = quotas_of(share, sms_);
    }
    return tables;
  }

  std::vector<double> quota_finish(const std::vector<int>& launches, const std::string& policy) {
    std::vector<std::uint64_t> passes(launches.begin(), launches.end());
    QuotaMix running(mix_, passes);
    std::vector<QuotaJob*> jobs;
    for (std::size_t k = 0; k < mix_.size(); ++k) jobs.push_back(&running.job(k));
    const Clock::time_point start = Clock::now();
    const std::vector<Profile> curves =
        policy == kWarpedSlicer ? profile_online(running, mix_, decider()).refined : std::vector<Profile>();
    // The kernels that are not done share every SM; decided anew when one ends, from the same curves.
    const SiliconMix silicon = silicon_mix(session_, mix_);
    SiliconScheduler scheduler(policy, silicon);
    BalanceScheduler balance(silicon.machine);
    const auto tables_for = [&](const std::vector<std::size_t>& open) {
      if (policy == kBalance) return balanced(balance, running, silicon, open, launches);
      std::vector<std::size_t> ended;
      for (std::size_t k = 0; k < mix_.size(); ++k)
        if (std::ranges::find(open, k) == open.end()) ended.push_back(k);
      const std::vector<QuotaTable> shares = tables_of(sluice::gpu::decide(scheduler, silicon, curves, ended), sms_);
      std::vector<QuotaTable> tables(mix_.size(), QuotaTable(sms_, 0));
      for (std::size_t i = 0; i < open.size(); ++i) tables[open[i]] = shares[i];
      return tables;
    };
    const auto share = [&](const std::vector<std::size_t>& open) {
      const std::vector<QuotaTable> tables = tables_for(open);
      if (open.size() == 1)
        jobs[open[0]]->set(tables[open[0]]);
      else if (!std::ranges::equal(jobs, tables, {}, &QuotaJob::quota))  // what was measured last may be what is kept
        running.begin(tables, policy == kBalance ? kSettle : QuotaMix::kSettle);
    };
    std::vector<std::size_t> unfinished(mix_.size());
    std::iota(unfinished.begin(), unfinished.end(), std::size_t{0});
    share(unfinished);
    std::vector<double> finish(jobs.size(), 0);
    double refilled = 0;
    while (!unfinished.empty()) {
      const double now = seconds(Clock::now() - start);
      const std::size_t ended = std::erase_if(unfinished, [&](std::size_t k) {
        const bool holds = std::ranges::any_of(jobs[k]->quota(), [](std::uint32_t ctas) { return ctas != 0; });
        if (!holds || !jobs[k]->idle()) return false;
        const JobState state = jobs[k]->state();
        if (!state.all_claimed || state.returned > 0) jobs[k]->finish(20);  // some CTAs left with tasks
        finish[k] = seconds(Clock::now() - start);
        return true;
      });
      if (ended > 0 && !unfinished.empty()) {
        share(unfinished);
      } else if (now - refilled > 1e-3) {  // slots that opened when others drained
        refilled = now;
        for (const std::size_t k : unfinished)
          if (jobs[k]->state().resident < std::accumulate(jobs[k]->quota().begin(), jobs[k]->quota().end(), 0U)) jobs[k]->fill();
      }
      if (now > 20) throw GpuError(fmt::format("{}: not done after 20 s", mix_name(names_)));
    }
    return finish;
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
