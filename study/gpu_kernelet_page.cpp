// SPDX-License-Identifier: Apache-2.0
// Kernelet's slices and queues from what was measured on a GPU.
#include <fmt/format.h>

#include <algorithm>

#include "study/beside_scenes.h"
#include "study/gpu_lines.h"
#include "study/gpu_variants.h"

namespace sluice::gpu {

using figures::Figure;
using figures::TableRow;
using nlohmann::json;

namespace {

constexpr double kCheap = 0.02;  // the paper's bound for the shortest slice

Figure slices(const std::filesystem::path& folder, RunChecks& checks) {
  Figure figure{"slices", "Overhead of slices by their length", "The shortest slice is the one that costs at most 2 %.", {}, {},
                {}};
  std::vector<TableRow> rows;
  std::vector<unsigned> waves;
  bool same = true;
  Values one_wave, virtual_wave;
  for (const json& line : lines(folder / "kernelet_slices.jsonl")) {
    same = same && line.at("bit_identical").get<bool>();
    for (const int queued : {1, 2}) {
      TableRow row = {line.at("name"), fmt::format("{}", queued)}, limited_row = {line.at("name"), "task limit"};
      unsigned shortest = 0;
      waves.clear();
      for (const json& p : line.at("points")) {
        if (p.at("queued") != queued) continue;
        Values ratios;
        for (std::size_t r = 0; r < p.at("sliced_ms").size(); ++r)
          ratios.push_back(p.at("sliced_ms")[r].get<double>() / p.at("native_ms")[r].get<double>() - 1);
        const double overhead = median(ratios);
        waves.push_back(p.at("waves"));
        if (overhead <= kCheap && shortest == 0) shortest = waves.back();
        if (waves.back() == 1 && queued == 2) one_wave.push_back(overhead);
        if (p.contains("virtual_ms")) {
          const double limited = median(p.at("virtual_ms").get<Values>()) / median(p.at("native_ms").get<Values>()) - 1;
          if (waves.back() == 1) virtual_wave.push_back(limited);
          limited_row.push_back(fmt::format("{:+.1f} %", 100 * limited));
          figure.data[line.at("name").get<std::string>()]["task_limit"][fmt::format("{}", waves.back())] = limited;
        }
        row.push_back(fmt::format("{:+.1f} %", 100 * overhead));
        figure.data[line.at("name").get<std::string>()][queued == 1 ? "one_queued" : "two_queued"]
                   [fmt::format("{}", waves.back())] = overhead;
      }
      row.push_back(shortest == 0 ? "longer" : fmt::format("{}", shortest));
      rows.push_back(row);
      if (limited_row.size() > 2) {
        limited_row.emplace_back("");
        rows.push_back(limited_row);
      }
    }
  }
  if (rows.empty()) return figure;
  TableRow head = {"kernel", "queued"};
  for (const unsigned w : waves) head.push_back(fmt::format("{} waves", w));
  head.emplace_back("shortest with 2 %");
  figure.measured = fmt::format("Slices of one wave, two queued: {:+.1f} % in the middle. Outputs {}.", 100 * median(one_wave),
                                same ? "bit-identical" : "DIFFER");
  figure.html = figures::table(head, rows);
  if (!virtual_wave.empty()) figure.measured += fmt::format(" By task limit {:+.1f} %.", 100 * median(virtual_wave));
  checks.that("a sliced output differs", same);
  return figure;
}

/// Milliseconds until the last launch ended, by queue and system.
using QueueTimes = std::map<std::string, std::map<std::string, Values>>;

std::string over(double base, double other) { return fmt::format("{:+.1f} %", 100 * (base / other - 1)); }

Figure queues(const QueueTimes& times) {
  Figure figure{"6",
                "Time of a queue: base over the system's",
                "Kernelet over Base 5 to 31 % on a C2050, 7 to 23 % on a GTX 680; within 1 to 3 % and 4 to 15 % of OPT.",
                {},
                {},
                {}};
  std::vector<TableRow> rows;
  for (const auto& entry : times) {
    const std::string& queue = entry.first;
    const auto& systems = entry.second;
    if (queue == "mix_short" || !systems.contains("kernelet_opt")) continue;
    const auto of = [&](const char* system) { return median(systems.at(system)); };
    const double base = of("base"), ours = of("kernelet"), opt = of("kernelet_opt");
    rows.push_back({queue, fmt::format("{:.0f}", of("sequential")), fmt::format("{:.0f}", base),
                    fmt::format("{:.0f} ({})", ours, over(base, ours)), fmt::format("{:.0f} ({})", opt, over(base, opt))});
    figure.data[queue] = {{"sequential_ms", of("sequential")}, {"base_ms", base}, {"kernelet_ms", ours}, {"opt_ms", opt}};
    figure.measured += fmt::format("{}{} {}", figure.measured.empty() ? "Over base: " : ", ", queue, over(base, ours));
  }
  if (!rows.empty())
    figure.html = figures::table({"queue", "one after the other, ms", "base, ms", "Kernelet, ms", "OPT, ms"}, rows);
  return figure;
}

Figure random_plans(const QueueTimes& times) {
  Figure figure{"7", "Random plans on MIX, three launches of each kernel", "None of 1,000 is better than Kernelet.", {}, {}, {}};
  const auto found = times.find("mix_short");
  if (found == times.end() || !found->second.contains("monte_carlo")) return figure;
  const auto& systems = found->second;
  const Values& plans = systems.at("monte_carlo");
  const double ours = median(systems.at("kernelet")), opt = median(systems.at("kernelet_opt")), base = median(systems.at("base"));
  const auto better = [&](double than) { return std::ranges::count_if(plans, [&](double ms) { return ms < than; }); };
  figure.data = {{"plans", plans.size()},
                 {"better_than_kernelet", better(ours)},
                 {"better_than_opt", better(opt)},
                 {"best_ms", *std::ranges::min_element(plans)},
                 {"median_ms", median(plans)}};
  figure.measured = fmt::format("{} of {} plans are better than Kernelet ({:.1f} ms), {} than OPT ({:.1f} ms).", better(ours),
                                plans.size(), ours, better(opt), opt);
  figure.html = figures::table(
      {"plan", "ms", "over base"},
      {{"base", fmt::format("{:.1f}", base), ""},
       {"Kernelet", fmt::format("{:.1f}", ours), over(base, ours)},
       {"OPT", fmt::format("{:.1f}", opt), over(base, opt)},
       {"best of the random", fmt::format("{:.1f}", figure.data["best_ms"].get<double>()), over(base, figure.data["best_ms"])},
       {"median of the random", fmt::format("{:.1f}", median(plans)), over(base, median(plans))}});
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

bool write_kernelet_page(const std::filesystem::path& folder, const json& machine) {
  RunChecks checks;
  QueueTimes times;
  for (const json& line : lines(folder / "kernelet_queues.jsonl"))
    times[line.at("queue")][line.at("system")].push_back(line.at("end_ms"));
  std::vector<Figure> figures = {queues(times), random_plans(times), kernelet_copies(folder, checks),
                                 slices(folder, checks)};
  decision_costs(folder, figures.front(), checks);
  if (const std::optional<KerneletScenes> known = kernelet_scenes(folder, machine)) {
    figures.push_back(kernelet_prediction(*known));
    figures.push_back(kernelet_beside(*known, folder));
  }
  std::erase_if(figures, [](const Figure& f) { return f.html.empty(); });
  write_page(folder, "Kernelet on " + machine.value("name", "a GPU"), figures, machine);
  checks.print();
  return checks.right();
}

}  // namespace sluice::gpu
