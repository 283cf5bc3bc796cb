// SPDX-License-Identifier: Apache-2.0
#include "study/gpu_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sw/core/errors.h"
#include "sw/core/metrics.h"
#include "sw/gpu/apps/apps.h"
#include "sw/io/atomic_file.h"
#include "sw/io/packed_file.h"

namespace sluice::gpu {

using nlohmann::json;

ScenarioOutcomes read_outcomes(const std::filesystem::path& file, const char* scenario) {
  std::map<std::string, std::map<std::string, std::vector<json>>> runs;
  for (const json& line : lines(file))
    if (line.contains("system")) runs[line.at(scenario)][line.at("system")].push_back(line);
  ScenarioOutcomes all;
  for (const auto& [name, systems] : runs)
    for (const auto& [system, repetitions] : systems) {
      ScenarioOutcome& outcome = all[name][system];
      for (std::size_t k = 0; k < repetitions.front().at("jobs").size(); ++k) {
        const json& job = repetitions.front().at("jobs")[k];
        Values ended, evictions;
        for (const json& r : repetitions) {
          ended.push_back(r.at("jobs")[k]["ended_ms"]);
          evictions.push_back(r.at("jobs")[k].value("evictions", 0.0));
        }
        const double arrived = job.at("arrived_ms");
        outcome.launches.push_back(
            {job.at("name"), job.at("priority"), arrived, median(ended), median(ended) - arrived, median(evictions)});
      }
      for (const json& r : repetitions) {
        double first = INFINITY, last = 0;
        for (const json& job : r.at("jobs")) {
          first = std::min(first, job.at("arrived_ms").get<double>());
          last = std::max(last, job.at("ended_ms").get<double>());
        }
        outcome.makespans.push_back(last - first);
        outcome.violations += r.value("violations", std::uint64_t{0});
        outcome.identical = outcome.identical && r.value("bit_identical", true);
      }
    }
  return all;
}

double antt(const ScenarioOutcome& outcome, const std::map<std::string, double>& alone) {
  double sum = 0;
  for (const ScenarioOutcome::Launch& l : outcome.launches) sum += l.turnaround / alone.at(l.name);
  return sum / static_cast<double>(outcome.launches.size());
}
double stp(const ScenarioOutcome& outcome, const std::map<std::string, double>& alone) {
  double sum = 0;
  for (const ScenarioOutcome::Launch& l : outcome.launches) sum += alone.at(l.name) / l.turnaround;
  return sum;
}

void RunChecks::print() const {
  for (const std::string& what : wrong_) fmt::print("wrong: {}\n", what);
}

report::RowChart gains(std::string title, std::vector<report::Series> series) {
  report::RowChart chart{std::move(title), "", std::move(series)};
  chart.notation = report::Notation::Gain;
  chart.digits = 1;
  chart.baseline = 1;
  chart.sorted = true;
  return chart;
}

report::RowChart times(std::string title, std::string x_label, std::vector<report::Series> series) {
  report::RowChart chart{std::move(title), std::move(x_label), std::move(series)};
  chart.digits = 1;
  chart.sorted = chart.log = true;
  return chart;
}

void add_mean(report::RowChart& chart, const std::string& label, double (*mean)(const Values&), const Values& published) {
  report::RowChart::Row row{label, {}, true};
  for (std::size_t s = 0; s < std::max<std::size_t>(chart.series.size(), 1); ++s) {
    Values values;
    for (const auto& r : chart.rows)
      if (!r.strong && s < r.points.size() && std::isfinite(r.points[s].value)) values.push_back(r.points[s].value);
    report::Point& p = row.points.emplace_back();
    if (!values.empty()) p.value = mean(values);
    if (s < published.size()) p.published = published[s];
  }
  chart.rows.push_back(std::move(row));
}

double arithmetic_mean(const Values& values) {
  return values.empty() ? NAN : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double geometric(const Values& ratios) { return geometric_mean(ratios); }

report::Timeline schedule(const json& line, std::string title) {
  report::Timeline chart{std::move(title), "milliseconds", {{"there, without the GPU", 0}, {"has it, or a share", 4}}};
  const json& jobs = line.at("jobs");
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return jobs[i].at("priority").get<int>(); });
  std::vector<std::size_t> row_of(jobs.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    const json& job = jobs[order[r]];
    row_of[order[r]] = r;
    const double arrived = job.at("arrived_ms"), ended = job.at("ended_ms");
    chart.rows.push_back(fmt::format("{} ({})", job.at("name").get<std::string>(), job.at("priority").get<int>()));
    chart.spans.push_back({r, arrived, ended, 0, 0.16, 0, ""});
    chart.end = std::max(chart.end, ended);
  }
  const json& decisions = line.at("decisions");
  for (std::size_t d = 0; d < decisions.size(); ++d) {
    const double from = decisions[d].at("at_us").get<double>() / 1e3,
                 until = d + 1 < decisions.size() ? decisions[d + 1].at("at_us").get<double>() / 1e3 : chart.end;
    double all = 0;
    for (const json& share : decisions[d].at("shares")) all += share[1].get<double>();
    for (const json& share : decisions[d].at("shares")) {
      const auto launch = share[0].get<std::size_t>();
      const double to = std::min(until, jobs[launch].at("ended_ms").get<double>());
      const double height = share[1].get<double>() / all;
      report::Timeline::Span& last =
          *std::find_if(chart.spans.rbegin(), chart.spans.rend(), [&](const auto& s) { return s.row == row_of[launch]; });
      if (to <= from) continue;
      if (last.series == 1 && last.end == from && last.height == height)
        last.end = to;
      else
        chart.spans.push_back({row_of[launch], from, to, 1, height, 0, ""});
    }
  }
  for (report::Timeline::Span& span : chart.spans) span.note = fmt::format("{:.2f} to {:.2f} ms", span.begin, span.end);
  return chart;
}

