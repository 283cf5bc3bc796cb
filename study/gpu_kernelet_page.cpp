// SPDX-License-Identifier: Apache-2.0
// Kernelet's queues from what was measured on a GPU, and its model on the pairs that were measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "study/gpu_lines.h"
#include "study/paper_studies.h"
#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/gpu/apps/app_sizes.h"
#include "sw/gpu/apps/ncu_page.h"
#include "sw/gpu/report/sections.h"
#include "sw/io/packed_file.h"
#include "sw/io/raw_store.h"

namespace sluice::gpu {

using figures::Figure;
using nlohmann::json;

namespace {

/// Of machine.json.
MachineConfig machine_of(const json& machine) {
  MachineConfig m;
  m.name = machine.at("name");
  m.num_sms = machine.at("sms");
  m.core_mhz = machine.at("core_mhz");
  const json& sm = machine.at("sm");
  m.sm.capacity = {sm.at("threads"), sm.at("registers"), sm.at("shared_memory_bytes"), sm.at("cta_slots")};
  return m;
}

/// What Kernelet decides by, and what OPT does: of the model, and as it was measured of kernels with grids of equal length.
/// @param kernels    of paper_kernels("kernelet"), in its order and under its names
/// @param sm_cycles  of all SMs together, a second
CoRunTables tables_of(const std::filesystem::path& folder, const MarkovPage& page, const std::vector<KernelDescriptor>& kernels,
                      const MachineConfig& machine, double sm_cycles) {
  constexpr double kStandsStill = 1e-6;  // blocks a second, where the SMs took no CTA
  CoRunTables t;
  const std::filesystem::path file = folder / "kernelet_pairs.jsonl";
  const std::vector<json> measured = RawStore::read(file);
  std::map<std::string, std::vector<double>> alone;  // blocks a second with 1, 2, ... CTAs on every SM
  for (const json& line : measured)
    if (line.contains("kernel")) alone[line["kernel"]] = line["blocks_per_second"].get<std::vector<double>>();
  std::vector<MarkovKernel> models;
  const std::vector<PaperKernel>& known = paper_kernels("kernelet");
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto found = page.apps.find(known[i].app);
    if (found == page.apps.end()) throw InputError(fmt::format("no launch of {} on the Nsight Compute page", known[i].app));
    if (!alone.contains(known[i].name)) throw InputError(fmt::format("{}: no rates of {}", file.string(), known[i].name));
    const auto& [counters, instructions] = found->second;
    std::vector<double> ipc;
    for (const double rate : alone[known[i].name]) ipc.push_back(rate * instructions / sm_cycles);
    models.push_back(calibrated_kernel(
        counters, {kernels[i].warps_per_cta(), static_cast<unsigned>(ipc.size()), ipc.front(), ipc.back()}, page.machine));
    t.executed.kernels[known[i].name] = {ipc.back(), instructions, std::min(1.0, ipc.back() / page.machine.schedulers),
                                         counters.dram_utilisation};
  }
  for (const json& line : measured) {
    if (!line.contains("runs")) continue;
    const bool in_order = line["first"] < line["second"];  // the table has the lesser name first
    const std::array<std::size_t, 2> at = {in_order ? 0U : 1U, in_order ? 1U : 0U};
    const std::array<std::string, 2> names = {line[in_order ? "first" : "second"], line[in_order ? "second" : "first"]};
    std::vector<CoRun>& runs = t.executed.pairs[{names[0], names[1]}];
    for (const json& r : line["runs"]) {
      CoRun& run = runs.emplace_back();
      for (std::size_t i = 0; i < 2; ++i) {
        run.ctas[i] = CtaCount(r["ctas"][at[i]].get<std::uint32_t>());
        run.ipc[i] = std::max(kStandsStill, r["blocks_per_second"][at[i]].get<double>()) / sm_cycles *
                     t.executed.kernels.at(names[i]).instructions_per_block;
      }
    }
  }
  t.predicted = predicted_co_runs(kernels, models, t.executed.kernels, machine);
  return t;
}

/// Predicted and measured rates of every ratio of every pair.
std::vector<figures::PairPoint> points_of(const std::filesystem::path& folder, MachineConfig machine) {
  const double sm_cycles = machine.num_sms * machine.core_mhz * 1e6;  // a second, of all SMs together
  const auto known = measured_kernels((folder / "..").lexically_normal());
  std::vector<KernelDescriptor> kernels;
  for (const PaperKernel& k : paper_kernels("kernelet")) {
    const auto found = known.find(k.app);
    if (found == known.end()) throw InputError(fmt::format("overhead.jsonl, papers/overhead.jsonl: nothing of {}", k.app));
    kernels.push_back(found->second);
    kernels.back().name = k.name;
  }
  const MarkovPage page = read_markov(folder / "ncu.csv");
  machine.sm.schedulers = page.machine.schedulers;
  return pair_points(tables_of(folder, page, kernels, machine, sm_cycles), machine);
}

std::string over(double base, double other) { return report::written(base / other, report::Notation::Gain, 1); }

/// Milliseconds until the last launch ended, by queue and system.
using QueueTimes = std::map<std::string, std::map<std::string, Values>>;

Figure queues(const QueueTimes& times, report::RowChart& chart) {
  Figure figure{"6", "Time of a queue: base over the system's",
                "Kernelet over Base 5 to 31 % on a C2050, 7 to 23 % on a GTX 680; within 1 to 3 % and 4 to 15 % of OPT."};
  report::Table table({"queue",
                       {"one after the other, ms", report::Notation::Number, 1},
                       {"base, ms", report::Notation::Number, 1},
                       {"Kernelet, ms", report::Notation::Number, 1},
                       {"OPT, ms", report::Notation::Number, 1}});
  chart.series = {{"Kernelet", 4}, {"OPT", 1}, {"one after the other", 0}};
  for (const auto& entry : times) {
    const std::string& queue = entry.first;
    const auto& systems = entry.second;
    if (queue == "mix_short" || !systems.contains("kernelet_opt")) continue;
    const auto of = [&](const char* system) { return median(systems.at(system)); };
    const double base = of("base"), ours = of("kernelet"), opt = of("kernelet_opt");
    chart.rows.push_back({queue, {{base / ours}, {base / opt}, {base / of("sequential")}}});
    table.row({queue, of("sequential"), base, ours, opt});
    figure.data[queue] = {{"sequential_ms", of("sequential")}, {"base_ms", base}, {"kernelet_ms", ours}, {"opt_ms", opt}};
    figure.measured += fmt::format("{}{} {}", figure.measured.empty() ? "Over base: " : ", ", queue, over(base, ours));
  }
  if (!table.empty()) figure.blocks = {table};
  return figure;
}

Figure random_plans(const QueueTimes& times) {
  Figure figure{"7", "Random plans of the queue MIX, three launches of each kernel",
                "Of 1,000 plans none is better than Kernelet."};
  const auto found = times.find("mix_short");
  if (found == times.end() || !found->second.contains("monte_carlo")) return figure;
  const auto& systems = found->second;
  Values plans = systems.at("monte_carlo");
  const double ours = median(systems.at("kernelet")), opt = median(systems.at("kernelet_opt")), base = median(systems.at("base"));
  const auto better = [&](double than) { return std::ranges::count_if(plans, [&](double ms) { return ms < than; }); };
  figure.data = {{"plans", plans.size()},
                 {"better_than_kernelet", better(ours)},
                 {"better_than_opt", better(opt)},
                 {"best_ms", *std::ranges::min_element(plans)},
                 {"median_ms", median(plans)}};
  figure.measured = fmt::format("{} of {} plans are better than Kernelet ({:.1f} ms), {} than OPT ({:.1f} ms).", better(ours),
                                plans.size(), ours, better(opt), opt);
  report::LineChart chart{"", "milliseconds until the queue is done", "part of the plans that are done"};
  chart.y_notation = report::Notation::Share;
  chart.marks = {{"Kernelet", ours}, {"OPT", opt}, {"Base", base}};
  std::ranges::sort(plans);
  report::LineChart::Line& line = chart.lines.emplace_back();
  line.series = {"random plans", 0};
  for (std::size_t i = 0; i < plans.size(); ++i)
    line.points.emplace_back(plans[i], static_cast<double>(i + 1) / static_cast<double>(plans.size()));
  figure.blocks = {report::Large{chart}};
  return figure;
}

/// How exact quotas were, and what deciding took.
void decision_costs(const std::filesystem::path& folder, Figure& figure, RunChecks& checks) {
  std::uint64_t violations = 0, random = 0;
  double most = 0;
  bool any = false;
  for (const json& line : lines(folder / "kernelet_queues.jsonl")) {
    if (!line.contains("decide_ms")) continue;
    any = true;
    (line.at("system") == "monte_carlo" ? random : violations) += line.at("violations").get<std::uint64_t>();
    most = std::max(most, line.at("decide_ms").get<double>() / line.at("end_ms").get<double>());
  }
  if (!any) return;
  checks.that(fmt::format("{} violations under Kernelet and OPT", violations), violations == 0);
  checks.that(fmt::format("{} violations under random plans", random), random == 0);
  figure.measured += fmt::format(". Decisions take {:.2f} % of a queue's time at most.", 100 * most);
}

}  // namespace

