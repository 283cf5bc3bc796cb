// SPDX-License-Identifier: Apache-2.0
#include "sw/report/timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "sw/core/errors.h"
#include "sw/io/atomic_file.h"
#include "sw/report/summary.h"

namespace sluice {

namespace {

constexpr std::size_t kBins = 400;  // of the shown time: a change within one is not visible
constexpr std::size_t kColours[] = {5, 4, 3, 1, 6, 2};

/// Change of a kernel's CTAs on an SM at a time.
using Changes = std::map<std::uint64_t, int>;

std::string counts_text(const Partition& partition) { return partition_label(partition); }

std::uint64_t ns(Time time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace

report::Timeline sm_timeline(const std::filesystem::path& trace, const EvalRun& run, std::uint64_t end) {
  nlohmann::json events;
  try {
    events = nlohmann::json::parse(read_file(trace));
  } catch (const nlohmann::json::exception& e) {
    throw InputError(fmt::format("{}: no Chrome trace: {}", trace.string(), e.what()));
  }
  std::map<std::pair<std::uint32_t, std::string>, Changes> changes;
  std::uint32_t sms = 0;
  std::uint64_t last = 0;
  for (const nlohmann::json& event : events) {
    if (event.value("ph", "") != "X") continue;
    const std::uint32_t sm = event.at("pid");
    const std::uint64_t begin = event.at("ts"), length = event.at("dur");
    sms = std::max(sms, sm + 1);
    last = std::max(last, begin + length);
    Changes& of = changes[{sm, event.at("name").get<std::string>()}];
    ++of[begin];
    --of[begin + length];
  }
  const std::uint64_t shown = end == 0 ? last : std::min(end, last);
  report::Timeline out{.title = fmt::format("CTAs on each SM, {} under {}", mix_name(run.kernels), policy_label(run.policy)),
                       .x_label = "core cycles"};
  out.end = static_cast<double>(shown);
  for (std::size_t k = 0; k < run.kernels.size(); ++k) out.series.push_back({run.kernels[k], kColours[k % std::size(kColours)]});
  // CTAs in each bin, by SM and kernel.
  std::vector<std::vector<std::vector<int>>> held(sms, std::vector(run.kernels.size(), std::vector<int>(kBins)));
  int most = 1;
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    std::vector<int> sum(kBins);
    for (std::size_t k = 0; k < run.kernels.size(); ++k) {
      const Changes& of = changes[{sm, run.kernels[k]}];
      auto next = of.begin();
      int now = 0;
      for (std::size_t b = 0; b < kBins; ++b) {
        for (; next != of.end() && next->first * kBins <= shown * b + shown / 2; ++next) now += next->second;
        held[sm][k][b] = now;
        most = std::max(most, sum[b] += now);
      }
    }
  }
  const double bin = static_cast<double>(shown) / kBins;
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    out.rows.push_back(fmt::format("SM {}", sm));
    for (std::size_t b = 0; b < kBins;) {
      std::size_t to = b + 1;
      const auto same = [&](std::size_t at) {
        return std::ranges::all_of(held[sm], [&](const std::vector<int>& of) { return of[at] == of[b]; });
      };
      while (to < kBins && same(to)) ++to;
      double foot = 0;
      std::string note = fmt::format("SM {}:", sm);
      for (std::size_t k = 0; k < run.kernels.size(); ++k) note += fmt::format(" {} {}", run.kernels[k], held[sm][k][b]);
      for (std::size_t k = 0; k < run.kernels.size(); ++k) {
        const double height = static_cast<double>(held[sm][k][b]) / most;
        if (height > 0)
          out.spans.push_back(
              {sm, bin * static_cast<double>(b), bin * static_cast<double>(to), k, height, foot, to - b > 3 ? note : ""});
        foot += height;
      }
      b = to;
    }
  }
  if (!run.decisions.empty()) {
    const DecisionRecord& first = run.decisions.front();
    out.phases = {{"profile", 0},
                  {"decision", static_cast<double>(first.sampled_at)},
                  {"quotas " + counts_text(first.partition), static_cast<double>(first.decided_at)}};
    for (std::size_t d = 1; d < run.decisions.size(); ++d)
      if (run.decisions[d].decided_at < shown)
        out.phases.emplace_back("then " + counts_text(run.decisions[d].partition),
                                static_cast<double>(run.decisions[d].decided_at));
  } else {
    out.phases = {{policy_label(run.policy), 0}};
  }
  for (const KernelOutcome& k : run.per_kernel)
    if (k.finish_cycle > 0 && k.finish_cycle < shown)
      out.phases.emplace_back(k.name + " done", static_cast<double>(k.finish_cycle));
  std::ranges::stable_sort(out.phases, {}, &std::pair<std::string, double>::second);
  return out;
}

void write_timeline_page(const std::filesystem::path& trace, const EvalRun& run, const nlohmann::ordered_json& provenance) {
  constexpr std::uint64_t kAfterDecision = 3;  // as long again as until the decision, and once more
  const std::string name = mix_name(run.kernels), policy = policy_label(run.policy);
  report::Page page{
      fmt::format("{} under {}: done after {} cycles, STP {:.2f}", name, policy, run.cycles, run.stp), {}, {}, {}, provenance};
  std::uint64_t begin = 0;
  if (!run.decisions.empty()) {
    const DecisionRecord& first = run.decisions.front();
    begin = first.decided_at * kAfterDecision;
    page.title = fmt::format("{}: profiled for {} cycles, then quotas {} on every SM; STP {:.2f}", name, first.sampled_at,
                             counts_text(first.partition), run.stp);
    page.lead =
        "While the kernels are profiled, each SM holds another number of CTAs of one kernel. The decision takes the best quotas "
        "from these samples.";
  }
  report::Timeline first = sm_timeline(trace, run, begin);
  page.opening = {report::Large{first}};
  if (begin != 0 && begin < run.cycles) {
    report::Timeline whole = sm_timeline(trace, run);
    whole.title = "The whole run";
    page.opening.emplace_back(report::Large{whole});
  }
  std::filesystem::path beside = trace;
  write_file_atomically(beside.replace_extension(".html"), report::html(page));
  write_file_atomically(beside.replace_extension(".svg"), report::picture(first, 1000));
}

TaskTimeline::TaskTimeline(const std::filesystem::path& file, const Scenario& scenario, const ScheduleTarget& target,
                           std::optional<Time> wait)
    : trace_(file, target.machine.num_sms, "ns"), free_again_(target.machine.num_sms) {
  for (const ScenarioLaunch& launch : launches(scenario, wait.value_or(Time(0))))
    names_.push_back(scenario.jobs[launch.job].name);
  tasks_.resize(names_.size());
}

void TaskTimeline::task_begins(JobId job, SmId sm, Time begin, Time end) {
  std::vector<Time>& slots = free_again_.at(sm.value());
  auto slot = std::ranges::find_if(slots, [&](Time free) { return free <= begin; });
  if (slot == slots.end()) slot = slots.insert(slots.end(), end);
  *slot = end;
  trace_.cta(sm.value(), static_cast<std::uint32_t>(slot - slots.begin()), names_.at(job.value()), tasks_.at(job.value())++,
             ns(begin), ns(end));
}

}  // namespace sluice