std::string name_in(const char* paper, const std::string& app) {
  const auto& all = paper_kernels(paper);
  const auto found = std::ranges::find(all, app, &PaperKernel::app);
  return found == all.end() ? app : found->name;
}

figures::Figure model_beside_silicon(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "figures.json";
  if (!std::filesystem::exists(file)) return {};
  const nlohmann::ordered_json page = nlohmann::ordered_json::parse(read_file(file));
  if (!page.at("figures").contains("beside")) return {};
  const nlohmann::ordered_json& kept = page["figures"]["beside"];
  figures::Figure figure{"beside", kept.at("title"), kept.at("published"), kept.at("measured"), kept.at("data"), {}};
  report::Table table({"model",
                       "scheduler",
                       "scenes",
                       "turnarounds near",
                       {"median error", report::Notation::Share, 1},
                       "runs in the same order",
                       {"equal steps", report::Notation::Share, 1},
                       {"equal shares, of the time", report::Notation::Share, 1}});
  const auto row = [&](const std::string& model, const std::string& scheduler, const nlohmann::ordered_json& s) {
    const auto number = [&](const char* key) { return s.value(key, report::kNone); };
    const auto of = [&](const char* part, const char* all) { return fmt::format("{} of {}", number(part), number(all)); };
    table.row({model, scheduler, s.at("scenes").get<std::uint64_t>(), of("near", "launches"), number("median_off"),
               number("runs") > 0 ? of("same_order", "runs") : "–",
               number("equal_steps") / std::max(number("steps"), number("model_steps")), number("equal_shares")});
  };
  for (const auto& [model, all] : figure.data.at("models").items()) {
    for (const auto& [scheduler, own] : figure.data.at("schedulers").items())
      if (own.contains(model)) row(model, scheduler, own[model]);
    row(model, "all", all);
  }
  figure.blocks = {table};
  return figure;
}

bool write_page(const std::filesystem::path& folder, const std::string& finding, std::vector<report::Block> opening,
                std::vector<figures::Figure> figures, const json& machine, const RunChecks& checks) {
  std::erase_if(figures, [](const figures::Figure& f) { return f.blocks.empty(); });
  const std::string gpu = machine.value("name", "A GPU");
  report::Page page{gpu + ": " + finding, "", std::move(opening), {}, provenance(machine)};
  for (const figures::Figure& f : figures) {
    const bool numbered = std::isdigit(static_cast<unsigned char>(f.id.front())) != 0;
    report::Section& section = page.sections.emplace_back();
    section.id = f.id;
    section.name = numbered ? "figure " + f.id : f.id;
    section.heading = numbered ? fmt::format("{} (figure {})", f.title, f.id) : f.title;
    section.blocks = {report::Said{{{"Published", f.published.starts_with("No") ? "" : f.published}, {gpu, f.measured}}}};
    section.blocks.insert(section.blocks.end(), f.blocks.begin(), f.blocks.end());
  }
  write_file_atomically(folder / "index.html", report::html(page));
  write_file_atomically(folder / "figures.json", figures::page_json(figures, page.provenance).dump(1) + "\n");
  fmt::print("{}\n", page.title);
  for (const figures::Figure& f : figures) fmt::print("{}: {}\n", f.id, f.measured);
  checks.print();
  return checks.right();
}

std::optional<bool> write_paper_page(const std::filesystem::path& folder) {
  constexpr std::pair<const char*, bool (*)(const std::filesystem::path&, const json&)> kPages[] = {
      {"effisha_schedules.jsonl", write_effisha_page},
      {"sim_pairs.jsonl", write_sim_page},
      {"slate_pairs.jsonl", write_slate_page},
      {"kernelet_queues.jsonl", write_kernelet_page},
      {"five_pairs.jsonl", write_five_page},
      {"five_service.jsonl", write_five_page},
      {"five_own.jsonl", write_five_page}};
  for (const auto& [file, write] : kPages) {
    if (!has_packed(folder / file)) continue;
    const std::filesystem::path machine = folder / "machine.json";
    try {
      return write(folder, std::filesystem::exists(machine) ? json::parse(read_file(machine)) : json::object());
    } catch (const json::exception& e) {
      throw InputError(fmt::format("{}: a measurement lacks a field or has one of another type: {}", folder.string(), e.what()));
    }
  }
  return std::nullopt;
}

}  // namespace sluice::gpu
