// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "study/sweep_run.h"
#include "sw/core/errors.h"
#include "sw/report/eval_tables.h"
#include "sw/report/summary.h"

namespace sluice {

using namespace report;

namespace {

/// Designs: a machine under a policy, its figures the means over seeds and mixes. Of those with all points, as means over others
/// would be of other mixes.
constexpr const char* kDesigns =
    "WITH every AS (SELECT machine, parameters, policy, avg(stp) AS stp, avg(antt) AS antt, avg(min_speedup) AS least, "
    "avg(normalized_ipc) AS ipc, avg(watts) AS watts, count(*) AS points, min(task) AS task, min(rowid) AS first FROM points "
    "WHERE sweep = ?1 AND state = 'done' GROUP BY machine, parameters, policy), "
    "designs AS (SELECT *, machine || ifnull((SELECT group_concat(', ' || key || ' ' || iif(type IN ('true', 'false'), type, "
    "value), '') FROM json_each(parameters)), '') AS label FROM every WHERE points = (SELECT max(points) FROM every)) ";
constexpr const char* kFigures = "SELECT label, policy, stp, antt, least, ipc, watts FROM ";
/// No other design has more throughput and turns around as fast.
constexpr const char* kFront =
    "(SELECT *, max(stp) OVER (ORDER BY antt, stp DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best FROM designs "
    "WHERE stp IS NOT NULL AND antt IS NOT NULL) WHERE best IS NULL OR stp > best ORDER BY antt";
/// Throughput and turnaround by a parameter's values, the mean over everything else.
constexpr const char* kCurve =
    "SELECT policy, iif(p.type IN ('true', 'false'), p.type, p.value) AS value, avg(stp), avg(antt) FROM designs, "
    "json_each(parameters) AS p WHERE p.key = ?2 GROUP BY policy, value ORDER BY value";
enum : std::size_t { kLabel, kPolicy, kStp, kAntt };

using Rows = std::vector<nlohmann::json>;

double number(const nlohmann::json& value) { return value.is_null() ? kNone : value.get<double>(); }
std::string word(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// In the order in which they come.
std::vector<std::string> policies_of(const Rows& designs) {
  std::vector<std::string> policies;
  for (const nlohmann::json& d : designs)
    if (std::ranges::find(policies, word(d[kPolicy])) == policies.end()) policies.push_back(word(d[kPolicy]));
  return policies;
}

LineChart pareto(const Rows& designs, const Rows& front) {
  LineChart chart{.title = "Throughput against turnaround: a point is a machine under a policy",
                  .x_label = "ANTT (less is better)",
                  .y_label = "STP (more is better)",
                  .from_zero = false};
  LineChart::Line best{{"Pareto front", 7}, {}};
  for (const nlohmann::json& d : front) best.points.emplace_back(number(d[kAntt]), number(d[kStp]));
  chart.lines.push_back(std::move(best));
  for (const std::string& policy : policies_of(designs)) {
    LineChart::Line line{{policy_label(policy), policy_colour(policy, chart.lines.size())}, {}, false};
    for (const nlohmann::json& d : designs) {
      if (d[kPolicy] != policy) continue;
      line.points.emplace_back(number(d[kAntt]), number(d[kStp]));
      line.notes.push_back(word(d[kLabel]));
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

/// @param points  of kCurve. @param figure  its column
Chart curve(const Rows& points, const std::vector<std::string>& policies, const std::string& title, const std::string& key,
            std::size_t figure) {
  const bool numbers = std::ranges::all_of(points, [](const nlohmann::json& p) { return p[1].is_number(); });
  LineChart lines{.title = title, .x_label = key, .from_zero = false};
  RowChart rows{.title = title};
  for (const nlohmann::json& p : points)
    if (rows.rows.empty() || rows.rows.back().label != word(p[1])) rows.rows.push_back({word(p[1]), {}});
  for (const std::string& policy : policies) {
    lines.lines.push_back({{policy_label(policy), policy_colour(policy, lines.lines.size())}, {}});
    rows.series.push_back(lines.lines.back().series);
    for (RowChart::Row& row : rows.rows) row.points.push_back({kNone});
    for (const nlohmann::json& p : points) {
      if (p[0] != policy) continue;
      if (numbers) lines.lines.back().points.emplace_back(p[1].get<double>(), number(p[figure]));
      std::ranges::find(rows.rows, word(p[1]), &RowChart::Row::label)->points.back().value = number(p[figure]);
    }
  }
  return numbers ? Chart(std::move(lines)) : Chart(std::move(rows));
}

Table table_of(const Rows& designs) {
  Table table({"machine", "policy", "STP", "ANTT", "least speed-up", Column("IPC over Left-Over", Notation::Gain, 1),
               Column("power, W", Notation::Number, 1)});
  for (const nlohmann::json& d : designs)
    table.row({word(d[kLabel]), policy_label(word(d[kPolicy])), number(d[kStp]), number(d[kAntt]), number(d[4]), number(d[5]),
               number(d[6])});
  return table;
}

}  // namespace

Page sweep_page(Database& database, std::string sweep) {
  if (sweep.empty()) {
    const auto last = database.query("SELECT sweep FROM points ORDER BY rowid DESC LIMIT 1").rows;
    if (!last.empty()) sweep = last[0][0];
  }
  const auto ask = [&](const std::string& sql, const nlohmann::json& more = {}) {
    nlohmann::json parameters = {sweep};
    if (!more.is_null()) parameters.push_back(more);
    return database.query(sql, parameters).rows;
  };
  const auto of_designs = [&](const std::string& sql, const nlohmann::json& more = {}) { return ask(kDesigns + sql, more); };
  const nlohmann::json counts = ask(
      "SELECT count(*), sum(state = 'failed'), count(DISTINCT machine || parameters), count(DISTINCT mix), count(DISTINCT seed) "
      "FROM points WHERE sweep = ?")[0];
  const Rows designs = of_designs(kFigures + std::string("designs ORDER BY task, first"));
  const Rows front = of_designs(kFigures + std::string(kFront));
  Page page;
  page.title =
      front.empty()
          ? fmt::format("{}: no point is finished", sweep)
          : fmt::format("{}: at most {:.2f} of throughput (STP), from {}; {} of {} designs on the Pareto front", sweep,
                        number(front.back()[kStp]), policy_label(word(front.back()[kPolicy])), front.size(), designs.size());
  page.lead = fmt::format("Points: {}; machines: {}; mixes: {}; seeds: {}. Figures are means over mixes and seeds.",
                          counts[0].dump(), counts[2].dump(), counts[3].dump(), counts[4].dump());
  page.opening = {Large{pareto(designs, front)}};
  page.sections = {{"front", "Machines and policies on the Pareto front", {table_of(front)}, "Pareto front"}};
  Multiples curves;
  for (const nlohmann::json& row :
       of_designs("SELECT key FROM designs, json_each(parameters) GROUP BY key HAVING count(DISTINCT value) > 1 ORDER BY key")) {
    const std::string key = row[0];
    const Rows points = of_designs(kCurve, key);
    for (const auto& [name, figure] : {std::pair("STP", 2), {"ANTT", 3}})
      curves.charts.push_back(curve(points, policies_of(designs), fmt::format("{} by {}", name, key), key, figure));
  }
  if (!curves.charts.empty())
    page.sections.push_back({"parameters", "Each parameter, the mean over all others", {curves}, "Parameters"});
  page.sections.push_back({"best",
                           "Highest throughput",
                           {table_of(of_designs(kFigures + std::string("designs ORDER BY stp DESC, task, first LIMIT 20")))},
                           "Best"});
  if (counts[1].is_number() && counts[1] != 0) {
    Table failures({"machine", "seed", "mix", "policy", words("error")});
    for (const nlohmann::json& row :
         ask("SELECT machine || ' ' || parameters, seed, mix, policy, error FROM points WHERE sweep = ? AND state = 'failed' "
             "ORDER BY task, rowid LIMIT 100"))
      failures.row({word(row[0]), word(row[1]), word(row[2]), word(row[3]), word(row[4])});
    page.sections.push_back({"failures", fmt::format("{} points failed", counts[1].dump()), {failures}, "Failures"});
  }
  page.provenance["sweep"] = sweep;
  return page;
}

}  // namespace sluice
