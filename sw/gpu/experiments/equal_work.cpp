// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/experiments/equal_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sw/gpu/jobs/job_shape.h"
#include "sw/gpu/jobs/online_profile.h"
#include "sw/gpu/jobs/side_by_side.h"
#include "sw/policy/names.h"
#include "sw/scheduler/balance_scheduler.h"

namespace sluice::gpu {

namespace {

using nlohmann::json;

/// Of balance, whose partitions leave no room: some CTAs find none, and it counts without them.
constexpr double kSettle = 0.3e-3;

json described(const BalanceCandidate& c) {
  json ctas = json::array();
  for (const CtaCount of : c.ctas) ctas.push_back(of.value());
  return {{"ctas", ctas}, {"rates", c.rates}, {"score", c.score}, {"tried", c.again ? "confirmed" : "side_by_side"}};
}

std::vector<double> native_finish(const PreparedMix& mix, const std::vector<std::string>& names,
                                  const std::vector<CUstream>& streams, const std::vector<int>& launches) {
  std::vector<EventHandle> last;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < *std::ranges::max_element(launches); ++i)
    for (std::size_t k = 0; k < mix.size(); ++k)
      if (i < launches[k]) mix[k]->launch_native(streams[k]);
  for (std::size_t k = 0; k < mix.size(); ++k) {
    last.push_back(make_event());
    check(driver().cuEventRecord(last[k].get(), streams[k]), "recording an event");
  }
  std::vector<double> finish(mix.size(), 0);
  for (std::size_t open = mix.size(); open > 0;) {
    for (std::size_t k = 0; k < mix.size(); ++k) {
      if (finish[k] > 0) continue;
      const CUresult result = driver().cuEventQuery(last[k].get());
      if (result == CUDA_ERROR_NOT_READY) continue;
      check(result, names[k] + " failed on the GPU");
      finish[k] = seconds(Clock::now() - start);
      --open;
    }
  }
  return finish;
}

/// One mix under one policy's quotas until all is done. The kernels that are not done share every SM; decided anew when one ends.
class QuotaRun {
 public:
  /// @param balance  of kBalance; what it learns stays in it
  /// @param again    partitions that kBalance sees on all SMs
  QuotaRun(const GpuSession& session, const PreparedMix& mix, const std::vector<int>& launches, std::string policy,
           BalanceScheduler& balance, std::size_t again)
      : mix_(mix),
        launches_(launches),
        policy_(std::move(policy)),
        sms_(session.context().limits().sms),
        silicon_(silicon_mix(session, mix)),
        scheduler_(policy_, silicon_),
        balance_(balance),
        again_(again),
        running_(mix, {launches.begin(), launches.end()}) {}

  /// @return when each was done
  std::vector<double> run(const std::string& name) {
    start_ = Clock::now();
    if (policy_ == kWarpedSlicer)
      curves_ = profile_online(running_, mix_, [this](const std::vector<Profile>& curves) {
                  return sluice::gpu::decide(kWarpedSlicer, silicon_, curves);
                }).refined;
    std::vector<std::size_t> unfinished(mix_.size());
    std::iota(unfinished.begin(), unfinished.end(), std::size_t{0});
    share(unfinished, 0);
    std::vector<double> finish(mix_.size(), 0);
    double refilled = 0;
    while (!unfinished.empty()) {
      const double now = seconds(Clock::now() - start_);
      const std::size_t ended = std::erase_if(unfinished, [&](std::size_t k) {
        QuotaJob& job = running_.job(k);
        const bool holds = std::ranges::any_of(job.quota(), [](std::uint32_t ctas) { return ctas != 0; });
        if (!holds || !job.idle()) return false;
        const JobState state = job.state();
        if (!state.all_claimed || state.returned > 0) job.finish(20);  // some CTAs left with tasks
        finish[k] = seconds(Clock::now() - start_);
        return true;
      });
      if (ended > 0 && !unfinished.empty()) {
        share(unfinished, now);
      } else if (now - refilled > 1e-3) {  // slots that opened when others drained
        refilled = now;
        for (const std::size_t k : unfinished) {
          QuotaJob& job = running_.job(k);
          if (job.state().resident < std::accumulate(job.quota().begin(), job.quota().end(), 0U)) job.fill();
        }
      }
      if (now > 20) throw GpuError(fmt::format("{}: not done after 20 s", name));
    }
    return finish;
  }
  [[nodiscard]] const json& decisions() const { return decisions_; }

 private:
  /// The part of each kernel's work.
  [[nodiscard]] std::vector<double> done() {
    std::vector<double> parts;
    for (std::size_t k = 0; k < mix_.size(); ++k)
      parts.push_back(static_cast<double>(running_.job(k).done_total()) / static_cast<double>(tasks(k)));
    return parts;
  }
  [[nodiscard]] std::uint64_t tasks(std::size_t k) const {
    return static_cast<std::uint64_t>(launches_[k]) * mix_[k]->spec().blocks();
  }

  void share(const std::vector<std::size_t>& open, double at) {
    json of = {{"at", at}, {"open", open}, {"done", done()}};
    const std::vector<QuotaTable> tables = policy_ == kBalance ? balanced(open, of) : decided(open);
    bool same = true;  // what was measured last may be what is kept
    for (std::size_t k = 0; k < mix_.size(); ++k) same = same && running_.job(k).quota() == tables[k];
    if (open.size() == 1)
      running_.job(open[0]).set(tables[open[0]]);
    else if (!same)
      running_.begin(tables, policy_ == kBalance ? kSettle : QuotaMix::kSettle);
    of["in_force"] = seconds(Clock::now() - start_);
    of["done_in_force"] = done();
    for (const QuotaTable& table : tables) of["ctas"].push_back(table.front());
    decisions_.push_back(std::move(of));
  }

