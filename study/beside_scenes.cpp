// SPDX-License-Identifier: Apache-2.0
#include "study/beside_scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <numeric>

#include "study/beside.h"
#include "study/gpu_effisha.h"
#include "study/kernelet_study.h"
#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/corun_rates.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {

using figures::Figure;
using nlohmann::json;

namespace {

constexpr double kTaskMs = 0.01;  // EffiSha's tasks, as in configs/scenarios: an eviction is immediate

/// Every two launches that share the GPU do so with rates that were measured.
bool rates_known(const Scene& scene, const SceneRun& run) {
  const auto known = [&](const SceneRun::Decision& d) {
    if (d.shares.size() != 2) return true;
    const auto& [first, own] = *d.shares.begin();
    const auto& [second, other] = *d.shares.rbegin();
    const std::string &a = scene.kernels[scene.jobs.at(first).kernel].kernel.name,
                      &b = scene.kernels[scene.jobs.at(second).kernel].kernel.name;
    if (own.sms != kEverySm) return range_speed(scene.coruns, a, b, own.sms.count, scene.machine.num_sms) > 0;
    return std::ranges::any_of(scene.rates.of(a, b), [&own = own, &other = other](const CoRun& r) {
      return r.ctas[0] == own.ctas && r.ctas[1] == other.ctas;
    });
  };
  for (std::size_t i = 0; i < run.decisions.size(); ++i) {
    const bool at_once = i + 1 < run.decisions.size() && run.decisions[i + 1].at == run.decisions[i].at;  // was never in force
    if (!at_once && !known(run.decisions[i])) return false;
  }
  return true;
}
/// With the rates of pairs, where they were measured; else it is counted.
std::optional<SceneRun> replay_with_rates(const Scene& scene, std::size_t& unknown) {
  SceneRun run = replay(scene);
  if (rates_known(scene, run)) return run;
  ++unknown;
  return std::nullopt;
}
void say_unknown(Figure& figure, std::size_t unknown) {
  if (unknown == 0) return;
  figure.data["without_rates"] = unknown;
  figure.measured += fmt::format(" {} scenes share the SMs in a ratio whose rates were not measured: not replayed.", unknown);
}

BesideScene beside_scene(const MeasuredScene& m) {
  BesideScene s{m.scene, m.scheduler, {}, {}, {}};
  for (const json& line : m.lines) s.measured.push_back(measured_run(line));
  return s;
}

/// The folder above, also of "sim/" and of ".".
std::filesystem::path parent_of(const std::filesystem::path& folder) { return (folder / "..").lexically_normal(); }

}  // namespace

Figure effisha_beside(const std::filesystem::path& folder) {
  const MeasuredFolder measured = measured_folder(folder);
  const auto of_systemc = model_runs(folder);
  const HandoverCosts costs = handover_costs(folder);
  std::vector<BesideScene> scenes;
  std::size_t held = 0, held_with_launches = 0, all = 0;
  for (const MeasuredScene& m : measured.scenes) {
    BesideScene s = beside_scene(m);
    Scene scene{m.scheduler, {}, {}, {}};
    scene.machine.num_sms = 1;  // who has the GPU has all of it
    scene.machine.sm.capacity = {kWarpSize, 0, 0, 1};
    add_jobs(scene, m.lines.front(), [&](const std::string& name) {
      SceneKernel k{{}, CtaCount(1), {measured.alone.at(name)}};
      k.kernel.name = name;
      k.kernel.grid_ctas = static_cast<std::uint32_t>(std::max(1.0, std::round(measured.alone.at(name) / kTaskMs)));
      return k;
    });
    s.runs.emplace_back(replay(scene));
    scene.costs.launch = Time(std::llround(costs.launch * 1e9));
    scene.costs.evict = Time(std::llround(costs.evict * 1e9));
    s.runs.emplace_back(replay(scene));
    s.runs.push_back(of_model(of_systemc, m));
    for (const SceneRun& run : s.measured)
      for (std::uint32_t k = 0; k < run.launches.size(); ++k, ++all) {
        const std::string evicted = fmt::format("evicted {}", k);
        double launches = 1;
        for (const SceneRun::Decision& d : run.decisions) launches += static_cast<double>(std::ranges::count(d.events, evicted));
        const double own = measured.alone.at(run.launches[k].name), had = time_held(run, k);
        held += is_near(had, own) ? 1 : 0;
        held_with_launches += is_near(had, own + launches * costs.launch) ? 1 : 0;
      }
    scenes.push_back(std::move(s));
  }
  Figure figure = beside_figure({{"times alone"}, {"with launches and evictions"}, {"SystemC model", false}}, scenes,
                                std::numeric_limits<std::uint32_t>::max());
  if (all == 0) return figure;
  figure.data["held"] = {{"launches", all}, {"near_alone", held}, {"near_with_launches", held_with_launches}};
  figure.measured += fmt::format(
      " By the GPU's own decisions {} of {} launches held it as long as they take alone, within 10 % or 0.2 ms; {} as long as "
      "that "
      "and their launches.",
      held, all, held_with_launches);
  constexpr double kNearlyAll = 0.9;
  if (static_cast<double>(held_with_launches) >= kNearlyAll * static_cast<double>(all))
    figure.measured += " So what parts the turnarounds is the order: an event on the other side of another moves all behind it.";
  return figure;
}

