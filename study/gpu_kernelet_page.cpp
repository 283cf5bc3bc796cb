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

Figure slices(const std::filesystem::path& folder, std::vector<Requirement>& required) {
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
  required.push_back({"sliced outputs bit-identical", "all", same ? "all" : "NOT all", same, ""});
  if (!virtual_wave.empty())
    required.push_back({"slices of one wave by task limit, median of the kernels", "at most +2 %",
                        fmt::format("{:+.1f} %", 100 * median(virtual_wave)), median(virtual_wave) <= kCheap,
                        "a wave of short blocks is over before the host has moved the limit"});
  return figure;
}

/// Milliseconds until the last launch ended, by queue and system.
using QueueTimes = std::map<std::string, std::map<std::string, Values>>;

std::string over(double base, double other) { return fmt::format("{:+.1f} %", 100 * (base / other - 1)); }

Figure queues(const QueueTimes& times, std::vector<Requirement>& required) {
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
    required.push_back({"queue " + queue + ", over base", "at least +5 %", over(base, ours), base / ours >= 1.05,
                        "OPT itself gains " + over(base, opt)});
    required.push_back({"queue " + queue + ", from OPT", "at most 3 %", fmt::format("{:.1f} %", 100 * (ours / opt - 1)),
                        ours / opt <= 1.03, "the model's rates of pairs: OPT has the measured ones"});
  }
  if (!rows.empty())
    figure.html = figures::table({"queue", "one after the other, ms", "base, ms", "Kernelet, ms", "OPT, ms"}, rows);
  return figure;
}

Figure random_plans(const QueueTimes& times, std::vector<Requirement>& required) {
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
  required.push_back({fmt::format("random plans better than Kernelet, of {}", plans.size()), "0", fmt::format("{}", better(ours)),
                      better(ours) == 0, "the model's rates of pairs"});
  required.push_back({"random plans better than OPT", "0", fmt::format("{}", better(opt)), better(opt) == 0, ""});
  return figure;
}

/// How exact quotas were, and what deciding took.
void decision_costs(const std::filesystem::path& folder, std::vector<Requirement>& required) {
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
  required.push_back({"time of decisions, of the queue's", "at most 1 %", fmt::format("{:.2f} %", 100 * most), most <= 0.01, ""});
  required.push_back({"violations, Kernelet and OPT", "0", fmt::format("{}", violations), violations == 0, ""});
  required.push_back({"violations, random plans", "0", fmt::format("{}", random), random == 0,
                      "a CTA that has read the quota before it shrank may come after one that read it afterwards"});
}

}  // namespace

bool write_kernelet_page(const std::filesystem::path& folder, const json& machine) {
  std::vector<Requirement> required;
  QueueTimes times;
  for (const json& line : lines(folder / "kernelet_queues.jsonl"))
    times[line.at("queue")][line.at("system")].push_back(line.at("end_ms"));
  std::vector<Figure> figures = {queues(times, required), random_plans(times, required), kernelet_copies(folder, required),
                                 slices(folder, required)};
  decision_costs(folder, required);
  if (const std::optional<KerneletScenes> known = kernelet_scenes(folder, machine)) {
    figures.push_back(kernelet_prediction(*known, required));
    figures.push_back(kernelet_beside(*known, folder));
  }
  std::erase_if(figures, [](const Figure& f) { return f.html.empty(); });
  figures.insert(figures.begin(), requirements(required));
  write_page(folder, "Kernelet on " + machine.value("name", "a GPU"), figures, machine);
  print(required);
  return std::ranges::all_of(required, &Requirement::holds);
}

}  // namespace sluice::gpu