std::map<std::string, KernelDescriptor> measured_kernels(const std::filesystem::path& results) {
  constexpr std::uint32_t kRegisterUnit = 256, kSharedUnit = 128, kReserved = 1024;  // of a warp; of a CTA; the driver's
  const auto round_up = [](std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit * unit; };
  std::map<std::string, KernelDescriptor> all;
  // The latest last: later runtimes let threads have other numbers of registers. `registers.jsonl` has those of the runtime that
  // Kernelet's pairs were measured with.
  for (const char* file : {"papers/overhead.jsonl", "runtime/overhead.jsonl", "kernelet/registers.jsonl", "overhead.jsonl"})
    for (const json& line : lines(results / file)) {
      KernelDescriptor& k = all[line.at("app")];
      k.name = line.at("app");
      k.block_threads = make_app(k.name, full_size(k.name)).launch.block_threads();
      const std::uint32_t warps = k.warps_per_cta();
      const std::uint32_t registers = line.contains("persistent") ? line["persistent"].at("registers") : line.at("registers");
      k.registers_per_cta = warps * round_up(registers * kWarpSize, kRegisterUnit);
      if (!line.contains("persistent")) continue;
      // Less the 256 bytes that the runtime keeps behind a kernel's own: an SM of 228 KB has room for them everywhere.
      const std::uint32_t shared = line["persistent"].at("static_shared_bytes");
      k.shared_bytes_per_cta = round_up(shared, kSharedUnit) + kReserved;
    }
  return all;
}

