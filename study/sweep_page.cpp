// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "study/sweep_run.h"
#include "sw/core/errors.h"
#include "sw/report/eval_tables.h"
#include "sw/report/summary.h"

namespace sluice {

using namespace report;

namespace {

/// A machine under a policy, its figures the means over seeds and mixes.
struct Design {
  std::string machine, policy;
  nlohmann::json parameters;
  double stp = 0, antt = 0, min_speedup = 0, normalized_ipc = 0, watts = 0;
  std::uint64_t points = 0;
};

double number(const nlohmann::json& value) { return value.is_null() ? kNone : value.get<double>(); }
std::string word(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string label(const Design& design) {
  std::string text = design.machine;
  for (const auto& [key, value] : design.parameters.items()) text += fmt::format(", {} {}", key, word(value));
  return text;
}

/// Those with all points; means over others would be of other mixes.
std::vector<Design> designs_of(Database& database, const std::string& sweep) {
  std::vector<Design> designs;
  std::uint64_t most = 0;
  const auto answer = database.query(
      "SELECT machine, policy, parameters, avg(stp), avg(antt), avg(min_speedup), avg(normalized_ipc), avg(watts), "
      "count(*) FROM points WHERE sweep = ? AND state = 'done' GROUP BY machine, parameters, policy ORDER BY min(task), "
      "min(rowid)",
      {sweep});
  for (const nlohmann::json& row : answer.rows) {
    designs.push_back({row[0], row[1], nlohmann::json::parse(row[2].get<std::string>()), number(row[3]), number(row[4]),
                       number(row[5]), number(row[6]), number(row[7]), row[8]});
    most = std::max(most, designs.back().points);
  }
  std::erase_if(designs, [&](const Design& d) { return d.points < most; });
  return designs;
}

/// No other has more throughput and turns around as fast.
std::vector<Design> front_of(std::vector<Design> designs) {
  std::ranges::stable_sort(designs, {}, [](const Design& d) { return std::pair(d.antt, -d.stp); });
  std::vector<Design> front;
  for (const Design& d : designs)
    if (front.empty() ? d.stp == d.stp : d.stp > front.back().stp) front.push_back(d);
  return front;
}

std::vector<std::string> policies_of(const std::vector<Design>& designs) {
  std::vector<std::string> policies;
  for (const Design& d : designs)
    if (std::ranges::find(policies, d.policy) == policies.end()) policies.push_back(d.policy);
  return policies;
}

LineChart pareto(const std::vector<Design>& designs, const std::vector<Design>& front) {
  LineChart chart{.title = "Throughput against turnaround: a point is a machine under a policy",
                  .x_label = "ANTT (less is better)",
                  .y_label = "STP (more is better)",
                  .from_zero = false};
  LineChart::Line best{{"Pareto front", 7}, {}};
  for (const Design& d : front) best.points.emplace_back(d.antt, d.stp);
  chart.lines.push_back(std::move(best));
  for (const std::string& policy : policies_of(designs)) {
    LineChart::Line line{{policy_label(policy), policy_colour(policy, chart.lines.size())}, {}, false};
    for (const Design& d : designs) {
      if (d.policy != policy) continue;
      line.points.emplace_back(d.antt, d.stp);
      line.notes.push_back(label(d));
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

/// A figure by the values of a parameter, the mean over everything else.
Chart curve(const std::vector<Design>& designs, const std::string& key, const char* name, double Design::*figure) {
  std::map<std::string, std::map<nlohmann::json, std::pair<double, double>>> means;  // policy, value: sum and count
  std::set<nlohmann::json> values;
  for (const Design& d : designs) {
    auto& [sum, count] = means[d.policy][d.parameters.at(key)];
    sum += d.*figure;
    ++count;
    values.insert(d.parameters.at(key));
  }
  const bool numbers = std::ranges::all_of(values, [](const nlohmann::json& v) { return v.is_number(); });
  LineChart lines{.title = fmt::format("{} by {}", name, key), .x_label = key, .from_zero = false};
  RowChart rows{.title = lines.title};
  for (const std::string& policy : policies_of(designs)) {
    lines.lines.push_back({{policy_label(policy), policy_colour(policy, lines.lines.size())}, {}});
    rows.series.push_back(lines.lines.back().series);
    if (!numbers) continue;
    for (const auto& [value, mean] : means[policy])
      lines.lines.back().points.emplace_back(value.get<double>(), mean.first / mean.second);
  }
  if (numbers) return lines;
  for (const nlohmann::json& value : values) {
    RowChart::Row& row = rows.rows.emplace_back(RowChart::Row{word(value), {}});
    for (const std::string& policy : policies_of(designs)) {
      const auto& [sum, count] = means[policy][value];
      row.points.push_back({count == 0 ? kNone : sum / count});
    }
  }
  return rows;
}

Table table_of(const std::vector<Design>& designs) {
  Table table({"machine", "policy", "STP", "ANTT", "least speed-up", Column("IPC over Left-Over", Notation::Gain, 1),
               Column("power, W", Notation::Number, 1)});
  for (const Design& d : designs)
    table.row({label(d), policy_label(d.policy), d.stp, d.antt, d.min_speedup, d.normalized_ipc, d.watts});
  return table;
}

}  // namespace

Page sweep_page(Database& database, std::string sweep) {
  if (sweep.empty()) {
    const auto last = database.query("SELECT sweep FROM points ORDER BY rowid DESC LIMIT 1").rows;
    if (!last.empty()) sweep = last[0][0];
  }
  const auto counts =
      database
          .query(
              "SELECT count(*), sum(state = 'failed'), count(DISTINCT machine || parameters), count(DISTINCT mix), "
              "count(DISTINCT seed) FROM points WHERE sweep = ?",
              {sweep})
          .rows[0];
  std::vector<Design> designs = designs_of(database, sweep);
  const std::vector<Design> front = front_of(designs);
  Page page;
  page.title = front.empty()
                   ? fmt::format("{}: no point is finished", sweep)
                   : fmt::format("{}: at most {:.2f} of throughput (STP), from {}; {} of {} designs on the Pareto front", sweep,
                                 front.back().stp, policy_label(front.back().policy), front.size(), designs.size());
  page.lead = fmt::format("Points: {}; machines: {}; mixes: {}; seeds: {}. Figures are means over mixes and seeds.",
                          counts[0].dump(), counts[2].dump(), counts[3].dump(), counts[4].dump());
  page.opening = {Large{pareto(designs, front)}};
  page.sections = {{"front", "Machines and policies on the Pareto front", {table_of(front)}, "Pareto front"}};
  Multiples curves;
  std::map<std::string, std::set<nlohmann::json>> parameters;
  for (const Design& d : designs)
    for (const auto& [key, value] : d.parameters.items()) parameters[key].insert(value);
  for (const auto& [key, values] : parameters) {
    if (values.size() < 2) continue;
    curves.charts.push_back(curve(designs, key, "STP", &Design::stp));
    curves.charts.push_back(curve(designs, key, "ANTT", &Design::antt));
  }
  if (!curves.charts.empty())
    page.sections.push_back({"parameters", "Each parameter, the mean over all others", {curves}, "Parameters"});
  std::ranges::stable_sort(designs, std::greater<>(), &Design::stp);
  designs.resize(std::min<std::size_t>(designs.size(), 20));
  page.sections.push_back({"best", "Highest throughput", {table_of(designs)}, "Best"});
  if (counts[1].is_number() && counts[1] != 0) {
    Table failures({"machine", "seed", "mix", "policy", words("error")});
    for (const nlohmann::json& row :
         database
             .query("SELECT machine || ' ' || parameters, seed, mix, policy, error FROM points WHERE sweep = ? AND "
                    "state = 'failed' ORDER BY task, rowid LIMIT 100",
                    {sweep})
             .rows)
      failures.row({row[0].get<std::string>(), row[1].dump(), row[2].get<std::string>(), row[3].get<std::string>(),
                    row[4].get<std::string>()});
    page.sections.push_back({"failures", fmt::format("{} points failed", counts[1].dump()), {failures}, "Failures"});
  }
  page.provenance["sweep"] = sweep;
  return page;
}

}  // namespace sluice