Figure sim_beside(const std::filesystem::path& folder, const json& machine) {
  if (!has_files(folder, machine, {"sim_curves.jsonl"})) return {};
  const MachineConfig config = machine_of(machine);
  const auto known = measured_kernels(parent_of(folder));
  std::map<std::string, SceneKernel> kernels;
  for (const json& line : lines(folder / "sim_curves.jsonl")) {
    SceneKernel& k = kernels[line.at("name")];
    k.kernel = kernel_named(known, line.at("app"));
    k.kernel.name = line.at("name");
    k.kernel.grid_ctas = line.at("blocks");
    k.ms = medians(line.at("ms").get<std::vector<Values>>());
    k.most = most_of(line.at("occupancy"), k.kernel.grid_ctas, config.num_sms);
  }
  CoRunTable pairs;
  for (const auto& [file, paper] :
       {std::pair(folder / "sim_rates.jsonl", "sim"), std::pair(parent_of(folder) / "five" / "five_rates.jsonl", "table2")}) {
    if (!has_packed(file)) continue;
    CoRunTable own = task_rates(read_corun_rates(file, paper, sm_cycles(config)), parent_of(folder), config);
    pairs.kernels.merge(own.kernels);
    pairs.pairs.merge(own.pairs);
  }
  const auto of_systemc = model_runs(folder);
  std::vector<BesideScene> scenes;
  std::size_t unknown = 0;
  for (const char* file : {"sim_pairs.jsonl", "sim_equal.jsonl"})
    for (const MeasuredScene& m : measured_scenes(folder / file, "scenario", {"arrival", "even", "adaptive"})) {
      BesideScene s = beside_scene(m);
      Scene scene{m.scheduler, config, {}, {}};
      add_jobs(scene, m.lines.front(), [&](const std::string& name) { return kernels.at(name); });
      s.most = most_of(scene);
      s.runs.emplace_back(replay(scene));
      scene.rates = pairs;
      s.runs.push_back(replay_with_rates(scene, unknown));
      s.runs.push_back(of_model(of_systemc, m));
      scenes.push_back(std::move(s));
    }
  Figure figure = beside_figure({{"times alone"}, {"rates of the pair"}, {"SystemC model", false}}, scenes, config.num_sms);
  say_unknown(figure, unknown);
  return figure;
}