Figure kernelet_prediction(const std::filesystem::path& folder, const json& machine) {
  if (!machine.contains("sm") || !has_packed(folder / "kernelet_pairs.jsonl") || !has_packed(folder / "ncu.csv")) return {};
  Figure figure{"5", "Kernelet's model on pairs that were measured afterwards", "Most predictions within 20 % of the peak IPC."};
  const std::vector<figures::PairPoint> points = points_of(folder, machine_of(machine));
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

bool write_kernelet_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  QueueTimes times;
  for (const json& line : lines(folder / "kernelet_queues.jsonl"))
    times[line.at("queue")][line.at("system")].push_back(line.at("end_ms"));
  report::RowChart opening = gains("Base's time over the system's, by queue");
  std::vector<Figure> figures = {queues(times, opening), random_plans(times)};
  decision_costs(folder, figures.front(), checks);
  std::string finding = "Kernelet's queues";
  if (!opening.rows.empty()) {
    const auto ours = [](const report::RowChart::Row& row) { return row.points[0].value; };
    const auto [least, most] = std::ranges::minmax(opening.rows, {}, ours);
    finding = fmt::format("Kernelet's pairs of slices run queues {} to {} faster than Base",
                          report::written(ours(least), report::Notation::Gain, 1),
                          report::written(ours(most), report::Notation::Gain, 1));
  }
  figures.push_back(kernelet_prediction(folder, machine));
  figures.push_back(model_beside_silicon(folder));
  return write_page(folder, finding, {report::Large{std::move(opening)}}, std::move(figures), machine, checks);
}

}  // namespace sluice::gpu
