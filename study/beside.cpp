// SPDX-License-Identifier: Apache-2.0
#include "study/beside.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace sluice::gpu {

using figures::Figure;
using nlohmann::json;

namespace {

constexpr double kNearShare = 0.1, kNearMs = 0.2;

std::string text_of(const std::map<std::uint32_t, Share>& shares, const std::vector<CtaCount>& most, std::uint32_t num_sms) {
  std::vector<std::string> all;
  for (const auto& [launch, share] : shares) {
    const CtaCount ctas = launch < most.size() ? std::min(share.ctas, most[launch]) : share.ctas;
    const std::uint32_t first = std::min(share.sms.first.value(), num_sms), count = std::min(share.sms.count, num_sms - first);
    if (ctas.value() == 0 || count == 0) continue;
    std::string own = launch < most.size() ? fmt::format("{}: {}", launch, ctas.value()) : fmt::format("{}", launch);
    if (count < num_sms) own += fmt::format(" on {}-{}", first, first + count - 1);
    all.push_back(own);
  }
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "));
}

std::size_t longest_common(const std::vector<DecisionStep>& a, const std::vector<DecisionStep>& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (const DecisionStep& x : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = x.event == b[j].event && x.shares == b[j].shares ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

/// Says why the lists part at `c.at`.
void explain(OrderComparison& c, const std::vector<DecisionStep>& measured, const std::vector<DecisionStep>& model) {
  const auto later = [&](const std::vector<DecisionStep>& in, const std::string& event) {
    return std::find_if(in.begin() + static_cast<std::ptrdiff_t>(c.at), in.end(),
                        [&](const DecisionStep& s) { return s.event == event; });
  };
  if (c.at == measured.size() || c.at == model.size()) {
    const bool here = c.at < measured.size();
    const DecisionStep& step = here ? measured[c.at] : model[c.at];
    c.cause = OrderComparison::Cause::Missing;
    c.why = fmt::format("{} at {:.3f} ms is {} alone", step.event, step.at, here ? "the GPU's" : "the model's");
    return;
  }
  const DecisionStep &gpu = measured[c.at], &other = model[c.at];
  if (gpu.event == other.event) {
    c.cause = OrderComparison::Cause::Shares;
    c.why = fmt::format("after {}: {} at {:.3f} ms, in the model {} at {:.3f} ms", gpu.event, gpu.shares, gpu.at, other.shares,
                        other.at);
    return;
  }
  const auto there = later(model, gpu.event), here = later(measured, other.event);
  if (there != model.end() && here != measured.end()) {
    c.cause = OrderComparison::Cause::Order;
    c.why = fmt::format("{} is {:.3f} ms before {}, in the model {:.3f} ms after it", gpu.event, here->at - gpu.at, other.event,
                        there->at - other.at);
    return;
  }
  c.cause = OrderComparison::Cause::Missing;
  const bool only_gpu = there == model.end();
  c.why = fmt::format("{} at {:.3f} ms does not happen {}", only_gpu ? gpu.event : other.event, only_gpu ? gpu.at : other.at,
                      only_gpu ? "in the model" : "on the GPU");
}

/// The shares that are in force from a time on.
std::map<double, std::string> shares_over_time(const SceneRun& run, const std::vector<CtaCount>& most, std::uint32_t num_sms) {
  std::map<double, std::string> all = {{0.0, "none"}};
  for (const SceneRun::Decision& d : run.decisions) all[d.at] = text_of(d.shares, most, num_sms);
  return all;
}

/// Median turnaround of each launch over the repetitions.
Values turnarounds(const BesideScene& scene) {
  Values all;
  for (std::size_t k = 0; k < scene.measured.front().launches.size(); ++k) {
    Values one;
    for (const SceneRun& run : scene.measured) one.push_back(run.launches.at(k).turnaround);
    all.push_back(median(one));
  }
  return all;
}

/// Of one scheduler, or of all, against one model.
struct BesideSums {
  std::size_t scenes = 0, launches = 0, near = 0;
  std::size_t runs = 0, same = 0;                ///< repetitions with decisions; of these, in the model's order
  std::size_t near_same = 0, launches_same = 0;  ///< in scenes whose every repetition decides in the model's order
  double measured = 0, model = 0, equal = 0;     ///< steps, over the runs
  Values off, shares;
  std::map<OrderComparison::Cause, std::size_t> causes;
  double furthest_by = 0;
  std::string furthest;

  void add(const BesideSums& s) {
    scenes += s.scenes, launches += s.launches, near += s.near, runs += s.runs, same += s.same;
    near_same += s.near_same, launches_same += s.launches_same;
    measured += s.measured, model += s.model, equal += s.equal;
    off.insert(off.end(), s.off.begin(), s.off.end());
    shares.insert(shares.end(), s.shares.begin(), s.shares.end());
    for (const auto& [cause, count] : s.causes) causes[cause] += count;
    if (s.furthest_by > furthest_by) furthest_by = s.furthest_by, furthest = s.furthest;
  }
  [[nodiscard]] json data() const {
    json out = {{"scenes", scenes},
                {"launches", launches},
                {"near", near},
                {"runs", runs},
                {"same_order", same},
                {"near_in_same_order", near_same},
                {"launches_in_same_order", launches_same}};
    if (!off.empty()) out["median_off"] = median(off);
    if (runs > 0) out.update({{"steps", measured}, {"model_steps", model}, {"equal_steps", equal}});
    if (!shares.empty()) out["equal_shares"] = mean(shares);
    for (const auto& [cause, count] : causes) out["first_difference"][std::string(to_string(cause))] = count;
    return out;
  }
  static double mean(const Values& values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
  }
};

std::string ratio(double part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-"; }

}  // namespace

bool is_near(double measured_ms, double model_ms) {
  return std::abs(measured_ms - model_ms) <= std::max(kNearShare * model_ms, kNearMs);
}

std::string_view to_string(OrderComparison::Cause cause) {
  constexpr std::string_view kNames[] = {"none", "order of two events", "other shares", "an event of one side"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::vector<DecisionStep> steps_of(const SceneRun& run, bool shares, const std::vector<CtaCount>& most, std::uint32_t num_sms) {
  std::vector<DecisionStep> all;
  for (const SceneRun::Decision& d : run.decisions)
    for (const std::string& event : d.events)
      all.push_back({d.at, event, shares ? text_of(d.shares, most, num_sms) : std::string()});
  return all;
}

OrderComparison compare(const std::vector<DecisionStep>& measured, const std::vector<DecisionStep>& model) {
  OrderComparison c{measured.size(), model.size(), longest_common(measured, model)};
  const auto parted = std::ranges::mismatch(
      measured, model, [](const DecisionStep& a, const DecisionStep& b) { return a.event == b.event && a.shares == b.shares; });
  if (parted.in1 == measured.end() && parted.in2 == model.end()) return c;
  c.at = static_cast<std::size_t>(parted.in1 - measured.begin());
  explain(c, measured, model);
  return c;
}

double equal_shares(const SceneRun& measured, const SceneRun& model, const std::vector<CtaCount>& most, std::uint32_t num_sms) {
  const auto ours = shares_over_time(measured, most, num_sms), theirs = shares_over_time(model, most, num_sms);
  const double end = std::max(measured.end, model.end);
  std::set<double> times = {0.0, end};
  for (const auto* all : {&ours, &theirs})
    for (const auto& [at, text] : *all)
      if (at < end) times.insert(at);
  double equal = 0;
  for (auto at = times.begin(); std::next(at) != times.end(); ++at)
    if (std::prev(ours.upper_bound(*at))->second == std::prev(theirs.upper_bound(*at))->second) equal += *std::next(at) - *at;
  return end > 0 ? equal / end : 1;
}

double time_held(const SceneRun& run, std::uint32_t launch) {
  const double end = run.launches.at(launch).arrived + run.launches[launch].turnaround;
  double held = 0;
  for (std::size_t i = 0; i < run.decisions.size(); ++i) {
    const double from = run.decisions[i].at, to = i + 1 < run.decisions.size() ? run.decisions[i + 1].at : end;
    if (run.decisions[i].shares.contains(launch)) held += std::max(0.0, std::min(to, end) - from);
  }
  return held;
}

Figure beside_figure(const std::vector<BesideModel>& models, const std::vector<BesideScene>& scenes, std::uint32_t num_sms) {
  Figure figure{
      "beside", "Model beside silicon: the same scenes, with the same arrivals and schedulers", "Not in the paper.", {}, {}, {}};
  std::map<std::string, std::vector<BesideSums>> sums;  // by scheduler
  std::vector<report::LineChart> charts;
  for (const BesideModel& m : models) {
    report::LineChart& chart =
        charts.emplace_back(report::LineChart{m.name + ": each launch's turnaround", "model, ms", "GPU, ms"});
    chart.diagonal = chart.log_x = chart.log_y = true;
  }
  for (const BesideScene& s : scenes) {
    const Values gpu = turnarounds(s);
    std::vector<BesideSums>& own = sums.try_emplace(s.scheduler, models.size()).first->second;
    for (std::size_t m = 0; m < models.size(); ++m) {
      if (!s.runs[m]) continue;
      const SceneRun& run = *s.runs[m];
      BesideSums here;
      here.scenes = 1;
      for (const SceneRun& measured : s.measured) {
        if (measured.decisions.empty() || run.decisions.empty()) continue;
        const OrderComparison c = compare(steps_of(measured, models[m].same_machine, s.most, num_sms),
                                          steps_of(run, models[m].same_machine, s.most, num_sms));
        ++here.runs;
        here.same += c.cause == OrderComparison::Cause::None ? 1 : 0;
        here.measured += static_cast<double>(c.measured);
        here.model += static_cast<double>(c.model);
        here.equal += static_cast<double>(c.equal);
        if (c.cause != OrderComparison::Cause::None) ++here.causes[c.cause];
        if (models[m].same_machine) here.shares.push_back(equal_shares(measured, run, s.most, num_sms));
      }
      auto line = std::ranges::find(charts[m].lines, s.scheduler, [](const auto& l) { return l.series.name; });
      if (line == charts[m].lines.end())
        line = charts[m].lines.insert(line, {{s.scheduler, 1 + charts[m].lines.size() % 9}, {}, false});
      for (std::size_t k = 0; k < gpu.size(); ++k) {
        const double other = run.launches.at(k).turnaround, off = gpu[k] / other - 1;
        const bool near = is_near(gpu[k], other);
        ++here.launches;
        here.near += near ? 1 : 0;
        here.off.push_back(std::abs(off));
        const std::string what = fmt::format("{} in {} under {}: {:.3f} ms, {:.3f} in the model", run.launches[k].name, s.name,
                                             s.scheduler, gpu[k], other);
        if (!near && std::abs(off) > here.furthest_by) {
          here.furthest_by = std::abs(off);
          here.furthest = what;
        }
        constexpr double kDrawn = 1e-3;  // a launch that the model ends at once has no place on a logarithmic axis
        if (other < kDrawn) continue;
        line->points.emplace_back(other, gpu[k]);
        line->notes.push_back(what);
      }
      if (here.runs > 0 && here.same == here.runs) here.near_same = here.near, here.launches_same = here.launches;
      own[m].add(here);
    }
  }
  if (scenes.empty()) return figure;
  report::Table summary({"model",
                         "scheduler",
                         "scenes",
                         "turnarounds near",
                         {"median error", report::Notation::Share, 1},
                         "runs in the same order",
                         {"equal steps", report::Notation::Share, 1},
                         {"equal shares, of the time", report::Notation::Share, 1},
                         report::words("first difference: runs")});
  std::vector<std::string> said;
  for (std::size_t m = 0; m < models.size(); ++m) {
    BesideSums all;
    const auto row = [&](const std::string& scheduler, const BesideSums& s) {
      if (s.scenes == 0) return;
      std::vector<std::string> causes;
      for (const auto& [cause, count] : s.causes) causes.push_back(fmt::format("{}: {}", to_string(cause), count));
      summary.row({models[m].name, scheduler, static_cast<std::uint64_t>(s.scenes), fmt::format("{} of {}", s.near, s.launches),
                   median(s.off), s.runs == 0 ? "–" : fmt::format("{} of {}", s.same, s.runs),
                   s.runs == 0 ? report::kNone : s.equal / std::max(s.measured, s.model),
                   s.shares.empty() ? report::kNone : BesideSums::mean(s.shares), fmt::format("{}", fmt::join(causes, ", "))});
    };
    for (const auto& [scheduler, own] : sums) {
      row(scheduler, own[m]);
      if (own[m].scenes > 0) figure.data["schedulers"][scheduler][models[m].name] = own[m].data();
      all.add(own[m]);
    }
    if (all.scenes == 0) continue;
    row("all", all);
    figure.data["models"][models[m].name] = all.data();
    figure.data["models"][models[m].name]["furthest"] = all.furthest;
    std::string words = fmt::format("{}: {} of {} turnarounds within 10 % or 0.2 ms, median error {}", models[m].name, all.near,
                                    all.launches, ratio(median(all.off), 1));
    if (all.runs == 0) words += "; decisions were not recorded";
    if (all.runs > 0)
      words += fmt::format(", {} of {} runs decide in the same order, {} of the steps agree", all.same, all.runs,
                           ratio(all.equal, std::max(all.measured, all.model)));
    if (!all.shares.empty()) words += fmt::format(", shares are equal {} of the time", ratio(BesideSums::mean(all.shares), 1));
    said.push_back(words);
  }
  figure.measured = fmt::format("{}.", fmt::join(said, ". "));
  figure.blocks = {report::Multiples{{charts.begin(), charts.end()}}, report::Folded{"Scheduler by scheduler", summary}};
  return figure;
}

}  // namespace sluice::gpu