Figure slate_beside(const std::filesystem::path& folder, const json& machine) {
  if (!has_files(folder, machine, {"slate_alone.jsonl", "slate_ranges.jsonl"})) return {};
  const MachineConfig config = machine_of(machine);
  const auto known = measured_kernels(parent_of(folder));
  std::map<std::string, SceneKernel> kernels;
  const std::vector<json> alone = lines(folder / "slate_alone.jsonl");
  for (const PaperKernel& k : paper_kernels("slate"))
    for (const json& line : alone) {
      if (line.at("app") != k.app) continue;
      SceneKernel& own = kernels[k.name];
      own.kernel = kernel_named(known, k.app);
      own.kernel.name = k.name;
      own.kernel.grid_ctas = line.at("blocks").get<std::uint32_t>() * kTimes;
      own.ms = {kTimes * median(line.at("push_ms").get<Values>())};
      own.most = CtaCount(line.at("occupancy").get<std::uint32_t>());
    }
  std::vector<CorunMeasurement> coruns;
  for (const json& line : lines(folder / "slate_ranges.jsonl"))
    for (const json& s : line.at("splits"))
      coruns.push_back({line.at("first"), line.at("second"), {s.at("first_sms"), s.at("first"), s.at("second")}});
  const auto of_systemc = model_runs(folder);
  std::vector<BesideScene> scenes;
  for (const MeasuredScene& m : measured_scenes(folder / "slate_pairs.jsonl", "pair", {"slate_measured"})) {
    BesideScene s = beside_scene(m);
    Scene scene{m.scheduler, config, {}, {}, coruns};
    scene.told_ms = kTimes * kEqualLength;
    add_jobs(scene, m.lines.front(), [&](const std::string& name) { return kernels.at(kernel_of(name)); });
    s.most = most_of(scene);
    s.runs.emplace_back(replay(scene));
    s.runs.push_back(of_model(of_systemc, m));
    scenes.push_back(std::move(s));
  }
  return beside_figure({{"times alone and rates of ranges"}, {"SystemC model", false}}, scenes, config.num_sms);
}

Figure five_beside(const std::filesystem::path& folder, const json& machine) {
  if (!has_files(folder, machine, {"five_rates.jsonl"})) return {};
  const MachineConfig config = machine_of(machine);
  const CorunRates rates = read_corun_rates(folder / "five_rates.jsonl", "table2", sm_cycles(config));
  const CoRunTable table = task_rates(rates, parent_of(folder), config);
  const auto kernels = kernels_by_rates("table2", rates, measured_kernels(parent_of(folder)), config.num_sms);
  std::vector<BesideScene> scenes;
  std::size_t unknown = 0;
  for (const MeasuredScene& m :
       measured_scenes(folder / "five_pairs.jsonl", "scenario",
                       {"arrival", "piv", "dprr", "adaptive", "slate_measured", "kernelet_opt", "warped_slicer", "even"})) {
    BesideScene s = beside_scene(m);
    Scene scene{m.scheduler, config, {}, {}, rates.splits, table, {{}, rates.table}};
    scene.min_slice = kQueueSlice;
    add_jobs(scene, m.lines.front(), [&](const std::string& name) { return kernels.at(name); });
    s.most = most_of(scene);
    s.runs.push_back(replay_with_rates(scene, unknown));
    scenes.push_back(std::move(s));
  }
  Figure figure = beside_figure({{"rates of the pair"}}, scenes, config.num_sms);
  say_unknown(figure, unknown);
  return figure;
}

std::optional<KerneletScenes> kernelet_scenes(const std::filesystem::path& folder, const json& machine) {
  if (!has_files(folder, machine, {"kernelet_pairs.jsonl", "ncu.csv"})) return {};
  KerneletScenes k{machine_of(machine), {}, {}};
  const CorunRates rates = read_corun_rates(folder / "kernelet_pairs.jsonl", "kernelet", sm_cycles(k.machine));
  k.kernels = kernels_by_rates("kernelet", rates, measured_kernels(parent_of(folder)), k.machine.num_sms);
  std::vector<KernelDescriptor> in_order;
  for (const PaperKernel& p : paper_kernels("kernelet")) in_order.push_back(k.kernels.at(p.name).kernel);
  const MarkovPage page = read_markov(folder / "ncu.csv");
  k.tables = kernelet_tables(page, rates, "kernelet", in_order, k.machine, sm_cycles(k.machine));
  k.machine.sm.schedulers = page.machine.schedulers;
  return k;
}