  [[nodiscard]] std::vector<QuotaTable> decided(const std::vector<std::size_t>& open) {
    std::vector<std::size_t> ended;
    for (std::size_t k = 0; k < mix_.size(); ++k)
      if (std::ranges::find(open, k) == open.end()) ended.push_back(k);
    const std::vector<QuotaTable> shares = tables_of(sluice::gpu::decide(scheduler_, silicon_, curves_, ended), sms_);
    std::vector<QuotaTable> tables(mix_.size(), QuotaTable(sms_, 0));
    for (std::size_t i = 0; i < open.size(); ++i) tables[open[i]] = shares[i];
    return tables;
  }

  [[nodiscard]] Plan plan_of(const std::vector<std::size_t>& open) {
    std::vector<JobView> jobs;
    for (const std::size_t k : open) {
      JobView& job = jobs.emplace_back();
      job.id = JobId(static_cast<std::uint32_t>(k));
      job.kernel = silicon_.kernels[k];
      job.state = sluice::JobState::Ready;
      job.tasks = tasks(k);
      job.tasks_begun = std::min(job.tasks - 1, running_.job(k).done_total());
    }
    return balance_.decide(jobs, {}, Time(0));
  }

  /// What `balance` gives the kernels that are not done, where they lie; a mix that it does not know is measured first.
  [[nodiscard]] std::vector<QuotaTable> balanced(const std::vector<std::size_t>& open, json& of) {
    Plan plan = plan_of(open);
    if (!plan.measure.empty()) {
      const auto rates = [&](const std::vector<QuotaTable>& tables, double window) {
        return running_.restart(tables, ProfileWindows().warm_up, window, kSettle).per_sm;
      };
      std::vector<JobId> ids;
      std::vector<std::size_t> together;
      for (const JobShare& job : plan.jobs) {
        ids.push_back(job.job);
        together.push_back(job.job.value());
      }
      SideBySideWindows windows;
      windows.again = again_;
      const SideBySide found =
          measure_side_by_side(rates, silicon_, together, plan.measure, silicon_.machine.partitioner.balance.keep, windows);
      for (const auto* list : {&found.first, &found.again})
        for (const BalanceCandidate& c : *list) of["candidates"].push_back(described(c));
      balance_.measured(ids, found.again);
      plan = plan_of(open);
    }
    of["reason"] = plan.reason;
    std::vector<QuotaTable> tables(mix_.size(), QuotaTable(sms_, 0));
    for (const JobShare& job : plan.jobs) {
      Share share = job.share;
      share.ctas = std::min(share.ctas, silicon_.most[job.job.value()]);
      tables[job.job.value()] = quotas_of(share, sms_);
    }
    return tables;
  }

  const PreparedMix& mix_;
  const std::vector<int>& launches_;
  std::string policy_;
  unsigned sms_;
  SiliconMix silicon_;
  SiliconScheduler scheduler_;
  BalanceScheduler& balance_;
  std::size_t again_;
  QuotaMix running_;
  std::vector<Profile> curves_;  ///< of kWarpedSlicer
  Clock::time_point start_;
  json decisions_ = json::array();
};

}  // namespace

void equal_work(GpuSession& session, const std::vector<std::string>& names, const PreparedMix& mix,
                const std::vector<CUstream>& streams, RawLines& store, unsigned repetition) {
  const auto key = [&](const std::string& policy) { return fmt::format("{}/{}/{}", mix_name(names), policy, repetition); };
  if (store.has(key("finish_done"))) return;
  std::vector<int> launches;
  std::vector<double> alone;
  for (std::size_t k = 0; k < mix.size(); ++k) {
    const double once = native_seconds(*mix[k], streams[k]);
    launches.push_back(std::max(1, static_cast<int>(std::lround(store.options().window * 1.5 / once))));
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < launches[k]; ++i) mix[k]->launch_native(streams[k]);
    check(driver().cuStreamSynchronize(streams[k]), names[k] + " failed on the GPU");
    alone.push_back(seconds(Clock::now() - start));
  }
  const auto keep = [&](const std::string& policy, const std::vector<double>& finish, const json& decisions) {
    json line = {
        {"kernels", names}, {"policy", policy}, {"repetition", repetition}, {"alone_seconds", alone}, {"finish_seconds", finish}};
    if (!decisions.empty()) line["decisions"] = decisions;
    store.add(key("finish/" + policy), std::move(line));
  };
  keep(kLeftOver, native_finish(mix, names, streams, launches), {});
  {
    const GreenStreams green(session.context(), static_cast<unsigned>(mix.size()));
    std::vector<CUstream> confined;
    for (std::size_t k = 0; k < mix.size(); ++k) confined.push_back(green.stream(k));
    keep(kSpatial, native_finish(mix, names, confined, launches), {});
  }
  const auto under_quotas = [&](const std::string& as, const char* policy, BalanceScheduler& balance, std::size_t again) {
    QuotaRun run(session, mix, launches, policy, balance, again);
    const std::vector<double> finish = run.run(mix_name(names));
    keep(as, finish, run.decisions());
  };
  const std::size_t twice = SideBySideWindows().again;
  BalanceScheduler balance(silicon_mix(session, mix).machine), once(silicon_mix(session, mix).machine);
  under_quotas(kEven, kEven, balance, twice);
  under_quotas(kWarpedSlicer, kWarpedSlicer, balance, twice);
  under_quotas(kBalance, kBalance, balance, twice);
  under_quotas("balance_again", kBalance, balance, twice);
  under_quotas("balance_once", kBalance, once, 1);
  store.add(key("finish_done"), {{"repetition", repetition}, {"policy", "done"}});
}

}  // namespace sluice::gpu