Figure kernelet_beside(const KerneletScenes& known, const std::filesystem::path& folder) {
  std::vector<BesideScene> scenes;
  for (const MeasuredScene& m : measured_scenes(folder / "kernelet_queues.jsonl", "queue", {"kernelet", "kernelet_opt"})) {
    Scene scene{m.scheduler, known.machine, {}, {}, {}, known.tables.executed, known.tables};
    scene.min_slice = kQueueSlice;
    const auto kernel = [&](const std::string& job) { return known.kernels.at(job); };
    BesideScene s{m.scene, m.scheduler, {}, {}, {}};
    for (const json& line : m.lines)
      if (line.contains("jobs")) s.measured.push_back(measured_run(line));
    if (s.measured.empty()) continue;
    add_jobs(scene, *std::ranges::find_if(m.lines, [](const json& line) { return line.contains("jobs"); }), kernel);
    s.most = most_of(scene);
    s.runs.emplace_back(replay(scene));
    const auto with_end = [](SceneRun& run) { run.launches.push_back({"the whole queue", 0, run.end}); };
    std::ranges::for_each(s.measured, with_end);
    with_end(*s.runs.back());
    scenes.push_back(std::move(s));
  }
  return beside_figure({{"rates of the pair"}}, scenes, known.machine.num_sms);
}

Figure kernelet_prediction(const KerneletScenes& known) {
  Figure figure{
      "5", "Kernelet's model on pairs that were measured afterwards", "Most predictions within 20 % of the peak IPC.", {}, {},
      {}};
  const std::vector<figures::PairPoint> points = pair_points(known.tables, known.machine);
  Values off, profit, choice, best;
  std::map<std::string, std::pair<Values, Values>> by_pair;  // errors; measured STP, the choice's first
  for (const figures::PairPoint& p : points) {
    off.push_back(std::abs(p.predicted - p.measured));
    profit.push_back(std::abs(p.predicted_profit - p.measured_profit));
    auto& [errors, stp] = by_pair[p.first + "_" + p.second];
    errors.push_back(off.back());
    stp.push_back(1 / (1 - p.measured_profit));
    if (p.chosen) std::swap(stp.front(), stp.back());
  }
  const auto mean = [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); };
  report::Table table({"pair",
                       "ratios",
                       {"mean error, of peak", report::Notation::Share, 1},
                       {"largest", report::Notation::Share, 1},
                       {"STP of the choice", report::Notation::Number, 3},
                       {"of the best", report::Notation::Number, 3}});
  for (const auto& [pair, of] : by_pair) {
    choice.push_back(of.second.front());
    best.push_back(std::ranges::max(of.second));
    table.row({pair, static_cast<std::uint64_t>(of.first.size()), mean(of.first), std::ranges::max(of.first), choice.back(),
               best.back()});
  }
  const double error = mean(off),
               inside = static_cast<double>(std::ranges::count_if(off, [](double e) { return e <= 0.2; })) /
                        static_cast<double>(off.size()),
               chosen = geometric_mean(choice) / geometric_mean(best);
  figure.data = {{"points", off.size()},
                 {"mean_error", error},
                 {"within_20", inside},
                 {"profit_error", mean(profit)},
                 {"choice_over_best", chosen}};
  figure.measured = fmt::format(
      "{} ratios of {} pairs: mean error {:.1f} % of peak, {:.1f} % within 20 %, profit off by {:.3f}; "
      "the chosen ratio has {:.3f} of the best one's STP.",
      off.size(), by_pair.size(), 100 * error, 100 * inside, mean(profit), chosen);
  report::LineChart chart{"IPC of an SM, as a part of its peak: every ratio of every pair", "measured", "predicted"};
  chart.diagonal = true;
  chart.x_notation = chart.y_notation = report::Notation::Share;
  report::LineChart::Line& line = chart.lines.emplace_back();
  line.series = {"ratio of CTAs", 4};
  line.joined = false;
  for (const figures::PairPoint& p : points) {
    line.points.emplace_back(p.measured, p.predicted);
    line.notes.push_back(fmt::format("{} and {}: {:.2f}, predicted {:.2f}", p.first, p.second, p.measured, p.predicted));
  }
  figure.blocks = {report::Large{chart}, report::Folded{"Pair by pair", table}};
  return figure;
}

}  // namespace sluice::gpu
